"""What else is on the wire: name service, time, discovery by multicast, monitoring, a management VLAN, IPv6."""

import struct

from pratique_local.sample import dns, tls
from pratique_local.sample.frames import ICMP, ICMP6, UDP, Endpoint, datagram, icmp, icmp6, ipv4, send_datagram
from pratique_local.sample.lab import Lab
from pratique_local.sample.tcp import Connection
from pratique_local.sample.topology import (
    DASHBOARD_IP,
    DNS_IP,
    FUNCTIONS,
    LONE_VIEWER,
    MONITOR_IP,
    NTP_IP,
    RIC,
    SITES,
    SMO_IP,
    STATIONS,
    SYSLOG_IP,
    VIEWERS,
    WORKSTATIONS,
    XAPP_IPS,
)
from pratique_local.sample.wire import START_US, Steps

_NTP_EPOCH = 2_208_988_800
_MDNS = Endpoint("224.0.0.251", dns.MULTICAST_PORT)
_MDNS6 = Endpoint("ff02::fb", dns.MULTICAST_PORT)
_SSDP = Endpoint("239.255.255.250", 1900)


def start(lab: Lab) -> None:
    """Start everything that is neither radio, core nor charging."""
    for number, site in enumerate(SITES):
        lab.wire.start(_keep_time(lab, site.ip), after=1 + 2.3 * number)
    for number, ip in enumerate(STATIONS):
        lab.wire.start(_prepare(lab, ip), after=2 + 3.7 * number)
    for number, endpoint in enumerate(FUNCTIONS.values()):
        lab.wire.start(_resolve(lab, endpoint.ip, f"nrf-{number}.lab.example"), after=0.5 + 0.2 * number)
    for number, ip in enumerate(WORKSTATIONS):
        lab.wire.start(_work(lab, ip, number), after=9 + 13.0 * number)
    for number, ip in enumerate((*VIEWERS, LONE_VIEWER)):
        lab.wire.start(_view(lab, ip), after=40 + 37.0 * number)
    lab.wire.start(_monitor(lab), after=25)
    lab.wire.start(_log(lab), after=33)
    lab.wire.start(_guide(lab), after=50)


def _resolve(lab: Lab, ip: str, name: str, address: str = FUNCTIONS["NRF"].ip) -> Steps:
    here, server = lab.client(ip), Endpoint(DNS_IP, dns.PORT)
    ident = lab.chance.getrandbits(16)
    send_datagram(lab.wire.carry, here, server, dns.query(ident, name))
    yield 0.004
    send_datagram(lab.wire.carry, server, here, dns.answer(ident, name, address))


def _timestamp(moment_us: int) -> bytes:
    seconds, rest = divmod(moment_us, 1_000_000)
    return struct.pack("!II", seconds + _NTP_EPOCH & 0xFFFFFFFF, (rest << 32) // 1_000_000)


def _ask_time(lab: Lab, ip: str) -> Steps:
    here, server = Endpoint(ip, 123), Endpoint(NTP_IP, 123)
    sent = _timestamp(lab.wire.now)
    head = struct.pack("!BBbbII", 0x23, 0, 6, -20, 0, 0)
    send_datagram(lab.wire.carry, here, server, head + bytes(28) + sent)
    yield 0.002
    head = struct.pack("!BBbbII4s", 0x24, 1, 6, -23, 0, 16, b"GPS\0")
    now = _timestamp(lab.wire.now)
    send_datagram(lab.wire.carry, server, here, head + _timestamp(START_US) + sent + now + now)


def _keep_time(lab: Lab, ip: str) -> Steps:
    for _ in range(6):
        yield from _ask_time(lab, ip)
        yield 96


def _prepare(lab: Lab, ip: str) -> Steps:
    lab.wire.resolve(ip, f"{ip.rpartition('.')[0]}.1")
    yield 0.1
    yield from _resolve(lab, ip, "csms.lab.example", "10.40.0.10")
    yield from _ask_time(lab, ip)


def _work(lab: Lab, ip: str, number: int) -> Steps:
    """A workstation: looks around the link, then administers something over SSH."""
    lab.wire.resolve(ip, MONITOR_IP)
    send_datagram(lab.wire.carry, Endpoint(ip, dns.MULTICAST_PORT), _MDNS, dns.browse("_ssh._tcp.local"))
    yield 0.2
    offered = dns.offer("_workstation._tcp.local", f"ws-{number}")
    send_datagram(lab.wire.carry, Endpoint(ip, dns.MULTICAST_PORT), _MDNS, offered)
    yield 2
    search = (
        'M-SEARCH * HTTP/1.1\r\nHOST: 239.255.255.250:1900\r\nMAN: "ssdp:discover"\r\nMX: 2\r\nST: ssdp:all\r\n\r\n'
    )
    send_datagram(lab.wire.carry, lab.client(ip), _SSDP, search.encode("ascii"))
    yield from _resolve(lab, ip, "amf.lab.example", FUNCTIONS["AMF"].ip)
    target = (*FUNCTIONS.values(), RIC)[number]
    shell = Connection(lab.wire, lab.client(ip), Endpoint(target.ip, 22))
    shell.open()
    shell.send(shell.client, b"SSH-2.0-OpenSSH_9.6\r\n")
    yield 0.01
    shell.send(shell.server, b"SSH-2.0-OpenSSH_9.2p1\r\n")
    for _ in range(3):
        yield 4
        # Sealed: an SSH packet shows its length only.
        shell.send(shell.client, lab.chance.randbytes(4 * lab.chance.randint(10, 30)))
        yield 0.05
        shell.send(shell.server, lab.chance.randbytes(4 * lab.chance.randint(20, 90)))
    shell.close()


def _view(lab: Lab, ip: str) -> Steps:
    """Somebody opens the lab's dashboard over IPv6."""
    group = "ff02::1:ff00:1"
    option = b"\x01\x01" + bytes.fromhex("020600000001")
    wanted = bytes.fromhex("20010db8005000000000000000000001")
    if ip != LONE_VIEWER:
        lab.wire.carry(ip, group, ICMP6, icmp6(ip, group, 135, bytes(4) + wanted + option))
        send_datagram(lab.wire.carry, Endpoint(ip, dns.MULTICAST_PORT), _MDNS6, dns.browse("_http._tcp.local"))
    yield 0.01
    page = Connection(lab.wire, lab.client(ip), Endpoint(DASHBOARD_IP, tls.PORT))
    page.open()
    page.send(page.client, tls.client_hello(lab.chance, "dashboard.lab.example"), acknowledged=False)
    yield 0.02
    page.send(page.server, tls.server_hello(lab.chance))
    for _ in range(3):
        yield 5
        page.send(page.client, tls.sealed(lab.chance, 160), acknowledged=False)
        yield 0.03
        page.send(page.server, tls.sealed(lab.chance, lab.chance.randint(300, 1200)))
    page.close()
    rest = struct.pack("!HH", 7, 1) + bytes(range(24))
    lab.wire.carry(ip, DASHBOARD_IP, ICMP6, icmp6(ip, DASHBOARD_IP, 128, rest))
    lab.wire.carry(DASHBOARD_IP, ip, ICMP6, icmp6(DASHBOARD_IP, ip, 129, rest))


def _monitor(lab: Lab) -> Steps:
    """The monitor pings what should be up, and knocks at a port where nobody listens."""
    targets = [*(site.ip for site in SITES), FUNCTIONS["AMF"].ip, FUNCTIONS["SMF"].ip, RIC.ip]
    for number in range(1, 4):
        for target in targets:
            rest = struct.pack("!HH", 0x50, number) + bytes(range(40))
            lab.wire.carry(MONITOR_IP, target, ICMP, icmp(8, 0, rest))
            yield 0.002
            lab.wire.carry(target, MONITOR_IP, ICMP, icmp(0, 0, rest))
        yield 120
    here, there = lab.client(MONITOR_IP), Endpoint(SMO_IP, 33434)
    knock = datagram(here, there, b"monitor")
    lab.wire.carry(MONITOR_IP, SMO_IP, UDP, knock)
    quoted = ipv4(MONITOR_IP, SMO_IP, UDP, knock, ident=1)
    lab.wire.carry(SMO_IP, MONITOR_IP, ICMP, icmp(3, 3, bytes(4) + quoted))
    Connection(lab.wire, lab.client(MONITOR_IP), Endpoint(SMO_IP, 830)).refuse()


def _log(lab: Lab) -> Steps:
    """Hosts log by datagram; one report is too long for one packet."""
    server = Endpoint(SYSLOG_IP, 514)
    for number, ip in enumerate((MONITOR_IP, *WORKSTATIONS[:3])):
        line = f"<134>Mar  3 09:0{number}:00 host{number} labd: link up"
        send_datagram(lab.wire.carry, Endpoint(ip, 514), server, line.encode("ascii"))
        yield 20
    report = "<134>Mar  3 09:09:00 monitor labd: inventory " + " ".join(f"port{number}=up" for number in range(210))
    send_datagram(lab.wire.carry, Endpoint(MONITOR_IP, 514), server, report.encode("ascii"))


def _guide(lab: Lab) -> Steps:
    """The SMO reads and sets A1 policies at the RIC; xApps do their own look-ups."""
    for number, ip in enumerate(XAPP_IPS):
        yield from _resolve(lab, ip, f"e2mgr-{number}.ric.example", RIC.ip)
    link = Connection(lab.wire, lab.client(SMO_IP), Endpoint(RIC.ip, 8080))
    link.open()
    for number in range(1, 5):
        host = f"Host: {RIC.ip}:8080\r\n\r\n"
        ask = f"GET /a1-p/policytypes/20008/policies/{number} HTTP/1.1\r\nAccept: application/json\r\n{host}"
        link.send(link.client, ask.encode("ascii"), acknowledged=False)
        yield 0.02
        body = _policy(number)
        head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        link.send(link.server, head.encode("ascii") + body)
        yield 90
    link.close()


def _policy(number: int) -> bytes:
    """Return a traffic-steering policy of the A1 interface."""
    return f'{{"policy_id":"{number}","threshold":{5 * number}}}'.encode("ascii")
