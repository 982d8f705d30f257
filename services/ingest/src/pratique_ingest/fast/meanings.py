"""Meanings: what a frame of the fast path carries as one number, by its transport, ports, first bytes and tunnel."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np

from pratique_ingest.capture.lanes import Places
from pratique_ingest.fast.rows import Flags
from pratique_ingest.protocols.findings import Findings, Sign
from pratique_ingest.protocols.services import (
    CORE_SIGNS,
    IP_PROTOCOLS,
    SERVED,
    SERVER_SIGNS,
    SHAPED,
    SPOKEN,
    Ports,
    Transport,
)

# Numbers of names; zero is none. A connection named by one of the first needs no look at its segments any more.
SETTLED = ("tls", "ssh")
# These name their connections for good too, but what their segments carry must be read.
STEADY = ("http2", "websocket", "diameter")
NAMES = ("", *SETTLED, *STEADY, *sorted({"gtp", *SPOKEN["tcp"], *SPOKEN["udp"]} - {*SETTLED, *STEADY}))
NUMBER = {name: number for number, name in enumerate(NAMES)}
SIGNS = (None, *dict.fromkeys((*SERVER_SIGNS.values(), *SERVED.values(), *CORE_SIGNS.values())))
# A meaning's number: the IP protocol in its lowest byte, then name, sign of the sender, of the receiver, and tunnel.
NAME, SENDER, RECEIVER, TUNNEL = 1 << 8, 1 << 16, 1 << 24, 1 << 32
NO_TUNNEL, UNDIRECTED, UPLINK, DOWNLINK = range(4)


DNS_SENDER = SIGNS.index(Sign.DNS_SERVER)
# Behind these on UDP is more than a name: the exact path reads it. GTP-U has a fast path of its own outside tunnels.
READ = (SHAPED | {"teredo", "vxlan", "geneve", "sip"}) - {"dns", "gtp-u"}


@dataclass(frozen=True, slots=True)
class Tables:
    """What the ports of one network say, each as a column over all port numbers."""

    tcp_name: Places
    udp_name: Places
    tcp_sender: Places
    udp_sender: Places
    sctp_sign: Places
    read: Flags
    gtpu: Flags
    dns: Flags
    ntp: Flags
    diameter: Flags


def _numbers(numbers: Mapping[int, int]) -> Places:
    table = np.zeros(65_536, dtype=np.int64)
    table[list(numbers)] = list(numbers.values())
    return table


def _flags(names: Mapping[int, str], *wanted: str) -> Flags:
    table = np.zeros(65_536, dtype=np.bool_)
    table[[port for port, name in names.items() if name in wanted]] = True
    return table


def _serving(ports: Ports, transport: Transport) -> Places:
    return _numbers({port: SIGNS.index(sign) for (kind, port), sign in ports.serving.items() if kind == transport})


def tables(ports: Ports) -> Tables:
    """Lay out the ports of a network."""
    return Tables(
        tcp_name=_numbers({port: NUMBER[name] for port, name in ports.tcp.items()}),
        udp_name=_numbers({port: NUMBER[name] for port, name in ports.udp.items()}),
        tcp_sender=_serving(ports, "tcp"),
        udp_sender=_serving(ports, "udp"),
        sctp_sign=_numbers(
            {port: SIGNS.index(CORE_SIGNS[name]) for port, name in ports.sctp.items() if name in CORE_SIGNS}
        ),
        read=_flags(ports.udp, *READ),
        gtpu=_flags(ports.udp, "gtp-u"),
        dns=_flags(ports.udp, "dns"),
        ntp=_flags(ports.udp, "ntp"),
        diameter=_flags(ports.tcp, "diameter"),
    )


@cache
def carried(meaning: int) -> Findings:
    """Return protocols and signs of a meaning. The cache holds some hundred: they are what the tables can name."""
    found = Findings()
    name, tunnel = NAMES[meaning // NAME % 256], meaning // TUNNEL
    sender, receiver = SIGNS[meaning // SENDER % 256], SIGNS[meaning // RECEIVER % 256]
    transport = IP_PROTOCOLS.get(meaning % 256)
    found.protocols |= {protocol for protocol in (transport, name, "gtp" if tunnel else None) if protocol}
    if sender is not None:
        found.sender.add(sender)
    if receiver is not None:
        found.receiver.add(receiver)
    if tunnel:
        found.signs(Sign.GTPU_PORT, Sign.GTPU_PORT)
    if tunnel == UPLINK:
        found.signs(Sign.GTPU_UPLINK, Sign.GTPU_DOWNLINK)
    elif tunnel == DOWNLINK:
        found.signs(Sign.GTPU_DOWNLINK, Sign.GTPU_UPLINK)
    return found


def subscriber(meaning: int, inner: tuple[bytes, bytes]) -> frozenset[bytes]:
    """Return which of the tunnelled source and destination is the UE's, if the direction says so."""
    tunnel = meaning // TUNNEL
    return frozenset(inner[:1] if tunnel == UPLINK else inner[1:] if tunnel == DOWNLINK else ())
