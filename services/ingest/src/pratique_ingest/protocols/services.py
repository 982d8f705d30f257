"""Well-known ports: which protocol a port number stands for when the payload does not speak for itself (IANA, 3GPP)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from pratique_ingest.protocols.findings import Sign

Transport = Literal["sctp", "udp", "tcp"]
# What an association speaks where the payload protocol identifier is zero or another's.
SCTP_PORTS = {
    3868: "diameter", 36412: "s1ap", 36421: "e2ap", 36422: "x2ap", 37464: "e2ap", 38412: "ngap", 38422: "xnap",
    38462: "e1ap", 38472: "f1ap",
}  # fmt: skip

TCP_PORTS = {
    20: "ftp", 21: "ftp", 22: "ssh", 23: "telnet", 25: "smtp", 53: "dns", 80: "http", 88: "kerberos", 102: "s7comm",
    110: "pop", 135: "dcerpc", 139: "netbios", 143: "imap", 179: "bgp", 389: "ldap", 443: "tls", 445: "smb",
    465: "tls", 502: "modbus", 587: "smtp", 636: "tls", 853: "tls", 993: "tls", 995: "tls", 1883: "mqtt",
    2404: "iec104", 2775: "smpp", 3306: "mysql", 3389: "rdp", 3868: "diameter", 5060: "sip", 5061: "tls",
    5432: "postgresql", 5672: "amqp", 5868: "tls", 6379: "redis", 8883: "tls", 9092: "kafka", 27017: "mongodb",
}  # fmt: skip
UDP_PORTS = {
    53: "dns", 67: "dhcp", 68: "dhcp", 69: "tftp", 88: "kerberos", 123: "ntp", 137: "netbios", 138: "netbios",
    161: "snmp", 162: "snmp", 319: "ptp", 320: "ptp", 443: "quic", 500: "ipsec", 514: "syslog", 520: "rip",
    546: "dhcpv6", 547: "dhcpv6", 1645: "radius", 1646: "radius", 1812: "radius", 1813: "radius", 1900: "ssdp",
    2123: "gtp-c", 2152: "gtp-u", 3386: "gtp-prime", 3478: "stun", 3544: "teredo", 3799: "radius", 4500: "ipsec",
    4789: "vxlan", 5060: "sip", 5353: "mdns", 5355: "llmnr", 5683: "coap", 6081: "geneve", 8805: "pfcp", 9899: "sctp",
}  # fmt: skip
# On these UDP ports the bytes must have the protocol's shape: the port alone gives no name. 9899 is RFC 6951, 5.1.
SHAPED = frozenset({"gtp-c", "gtp-prime", "gtp-u", "pfcp", "dns", "radius", "sctp", "ecpri"})
# What a plan of ports may name: what stands above, and what has no port of its own.
SPOKEN: dict[Transport, frozenset[str]] = {
    "sctp": frozenset(SCTP_PORTS.values()),
    "udp": frozenset({*UDP_PORTS.values(), "ecpri"}),
    "tcp": frozenset({*TCP_PORTS.values(), "sbi", "ocpp"}),
}
# A side whose port stands here is the server; the sign says what kind of one.
SERVER_SIGNS: dict[tuple[Transport, int], Sign] = {
    ("udp", 53): Sign.DNS_SERVER, ("tcp", 53): Sign.DNS_SERVER, ("udp", 67): Sign.DHCP_SERVER,
    ("udp", 123): Sign.NTP_SERVER, ("tcp", 3306): Sign.DATABASE, ("tcp", 5432): Sign.DATABASE,
    ("tcp", 27017): Sign.DATABASE, ("tcp", 6379): Sign.DATABASE, ("tcp", 1883): Sign.MQTT_BROKER,
    ("tcp", 8883): Sign.MQTT_BROKER, ("tcp", 502): Sign.MODBUS_DEVICE, ("tcp", 2404): Sign.IEC104_DEVICE,
    ("tcp", 102): Sign.S7_DEVICE, ("tcp", 22): Sign.SSH_SERVER, ("tcp", 80): Sign.WEB_SERVER,
    ("tcp", 443): Sign.WEB_SERVER, ("udp", 443): Sign.WEB_SERVER,
}  # fmt: skip
# The same for ports that a plan names; a protocol whose both sides use its port says nothing.
SERVED: dict[tuple[Transport, str], Sign] = {
    ("udp", "dns"): Sign.DNS_SERVER, ("tcp", "dns"): Sign.DNS_SERVER, ("udp", "ntp"): Sign.NTP_SERVER,
    ("tcp", "mysql"): Sign.DATABASE, ("tcp", "postgresql"): Sign.DATABASE, ("tcp", "mongodb"): Sign.DATABASE,
    ("tcp", "redis"): Sign.DATABASE, ("tcp", "mqtt"): Sign.MQTT_BROKER, ("tcp", "modbus"): Sign.MODBUS_DEVICE,
    ("tcp", "iec104"): Sign.IEC104_DEVICE, ("tcp", "s7comm"): Sign.S7_DEVICE, ("tcp", "ssh"): Sign.SSH_SERVER,
    ("tcp", "http"): Sign.WEB_SERVER, ("udp", "quic"): Sign.WEB_SERVER,
}  # fmt: skip
# Of an association, a port that only the core listens on.
CORE_SIGNS = {"ngap": Sign.NGAP_PORT, "s1ap": Sign.S1AP_PORT}
# From here on ports are registered, and some systems take them for their own ends of connections too (RFC 6335, 6);
# those of Linux and of RFC 6335 begin later.
REGISTERED, EPHEMERAL = 1024, 32_768
IP_PROTOCOLS = {
    1: "icmp", 2: "igmp", 4: "ipip", 6: "tcp", 17: "udp", 41: "6in4", 47: "gre", 50: "esp", 51: "ah", 58: "icmpv6",
    88: "eigrp", 89: "ospf", 103: "pim", 112: "vrrp", 115: "l2tp", 132: "sctp", 136: "udplite",
}  # fmt: skip


def answering(port: int, other: int) -> bool:
    """Whether of two TCP ports the first is the server's, where no handshake was seen: the other one must be of use."""
    return other >= REGISTERED and other > port if port < REGISTERED else other >= EPHEMERAL


@dataclass(frozen=True)
class Ports:
    """Which protocol each port stands for in one network, by transport; `serving` says whose side is a server."""

    sctp: Mapping[int, str]
    udp: Mapping[int, str]
    tcp: Mapping[int, str]
    serving: Mapping[tuple[Transport, int], Sign]

    def beside(self, named: Mapping[tuple[Transport, int], str]) -> "Ports":
        """Return these ports and the named ones, which win where both have one."""
        tables: dict[Transport, dict[int, str]] = {"sctp": {**self.sctp}, "udp": {**self.udp}, "tcp": {**self.tcp}}
        serving = {end: sign for end, sign in self.serving.items() if end not in named}
        for (transport, port), name in named.items():
            tables[transport][port] = name
            if (transport, name) in SERVED:
                serving[transport, port] = SERVED[transport, name]
        return Ports(tables["sctp"], tables["udp"], tables["tcp"], serving)


STANDARD = Ports(SCTP_PORTS, UDP_PORTS, TCP_PORTS, SERVER_SIGNS)
