"""What users do inside their tunnels: name look-ups, TLS, QUIC, pings, small telemetry."""

from pratique_local.sample import dns, quic, tls
from pratique_local.sample.frames import ICMP, Endpoint, icmp, send_datagram
from pratique_local.sample.gtpu import Tunnel
from pratique_local.sample.lab import Lab
from pratique_local.sample.tcp import Connection
from pratique_local.sample.topology import DNS_IP, UNSEEN_SERVER, WEB
from pratique_local.sample.wire import Steps

_NAMES = tuple(WEB)


def browse(lab: Lab, tunnel: Tunnel, taste: int) -> Steps:
    """Use the network for a while; `taste` decides what for."""
    name = _NAMES[taste % len(_NAMES)]
    yield from look_up(lab, tunnel, name)
    yield from secure_fetch(lab, tunnel, name)
    yield 1
    if taste % 2:
        yield from stream(lab, tunnel, UNSEEN_SERVER if taste % 3 else WEB["video.example"])
    else:
        yield from ping(tunnel)


def look_up(lab: Lab, tunnel: Tunnel, name: str) -> Steps:
    """Ask the lab's resolver for a web server."""
    here, resolver = Endpoint(tunnel.user, lab.client(tunnel.user).port), Endpoint(DNS_IP, dns.PORT)
    ident = lab.chance.getrandbits(16)
    send_datagram(tunnel.carry, here, resolver, dns.query(ident, name))
    yield 0.015
    send_datagram(tunnel.carry, resolver, here, dns.answer(ident, name, WEB[name]))
    yield 0.01


def secure_fetch(lab: Lab, tunnel: Tunnel, name: str) -> Steps:
    """Fetch something over TLS."""
    server = Endpoint(WEB[name], tls.PORT)
    connection = Connection(lab.wire, lab.client(tunnel.user), server, carry=tunnel.carry)
    connection.open()
    connection.send(connection.client, tls.client_hello(lab.chance, name), acknowledged=False)
    yield 0.02
    connection.send(connection.server, tls.server_hello(lab.chance))
    connection.send(connection.client, tls.sealed(lab.chance, lab.chance.randint(90, 400)), acknowledged=False)
    yield 0.03
    connection.send(connection.server, tls.sealed(lab.chance, lab.chance.randint(300, 1900)))
    yield 0.2
    connection.close()


def stream(lab: Lab, tunnel: Tunnel, server: str) -> Steps:
    """Try QUIC under a greased version, then go on under the one that the server names."""
    here, there = lab.client(tunnel.user), Endpoint(server, quic.PORT)
    ours, theirs = lab.chance.randbytes(8), lab.chance.randbytes(8)
    send_datagram(tunnel.carry, here, there, quic.initial(lab.chance, ours, theirs))
    yield 0.02
    send_datagram(tunnel.carry, there, here, quic.version_negotiation(theirs, ours))
    for _ in range(4):
        yield 0.03
        send_datagram(tunnel.carry, here, there, quic.protected(lab.chance, theirs, lab.chance.randint(30, 90)))
        yield 0.02
        send_datagram(tunnel.carry, there, here, quic.protected(lab.chance, ours, lab.chance.randint(200, 700)))


def ping(tunnel: Tunnel) -> Steps:
    """Ping a web server a few times."""
    server = WEB["maps.example"]
    for number in range(1, 5):
        rest = tunnel.access[1].to_bytes(4)[2:] + number.to_bytes(2) + bytes(range(32))
        tunnel.carry(tunnel.user, server, ICMP, icmp(8, 0, rest))
        yield 0.02
        tunnel.carry(server, tunnel.user, ICMP, icmp(0, 0, rest))
        yield 1
