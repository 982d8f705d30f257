"""The 4G corner: an SGW and a PGW with a few LTE subscribers."""

from pratique_local.sample import gtpc
from pratique_local.sample.browsing import look_up, secure_fetch
from pratique_local.sample.frames import Endpoint, send_datagram
from pratique_local.sample.gtpu import Tunnel
from pratique_local.sample.lab import Lab
from pratique_local.sample.topology import LTE_SUBSCRIBERS, PGW_IP, SGW_IP
from pratique_local.sample.wire import Steps

_SGW, _PGW = Endpoint(SGW_IP, gtpc.PORT), Endpoint(PGW_IP, gtpc.PORT)


def start(lab: Lab) -> None:
    """Start the LTE subscribers and the gateways' echoes."""
    lab.wire.start(_echoes(lab), after=3)
    for number in range(1, LTE_SUBSCRIBERS + 1):
        bearer = gtpc.Bearer(
            imsi=f"001010000009{number:03d}",
            msisdn=f"447700900{900 + number}",
            imeisv=f"00101701{200000 + 13 * number:06d}02",
            sgw=SGW_IP,
            pgw=PGW_IP,
            teid=0x4000 + 16 * number,
            address=f"10.46.0.{number + 1}",
        )
        lab.wire.start(_attach(lab, bearer, number), after=30 + 71.0 * number)


def _exchange(lab: Lab, request: bytes, response: bytes) -> Steps:
    send_datagram(lab.wire.carry, _SGW, _PGW, request)
    yield 0.006
    send_datagram(lab.wire.carry, _PGW, _SGW, response)
    yield 0.01


def _echoes(lab: Lab) -> Steps:
    for _ in range(8):
        sequence = lab.next("gtpc")
        yield from _exchange(lab, gtpc.echo(sequence, answer=False), gtpc.echo(sequence, answer=True))
        yield 60


def _attach(lab: Lab, bearer: gtpc.Bearer, number: int) -> Steps:
    sequence = lab.next("gtpc")
    yield from _exchange(lab, bearer.create(sequence), bearer.created(sequence))
    lab.ledger.saw("imsi", bearer.imsi)
    lab.ledger.saw("msisdn", bearer.msisdn)
    lab.ledger.saw("imei", bearer.imeisv)
    access, anchor = (bearer.sgw, bearer.teid + 1), (bearer.pgw, bearer.teid + 3)
    # The tap is not behind the PGW: these users are seen inside GTP-U only.
    tunnel = Tunnel(lab.wire, bearer.address, access, anchor, containers=False, mirrored=lambda _: False)
    yield from look_up(lab, tunnel, "mail.example")
    yield from secure_fetch(lab, tunnel, "mail.example")
    if number % 2:
        yield 20
        sequence = lab.next("gtpc")
        yield from _exchange(lab, bearer.delete(sequence), bearer.deleted(sequence))
