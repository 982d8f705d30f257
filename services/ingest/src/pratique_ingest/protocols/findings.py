"""Findings: what the decoders read in one frame, gathered before it is known to whom it belongs."""

import re
from dataclasses import dataclass, field
from enum import Enum, IntEnum, auto
from typing import Literal, NamedTuple

from pratique_ingest.protocols.ciphering import Association

Kind = Literal["imsi", "suci", "guti", "guti_4g", "s_tmsi", "msisdn", "imei"]
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

    @classmethod
    def of(cls, kind: int, differentiator: bytes) -> "Slice":
        """Return a slice as it is sent: all bits say that it has no differentiator (TS 23.003, 28.4.2)."""
        return cls(kind, None if differentiator == b"\xff\xff\xff" else differentiator.hex())


class End(NamedTuple):
    """One end of the tunnel of a PDU session: the packets that go there are the session's."""

    session: int
    at_ran: bool
    address: bytes
    teid: int
    slice: Slice | None


class Handover(Enum):
    """What a message says about a UE that comes to another gNB (TS 38.413, 8.4)."""

    SWITCH = auto()
    """It came by an agreement of the gNBs, which the new one tells: `source_id` is the core's number of the UE."""
    REQUEST = auto()
    """The core asks the new gNB to take it; that one has no number for it yet."""
    ACCEPTED = auto()
    ARRIVED = auto()


# These give the UE a number at the new gNB.
NUMBERED = frozenset({Handover.ACCEPTED, Handover.SWITCH})


class Context(NamedTuple):
    """What one NGAP message says about one UE: the RAN's number of it, who sends, and what becomes of the context.

    `core_id` is the core's number of the UE, `ends` are the tunnel ends that are named for its sessions, and `role` is
    what kind of UE it is, where an initial message says so.
    """

    ran_id: int | None
    from_ran: bool
    opens: bool
    closes: bool
    slice: Slice | None
    identities: frozenset[tuple[Kind, str]]
    core_id: int | None = None
    source_id: int | None = None
    handover: Handover | None = None
    ends: tuple[End, ...] = ()
    role: str | None = None

    def __repr__(self) -> str:
        return f"Context(identities={len(self.identities)})"


class LineStep(Enum):
    """What becomes of a PFCP session by a message."""

    OPENS = auto()
    GOES_ON = auto()
    CLOSES = auto()


class Rule(NamedTuple):
    """A rule of a PFCP session: for detection at the UPF's own end, or for forwarding to another node's.

    `access` says whether it is about the side of the gNBs, None where the message does not say it.
    """

    number: int
    access: bool | None
    ends: tuple[tuple[bytes, int], ...]
    forwards: bool


class Line(NamedTuple):
    """What one PFCP message says about one session: its number at the receiver, at the sender, and its rules."""

    step: LineStep
    receiver_id: int | None
    sender: tuple[bytes, int] | None
    imsi: str | None
    slice: Slice | None
    rules: tuple[Rule, ...]

    def __repr__(self) -> str:
        return f"Line({self.step.name})"


@dataclass(slots=True)
class Findings:
    """Protocols, identities and signs of one frame; signs belong to its sender or its receiver.

    `teid` is that of a user's packet in an outermost GTP-U tunnel. `messages` counts what was decoded of those that a
    frame may have many of, for the effort it is worth.
    """

    protocols: set[str] = field(default_factory=set)
    identities: set[tuple[Kind, str]] = field(default_factory=set, repr=False)
    sender: set[Sign] = field(default_factory=set)
    receiver: set[Sign] = field(default_factory=set)
    inner: set[bytes] = field(default_factory=set, repr=False)
    subscribers: set[bytes] = field(default_factory=set, repr=False)
    contexts: list[Context] = field(default_factory=list, repr=False)
    lines: list[Line] = field(default_factory=list, repr=False)
    teid: int | None = None
    troubles: list[str] = field(default_factory=list)
    association: Association | None = field(default=None, repr=False)
    messages: int = 0

    def identity(self, kind: Kind, value: str) -> None:
        """Keep an identifier, unless its length is impossible or it is empty (all zeros)."""
        shape = SHAPES.get(kind)
        if len(value) <= MAX_TEXT and (shape is None or shape.fullmatch(value)) and value.strip("0-"):
            self.identities.add((kind, value))

    def join(self, said: "Findings") -> None:
        """Add what a part of the frame says by itself."""
        self.protocols |= said.protocols
        self.identities |= said.identities
        self.sender |= said.sender
        self.receiver |= said.receiver

    def signs(self, sender: Sign, receiver: Sign) -> None:
        """Note what a message says about both of its ends."""
        self.sender.add(sender)
        self.receiver.add(receiver)
