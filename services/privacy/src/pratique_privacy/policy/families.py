"""Protocol families: the transport that a protocol rides on, or the discovery of services."""

from pratique_privacy.policy.cells import Scalar

SCTP, TCP, UDP, SERVICE_DISCOVERY, OTHER = "SCTP", "TCP", "UDP", "SERVICE_DISCOVERY", "OTHER"

# By the transport that a protocol's specification gives it, the first where there are several.
_NAMES = {
    # 3GPP TS 38.412, 36.412, 38.422, 36.422, 38.472, 37.482: application parts over SCTP, with NAS and RRC inside them;
    # O-RAN E2AP; TS 29.272: Diameter on S6a; RFC 4666, 3868, 4165: SIGTRAN.
    SCTP: "sctp ngap s1ap xnap x2ap f1ap e1ap w1ap e2ap e2sm m2ap m3ap nas nas-5gs nas-eps nr-rrc lte-rrc ranap sgsap "
    "sbcap lcsap diameter m3ua m2ua m2pa sua sccp tcap map bssap",
    # RFC 9293 and what runs on it; TS 29.500: the service-based interfaces on HTTP/2; OCPP 1.6 and 2.0.1 on WebSocket.
    TCP: "tcp http http1 http2 https sbi grpc tls ssl mqtt mqtts ocpp websocket ws wss amqp kafka ssh telnet ftp smtp "
    "smpp imap pop pop3 bgp ldap ldaps netconf restconf rdp smb dcerpc rtsp msrp mongodb mysql postgresql redis modbus "
    "opcua iec104 s7comm",
    # RFC 768 and what runs on it; TS 29.281, 29.274, 29.244: GTP and PFCP; RFC 9000: QUIC.
    UDP: "udp gtp gtp-u gtpu gtp-c gtpc gtpv1 gtpv2 pfcp quic http3 dns dhcp dhcpv6 bootp ntp ptp snmp syslog tftp "
    "coap coaps dtls radius kerberos netbios rip rtp rtcp srtp stun turn sip ike isakmp ipsec vxlan geneve wireguard "
    "l2tp teredo netflow ipfix",
    # RFC 6762 and 6763, UPnP, RFC 4795, RFC 1002, WS-Discovery, RFC 2608.
    SERVICE_DISCOVERY: "mdns dns-sd ssdp upnp llmnr nbns netbios-ns wsd ws-discovery slp",
}
FAMILY = {name: family for family, names in _NAMES.items() for name in names.split()}


# Above the families: what steers the network, apart from what rides on it. The share of signalling of a host tells
# what it is, so a profile that keeps it keeps its role.
SIGNALLING, TRAFFIC = "SIGNALLING", "TRAFFIC"
DOMAIN = {SCTP: SIGNALLING, TCP: TRAFFIC, UDP: TRAFFIC, SERVICE_DISCOVERY: TRAFFIC, OTHER: TRAFFIC}


def ancestors_of(name: str) -> tuple[str, str]:
    """Return family and domain of a protocol name: the taxonomy of protocol profiles."""
    family = FAMILY.get(name.casefold(), OTHER)
    return family, DOMAIN[family]


def family_of(value: Scalar) -> str | None:
    """Read a protocol name, in any case, as its family (Kekatos et al. 2026, §IV-C)."""
    return FAMILY.get(value.casefold(), OTHER) if isinstance(value, str) else None
