"""One subscriber's phone at one gNB: its place on the N2 interface."""

from pratique_local.sample import ngap
from pratique_local.sample.lab import Lab
from pratique_local.sample.sctp import Association
from pratique_local.sample.subscribers import Subscriber
from pratique_local.sample.topology import Site

RADIO_S = 0.012
"""What a turn over the air takes."""


class Phone:
    """A phone under the names that gNB and AMF gave it."""

    def __init__(self, lab: Lab, subscriber: Subscriber, site: Site) -> None:
        self.lab = lab
        self.subscriber = subscriber
        self.site = site
        self.pair = ngap.Pair(amf=0x1000 + 3 * subscriber.number, ran=lab.next(f"ran {site.ip}"))

    @property
    def n2(self) -> Association:
        """The association between the phone's gNB and the AMF."""
        return self.lab.n2[self.site.ip]

    @property
    def f1(self) -> Association | None:
        """The association between distributed and central unit, where the gNB is split."""
        return self.lab.f1[self.site.distributed] if self.site.distributed is not None else None

    def code(self) -> bytes:
        """Return a message authentication code; nobody in the capture holds its key."""
        return self.lab.chance.randbytes(4)

    def up(self, nas: bytes, *before: bytes) -> None:
        """Send NAS to the AMF, in one packet with NGAP messages that go before it."""
        self.from_gnb(*before, ngap.uplink(self.pair, self.site.cell, nas))

    def down(self, nas: bytes) -> None:
        """Send NAS to the phone."""
        self.from_amf(ngap.downlink(self.pair, nas))

    def from_gnb(self, *messages: bytes) -> None:
        """Send NGAP messages of the gNB about this phone."""
        self.n2.send(self.n2.client, *messages, stream=1)

    def from_amf(self, *messages: bytes) -> None:
        """Send NGAP messages of the AMF about this phone."""
        self.n2.send(self.n2.server, *messages, stream=1)
