"""Meanings: what a frame of the fast path carries as one number, by its transport, ports, first bytes and tunnel."""

from functools import cache

import numpy as np

from pratique_ingest.dissection import GENEVE, GTPC, GTPU, PFCP, PORT_SIGNS, SCTP_OVER_UDP, TEREDO, VXLAN
from pratique_ingest.protocols.findings import Findings, Sign
from pratique_ingest.protocols.services import IP_PROTOCOLS, SERVER_SIGNS, TCP_PORTS, UDP_PORTS

# Numbers of names; zero is none. A connection named by one of the first needs no look at its segments any more.
SETTLED = ("tls", "ssh")
# These name their connections for good too, but what their segments carry must be read.
STEADY = ("http2", "websocket", "diameter")
NAMES = ("", *SETTLED, *STEADY, *sorted({*TCP_PORTS.values(), *UDP_PORTS.values()} - {*SETTLED, *STEADY}))
NUMBER = {name: number for number, name in enumerate(NAMES)}
SIGNS = (None, *dict.fromkeys((*SERVER_SIGNS.values(), *PORT_SIGNS.values())))
# A meaning's number: the IP protocol in its lowest byte, then name, sign of the sender, of the receiver, and tunnel.
NAME, SENDER, RECEIVER, TUNNEL = 1 << 8, 1 << 16, 1 << 24, 1 << 32
NO_TUNNEL, UNDIRECTED, UPLINK, DOWNLINK = range(4)


def _by_port(numbers: dict[int, int]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    table = np.zeros(65_536, dtype=np.int64)
    table[list(numbers)] = list(numbers.values())
    return table


TCP_NAME = _by_port({port: NUMBER[name] for port, name in TCP_PORTS.items()})
UDP_NAME = _by_port({port: NUMBER[name] for port, name in UDP_PORTS.items()})
TCP_SENDER = _by_port({port: SIGNS.index(sign) for (kind, port), sign in SERVER_SIGNS.items() if kind == "tcp"})
UDP_SENDER = _by_port({port: SIGNS.index(sign) for (kind, port), sign in SERVER_SIGNS.items() if kind == "udp"})
SCTP_SIGN = _by_port({port: SIGNS.index(sign) for port, sign in PORT_SIGNS.items()})
DNS_SENDER = SIGNS.index(Sign.DNS_SERVER)
# Behind these UDP ports is more than a name: the exact path reads it. 2152 has a fast path of its own outside tunnels.
READ = _by_port(
    dict.fromkeys(
        (
            GTPC,
            PFCP,
            TEREDO,
            SCTP_OVER_UDP,
            VXLAN,
            GENEVE,
            *(port for port, name in UDP_PORTS.items() if name == "sip"),
        ),
        1,
    )
).astype(np.bool_)
READ_INSIDE = READ.copy()
READ_INSIDE[GTPU] = True


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
