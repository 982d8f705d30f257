"""Roles: which function of the network a host is, by one table of rules, each with its evidence."""

from collections.abc import Mapping
from ipaddress import IPv4Address, IPv6Address
from typing import NamedTuple

from pratique_ingest.protocols.findings import Sign

UNKNOWN, MULTICAST, BROADCAST = "unknown", "multicast", "broadcast"
# How far a rule can be trusted: a message that only one function sends, one that functions of 4G and 5G share, a named
# service, a server's port, a port that both sides use.
MESSAGE, SHARED, SERVICE, PORT, COMMON = 5, 4, 3, 2, 1

# Who is asked for the services of this many functions passes them on.
RELAYED = 4


class Rule(NamedTuple):
    """A sign, the role it stands for, how strong it is, and the sentence that a reader is shown."""

    sign: Sign
    role: str
    strength: int
    evidence: str


RULES = (
    Rule(Sign.NGAP_CORE, "AMF", MESSAGE, "the core's side of NGAP messages (TS 38.413)"),
    Rule(Sign.NGAP_RAN, "gNB", MESSAGE, "the RAN's side of NGAP messages (TS 38.413)"),
    Rule(Sign.E2AP_RIC, "Near-RT RIC", MESSAGE, "the RIC's side of E2AP messages (O-RAN E2AP)"),
    Rule(Sign.E2AP_NODE, "E2 node", MESSAGE, "the node's side of E2AP messages (O-RAN E2AP)"),
    Rule(Sign.F1AP_CENTRAL, "CU", MESSAGE, "the central unit's side of F1AP messages (TS 38.473)"),
    Rule(Sign.F1AP_DISTRIBUTED, "DU", MESSAGE, "the distributed unit's side of F1AP messages (TS 38.473)"),
    Rule(Sign.E1AP_CONTROL, "CU-CP", MESSAGE, "the control plane's side of E1AP messages (TS 37.483)"),
    Rule(Sign.E1AP_USER, "CU-UP", MESSAGE, "the user plane's side of E1AP messages (TS 37.483)"),
    Rule(Sign.S1AP_CORE, "MME", MESSAGE, "the core's side of S1AP messages (TS 36.413)"),
    Rule(Sign.S1AP_RAN, "eNB", MESSAGE, "the RAN's side of S1AP messages (TS 36.413)"),
    Rule(Sign.PFCP_CONTROL, "SMF", SHARED, "the control plane's side of PFCP messages (TS 29.244)"),
    Rule(Sign.PFCP_USER, "UPF", SHARED, "the user plane's side of PFCP messages (TS 29.244)"),
    Rule(Sign.S11_MME, "MME", MESSAGE, "the MME's F-TEID or side of GTPv2-C on S11 (TS 29.274)"),
    Rule(Sign.S11_SGW, "SGW", MESSAGE, "the SGW's side of GTPv2-C on S11 (TS 29.274)"),
    Rule(Sign.S5_SGW, "SGW", MESSAGE, "the SGW's side of GTPv2-C on S5/S8 (TS 29.274)"),
    Rule(Sign.S5_PGW, "PGW", MESSAGE, "the PGW's side of GTPv2-C on S5/S8 (TS 29.274)"),
    Rule(Sign.GTPV1_SGSN, "SGSN", MESSAGE, "the SGSN's side of GTPv1-C messages (TS 29.060)"),
    Rule(Sign.GTPV1_GGSN, "GGSN", MESSAGE, "the GGSN's side of GTPv1-C messages (TS 29.060)"),
    Rule(Sign.S6A_MME, "MME", MESSAGE, "the MME's side of Diameter S6a (TS 29.272)"),
    Rule(Sign.S6A_HSS, "HSS", MESSAGE, "the HSS's side of Diameter S6a or Cx (TS 29.272, 29.229)"),
    Rule(Sign.CX_CSCF, "CSCF", MESSAGE, "the CSCF's side of Diameter Cx or Rx (TS 29.229, 29.214)"),
    Rule(Sign.GX_PGW, "PGW", MESSAGE, "the gateway's side of Diameter Gx or Gy (TS 29.212, 32.299)"),
    Rule(Sign.GX_PCRF, "PCRF", MESSAGE, "the PCRF's side of Diameter Gx or Rx (TS 29.212, 29.214)"),
    Rule(Sign.GY_OCS, "OCS", MESSAGE, "the charging system's side of Diameter Gy (TS 32.299)"),
    Rule(Sign.OCPP_STATION, "charging station", MESSAGE, "the station's side of OCPP messages or of their WebSocket"),
    Rule(Sign.OCPP_SYSTEM, "CSMS", MESSAGE, "the central system's side of OCPP messages or of their WebSocket"),
    Rule(Sign.UE_ADDRESS, "UE", MESSAGE, "its address is a subscriber's (PFCP, GTP-C, RADIUS, a tunnel's direction)"),
    *(
        Rule(sign, sign.name[4:], SERVICE, f"is asked as {sign.name[4:]}, or names itself so, over SBI (TS 29.500)")
        for sign in Sign
        if sign.name.startswith("SBI_") and sign is not Sign.SBI_RELAY
    ),
    Rule(Sign.SBI_RELAY, "SCP", SERVICE, "is asked for the services of many functions: a proxy (TS 23.501, 6.2.19)"),
    Rule(Sign.A1_POLICY, "Near-RT RIC", SERVICE, "is asked for A1 policies over HTTP (O-RAN A1AP)"),
    Rule(Sign.GTPU_DOWNLINK, "UPF", SERVICE, "the core's side of PDU session frames over GTP-U (TS 38.415)"),
    Rule(Sign.GTPU_UPLINK, "gNB", SERVICE, "the RAN's side of PDU session frames over GTP-U (TS 38.415)"),
    Rule(Sign.XNAP, "gNB", SERVICE, "speaks XnAP, which two gNBs speak (TS 38.423)"),
    Rule(Sign.X2AP, "eNB", SERVICE, "speaks X2AP, which two base stations speak (TS 36.423)"),
    Rule(Sign.NGAP_PORT, "AMF", COMMON, "its SCTP port is that of NGAP (38412, or the plan's)"),
    Rule(Sign.S1AP_PORT, "MME", COMMON, "its SCTP port is that of S1AP (36412, or the plan's)"),
    Rule(Sign.DNS_SERVER, "DNS", PORT, "sent DNS answers from the port of DNS"),
    Rule(Sign.DHCP_SERVER, "DHCP", PORT, "sent from port 67 (DHCP server)"),
    Rule(Sign.NTP_SERVER, "NTP", PORT, "sent NTP as a server (RFC 5905)"),
    Rule(Sign.DATABASE, "database", PORT, "sent as a server from the port of a database"),
    Rule(Sign.MQTT_BROKER, "MQTT broker", PORT, "sent as a server from a port of MQTT"),
    Rule(Sign.MODBUS_DEVICE, "field device", PORT, "sent as a server from a port of Modbus"),
    Rule(Sign.IEC104_DEVICE, "field device", PORT, "sent as a server from a port of IEC 60870-5-104"),
    Rule(Sign.S7_DEVICE, "field device", PORT, "sent as a server from a port of S7"),
    Rule(Sign.GTPC_PORT, "core gateway", COMMON, "sent or received GTP-C, its side unknown"),
    Rule(Sign.PFCP_PORT, "SMF/UPF", COMMON, "sent or received PFCP, its side unknown"),
    Rule(Sign.GTPU_PORT, "user-plane node", COMMON, "sent or received GTP-U, its side unknown"),
    Rule(Sign.DIAMETER_NODE, "Diameter node", COMMON, "speaks Diameter, its side unknown (RFC 6733)"),
    Rule(Sign.SIP_NODE, "SIP node", COMMON, "speaks SIP, its side unknown (RFC 3261)"),
    Rule(Sign.WEB_SERVER, "web server", COMMON, "sent as a server from a port of the web"),
    Rule(Sign.SSH_SERVER, "SSH server", COMMON, "sent as a server from a port of SSH"),
)  # fmt: skip
RULE_OF: dict[Sign, tuple[int, Rule]] = {rule.sign: (position, rule) for position, rule in enumerate(RULES)}


def roles(
    address: IPv4Address | IPv6Address, signs: Mapping[Sign, int], sent: int, alone: bool = False
) -> tuple[tuple[str, ...], str]:
    """Return all roles of a host, best evidence first, and the evidence of the first.

    Order: strength of the rule, then frames that showed it, then place in the table. A common port says something only
    where nothing better does; an address of a group is nothing else. `alone` says that the host spoke with nobody but
    itself: a laboratory on one address, which passes nothing on.
    """
    if address.is_multicast:
        return (MULTICAST,), "a group address (RFC 5771, RFC 4291)"
    if str(address) == "255.255.255.255" or (Sign.BROADCAST_FRAME in signs and not sent):
        return (BROADCAST,), "everybody's address: frames to it are broadcast and it sends none"
    served = [count for sign, count in signs.items() if sign.name.startswith("SBI_")]
    if len(served) >= RELAYED and not alone:
        signs = {**signs, Sign.SBI_RELAY: sum(served)}
    found = [(RULE_OF[sign], count) for sign, count in signs.items() if sign in RULE_OF]
    found.sort(key=lambda one: (-one[0][1].strength, -one[1], one[0][0]))
    found = [one for one in found if one[0][1].strength > COMMON] or found
    if not found:
        return (UNKNOWN,), "no rule matched"
    (_, best), count = found[0]
    return tuple(dict.fromkeys(rule.role for (_, rule), _ in found)), f"{best.evidence}; {count} frames"
