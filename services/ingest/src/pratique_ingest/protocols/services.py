"""Well-known ports: which protocol a port number stands for when the payload does not speak for itself (IANA, 3GPP)."""

from pratique_ingest.protocols.findings import Sign

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
    546: "dhcpv6", 547: "dhcpv6", 1812: "radius", 1813: "radius", 1900: "ssdp", 2123: "gtp", 2152: "gtp", 3386: "gtp",
    3478: "stun", 3544: "teredo", 4500: "ipsec", 4789: "vxlan", 5060: "sip", 5353: "mdns", 5355: "llmnr",
    5683: "coap", 6081: "geneve", 8805: "pfcp",
}  # fmt: skip
# A side whose port stands here is the server; the sign says what kind of one.
SERVER_SIGNS: dict[tuple[str, int], Sign] = {
    ("udp", 53): Sign.DNS_SERVER, ("tcp", 53): Sign.DNS_SERVER, ("udp", 67): Sign.DHCP_SERVER,
    ("udp", 123): Sign.NTP_SERVER, ("tcp", 3306): Sign.DATABASE, ("tcp", 5432): Sign.DATABASE,
    ("tcp", 27017): Sign.DATABASE, ("tcp", 6379): Sign.DATABASE, ("tcp", 1883): Sign.MQTT_BROKER,
    ("tcp", 8883): Sign.MQTT_BROKER, ("tcp", 502): Sign.MODBUS_DEVICE, ("tcp", 2404): Sign.IEC104_DEVICE,
    ("tcp", 102): Sign.S7_DEVICE, ("tcp", 22): Sign.SSH_SERVER, ("tcp", 80): Sign.WEB_SERVER,
    ("tcp", 443): Sign.WEB_SERVER, ("udp", 443): Sign.WEB_SERVER,
}  # fmt: skip
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
