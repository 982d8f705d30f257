"""One subscriber's phone at one gNB: its place on the N2 interface."""

from pratique_local.sample import nas, ngap
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
        self.pair = ngap.Pair(amf=0x1000 + 3 * lab.next("amf"), ran=lab.next(f"ran {site.ip}"))
        self.tmsi = subscriber.tmsi
        self._name = ""

    @property
    def n2(self) -> Association:
        """The association between the phone's gNB and the AMF."""
        return self.lab.n2[self.site.ip]

    @property
    def f1(self) -> Association | None:
        """The association between distributed and central unit, where the gNB is split."""
        return self.lab.f1[self.site.distributed] if self.site.distributed is not None else None

    def said(self, name: str, *, permanent: bool = False) -> None:
        """Note under which name N2 and N4 have shown the subscriber: a permanent one stays."""
        if permanent or not self._name.isdecimal():
            self._name = name
            chosen = self.subscriber.slice
            role = "RedCap UE" if self.subscriber.reduced else "UE"
            self.lab.ledger.name(self, name, chosen.sst, chosen.sd, role)

    def move(self, site: Site) -> None:
        """Take the phone to another gNB, where it gets another number."""
        self.site = site
        self.pair = ngap.Pair(amf=self.pair.amf, ran=self.lab.next(f"ran {site.ip}"))

    def carried(self, first: int) -> None:
        """Note that the frame with this number was about the phone."""
        moment, frame = self.lab.wire.frames[first]
        self.lab.ledger.stayed(self, self.site.ip, moment, len(frame))

    def sealed(self, message: bytes) -> bytes:
        """Return a NAS message as it goes over N2: ciphered once there is a security context, if the phone's is."""
        if not self.subscriber.ciphered or message[1] not in nas.CIPHERED:
            return message
        # What AES in counter mode gives looks drawn at random; here it is. The first octet is no protocol's.
        hidden = self.lab.chance.randbytes(len(message) - nas.HEADER - 1)
        return message[: nas.HEADER] + b"\xc5" + hidden

    def readable(self) -> bool:
        """Whether NAS under the security context can be read."""
        return not self.subscriber.ciphered

    def code(self) -> bytes:
        """Return a message authentication code; nobody in the capture holds its key."""
        return self.lab.chance.randbytes(4)

    def up(self, message: bytes, *before: bytes) -> None:
        """Send NAS to the AMF, in one packet with NGAP messages that go before it."""
        self.from_gnb(*before, ngap.uplink(self.pair, self.site.cell, self.sealed(message)))

    def down(self, message: bytes) -> None:
        """Send NAS to the phone."""
        self.from_amf(ngap.downlink(self.pair, self.sealed(message)))

    def from_gnb(self, *messages: bytes) -> None:
        """Send NGAP messages of the gNB about this phone."""
        first = len(self.lab.wire.frames)
        self.n2.send(self.n2.client, *messages, stream=1)
        self.carried(first)

    def from_amf(self, *messages: bytes) -> None:
        """Send NGAP messages of the AMF about this phone."""
        first = len(self.lab.wire.frames)
        self.n2.send(self.n2.server, *messages, stream=1)
        self.carried(first)
