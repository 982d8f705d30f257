"""Findings: what the decoders read in one frame, gathered before it is known to whom it belongs."""

import re
from dataclasses import dataclass, field
from enum import IntEnum, auto
from typing import Literal, NamedTuple

Kind = Literal["imsi", "suci", "guti", "guti_4g", "msisdn", "imei"]
# TS 23.003, 2.2: MCC of three digits, MNC of two or three, MSIN; shorter ones are placeholders of laboratories.
IMSI = re.compile(r"[0-9]{13,15}")
# E.164 allows fifteen digits; a national number has no fewer than five.
MSISDN = re.compile(r"[0-9]{5,15}")
# TS 23.003, 6.2: IMEI without or with its check digit, IMEISV.
IMEI = re.compile(r"[0-9]{14,16}")
# The longest, a network access identifier, is 2,100 bytes (TS 23.003, 28.7.2); a text beyond is something else.
MAX_TEXT = 3000
SHAPES: dict[Kind, re.Pattern[str]] = {"imsi": IMSI, "msisdn": MSISDN, "imei": IMEI}


class Sign(IntEnum):
    """One way in which a frame shows what a host is; `roles` says which role and how strong.

    A number, because signs are counted with every frame and numbers are hashed without a call.
    """

    NGAP_RAN = auto()
    NGAP_CORE = auto()
    NGAP_PORT = auto()
    S1AP_RAN = auto()
    S1AP_CORE = auto()
    S1AP_PORT = auto()
    F1AP_CENTRAL = auto()
    F1AP_DISTRIBUTED = auto()
    E1AP_CONTROL = auto()
    E1AP_USER = auto()
    XNAP = auto()
    X2AP = auto()
    E2AP_NODE = auto()
    E2AP_RIC = auto()
    PFCP_CONTROL = auto()
    PFCP_USER = auto()
    PFCP_PORT = auto()
    GTPU_UPLINK = auto()
    GTPU_DOWNLINK = auto()
    GTPU_PORT = auto()
    S11_MME = auto()
    S11_SGW = auto()
    S5_SGW = auto()
    S5_PGW = auto()
    GTPV1_SGSN = auto()
    GTPV1_GGSN = auto()
    GTPC_PORT = auto()
    S6A_MME = auto()
    S6A_HSS = auto()
    GX_PGW = auto()
    GX_PCRF = auto()
    GY_OCS = auto()
    CX_CSCF = auto()
    DIAMETER_NODE = auto()
    SIP_NODE = auto()
    SBI_AMF = auto()
    SBI_SMF = auto()
    SBI_NRF = auto()
    SBI_AUSF = auto()
    SBI_UDM = auto()
    SBI_UDR = auto()
    SBI_PCF = auto()
    SBI_NSSF = auto()
    SBI_BSF = auto()
    SBI_NEF = auto()
    SBI_CHF = auto()
    SBI_SMSF = auto()
    SBI_LMF = auto()
    SBI_NWDAF = auto()
    SBI_SCP = auto()
    SBI_SEPP = auto()
    SBI_UPF = auto()
    SBI_RELAY = auto()
    A1_POLICY = auto()
    OCPP_STATION = auto()
    OCPP_SYSTEM = auto()
    DNS_SERVER = auto()
    DHCP_SERVER = auto()
    NTP_SERVER = auto()
    DATABASE = auto()
    MQTT_BROKER = auto()
    MODBUS_DEVICE = auto()
    IEC104_DEVICE = auto()
    S7_DEVICE = auto()
    WEB_SERVER = auto()
    SSH_SERVER = auto()
    BROADCAST_FRAME = auto()
    UE_ADDRESS = auto()


class Slice(NamedTuple):
    """A network slice: its type, and its differentiator as six hex digits (TS 23.003, 28.4)."""

    sst: int
    sd: str | None


class Context(NamedTuple):
    """What one NGAP message says about one UE: the RAN's number of it, who sends, and what becomes of the context."""

    ran_id: int
    from_ran: bool
    opens: bool
    closes: bool
    slice: Slice | None
    identities: frozenset[tuple[Kind, str]]

    def __repr__(self) -> str:
        return f"Context(identities={len(self.identities)})"


@dataclass(slots=True)
class Findings:
    """Protocols, identities and signs of one frame; signs belong to its sender or its receiver.

    `messages` counts what was decoded of those that a frame may have many of, for the effort it is worth.
    """

    protocols: set[str] = field(default_factory=set)
    identities: set[tuple[Kind, str]] = field(default_factory=set, repr=False)
    sender: set[Sign] = field(default_factory=set)
    receiver: set[Sign] = field(default_factory=set)
    inner: set[bytes] = field(default_factory=set, repr=False)
    subscribers: set[bytes] = field(default_factory=set, repr=False)
    contexts: list[Context] = field(default_factory=list, repr=False)
    troubles: list[str] = field(default_factory=list)
    messages: int = 0

    def identity(self, kind: Kind, value: str) -> None:
        """Keep an identifier, unless its length is impossible or it is empty (all zeros)."""
        shape = SHAPES.get(kind)
        if len(value) <= MAX_TEXT and (shape is None or shape.fullmatch(value)) and value.strip("0-"):
            self.identities.add((kind, value))

    def signs(self, sender: Sign, receiver: Sign) -> None:
        """Note what a message says about both of its ends."""
        self.sender.add(sender)
        self.receiver.add(receiver)
