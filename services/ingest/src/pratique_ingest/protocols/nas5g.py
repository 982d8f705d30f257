"""NAS of 5G (TS 24.501): the mobile identities in registration, service, identity and security messages."""

from collections.abc import Iterator

from pratique_ingest.protocols import naseps
from pratique_ingest.protocols.ciphering import UeContext
from pratique_ingest.protocols.digits import network, packed_digits
from pratique_ingest.protocols.findings import Findings
from pratique_ingest.protocols.suci import concealed, network_access

MOBILITY, SESSION = 0x7E, 0x2E
REGISTRATION_REQUEST, REGISTRATION_ACCEPT, DEREGISTRATION_BY_UE, SERVICE_REQUEST = 0x41, 0x42, 0x45, 0x4C
CONTROL_PLANE_SERVICE_REQUEST, CONFIGURATION_UPDATE, IDENTITY_RESPONSE = 0x4F, 0x54, 0x5C
SECURITY_MODE_COMMAND, SECURITY_MODE_COMPLETE, SECURITY_MODE_REJECT = 0x5D, 0x5E, 0x5F
MESSAGE_TYPES = frozenset(
    (*range(0x41, 0x49), 0x4C, 0x4D, 0x4E, 0x4F, *range(0x50, 0x53), *range(0x54, 0x61), 0x64, *range(0x65, 0x69))
)  # fmt: skip
# Messages within messages (containers, ciphered wrappers): a real one has two.
MAX_NESTING = 4
MAX_HEADER = 4  # security header types (TS 24.501, 9.3.1)
CIPHERED = (2, 4)
IDENTITY_IEI, PEI_IEI, CONTAINER_IEI, EPS_CONTAINER_IEI = 0x77, 0x78, 0x71, 0x70
# Which elements are identities or hold messages differs by message (TS 24.501, 8.2): 0x78 is the PEI in a security mode
# complete, but an EAP message in a registration accept and in a security mode command.
IDENTITIES = {
    REGISTRATION_REQUEST: frozenset({IDENTITY_IEI}),
    REGISTRATION_ACCEPT: frozenset({IDENTITY_IEI}),
    CONFIGURATION_UPDATE: frozenset({IDENTITY_IEI}),
    SECURITY_MODE_COMPLETE: frozenset({IDENTITY_IEI, PEI_IEI}),
}
CONTAINERS = frozenset(
    {REGISTRATION_REQUEST, SERVICE_REQUEST, CONTROL_PLANE_SERVICE_REQUEST, SECURITY_MODE_COMPLETE, DEREGISTRATION_BY_UE}
)
# Elements without a length field: last visited TAI, PDU session, local and universal time, 5GSM cause.
FIXED = {0x52: 7, 0x12: 2, 0x47: 2, 0x48: 8, 0x59: 2}
SUCI, GUTI, IMEI, S_TMSI, IMEISV = 1, 2, 3, 4, 5
NAI_FORMATS = frozenset({1, 2, 3})


def guti(data: bytes) -> str:
    """Return a 5G-GUTI as mcc-mnc-region-set-pointer-tmsi, the last four in hex (TS 23.003, 2.10)."""
    mcc, mnc = network(data)
    group = data[4] << 8 | data[5]
    return f"{mcc}-{mnc}-{data[3]:02x}-{s_tmsi(group, data[6:10])}"


def s_tmsi(group: int, tmsi: bytes) -> str:
    """Return a 5G-S-TMSI as set-pointer-tmsi in hex, the end of its GUTI (TS 23.003, 2.11)."""
    return f"{group >> 6:03x}-{group & 0x3F:02x}-{tmsi.hex()}"


def _suci(data: bytes, found: Findings) -> None:
    """Keep a SUCI: formats 1 to 3 are network access identifiers, those beyond are reserved."""
    form = data[0] >> 4 & 7
    if form in NAI_FORMATS:
        network_access(data[1:], found)
    if form or len(data) < 9:
        return
    mcc, mnc = network(data[1:4])
    scheme = data[6] & 15
    output = packed_digits(data[8:]) if scheme == 0 else data[8:].hex()
    concealed(mcc, mnc, packed_digits(data[4:6]), scheme, data[7], output, found)


def mobile_identity(data: bytes, found: Findings) -> None:
    """Keep a 5GS mobile identity (TS 24.501, 9.11.3.4)."""
    if not data:
        return
    kind = data[0] & 7
    if kind == SUCI:
        _suci(data, found)
    elif kind == GUTI and len(data) >= 11:
        value = guti(data[1:11])
        if data[1:11].strip(b"\0") and value.replace("-", "")[:5].isdecimal():
            found.identity("guti", value)
    elif kind == S_TMSI and len(data) >= 7:
        found.identity("s_tmsi", s_tmsi(data[1] << 8 | data[2], data[3:7]))
    elif kind in (IMEI, IMEISV):
        found.identity("imei", f"{data[0] >> 4:x}" + packed_digits(data[1:]))


def _long(data: bytes, at: int) -> tuple[bytes, int]:
    """Return a value behind a two-byte length, and the offset after it."""
    if at + 2 > len(data):
        return b"", len(data)
    end = at + 2 + (data[at] << 8 | data[at + 1])
    return data[at + 2 : end], end


def optional_elements(data: bytes, at: int) -> Iterator[tuple[int, bytes]]:
    """Yield the optional elements from `at` on, by the format that the identifier's bits give (TS 24.007, 11.2.4)."""
    while at < len(data):
        kind = data[at]
        if kind & 0x80:
            yield kind & 0xF0, data[at : at + 1]
            at += 1
        elif kind & 0xF0 == 0x70:
            value, end = _long(data, at + 1)
            yield kind, value
            at = end
        elif kind in FIXED:
            yield kind, data[at + 1 : at + FIXED[kind]]
            at += FIXED[kind]
        elif at + 1 < len(data):
            end = at + 2 + data[at + 1]
            yield kind, data[at + 2 : end]
            at = end
        else:
            return


def _optional(data: bytes, at: int, found: Findings, depth: int) -> None:
    identities = IDENTITIES.get(data[2], frozenset())
    for kind, value in optional_elements(data, at):
        if kind in identities:
            mobile_identity(value, found)
        elif data[2] not in CONTAINERS:
            continue
        elif kind == CONTAINER_IEI:
            nas5g(value, found, depth + 1)
        elif kind == EPS_CONTAINER_IEI and value[:1] == b"\x07":
            naseps.naseps(value, found, depth + 1)


def _plain(data: bytes, found: Findings, depth: int) -> None:
    """Read a plain 5GMM message: the mandatory part up to its identity, then the optional elements."""
    kind = data[2]
    if kind in (REGISTRATION_REQUEST, DEREGISTRATION_BY_UE, SERVICE_REQUEST):
        identity, at = _long(data, 4)
        mobile_identity(identity, found)
    elif kind == IDENTITY_RESPONSE:
        mobile_identity(_long(data, 3)[0], found)
        return
    elif kind == REGISTRATION_ACCEPT:
        at = 4 + data[3] if len(data) > 3 else len(data)
    elif kind == CONTROL_PLANE_SERVICE_REQUEST:
        at = 4
    elif kind in (CONFIGURATION_UPDATE, SECURITY_MODE_COMPLETE):
        at = 3
    else:
        return
    _optional(data, at, found, depth)


def _readable(data: bytes) -> bool:
    """Whether bytes behind a security header are a message in clear (the null cipher, NEA0).

    Some UEs repeat a security header type in the inner message, where zero should stand; the rest is plain.
    """
    return len(data) >= 3 and (
        (data[0] == MOBILITY and data[1] <= MAX_HEADER and data[2] in MESSAGE_TYPES)
        or (data[0] == SESSION and len(data) > 3)
    )


def _selected(data: bytes, context: UeContext | None) -> None:
    """Keep the ciphering algorithm that a security mode command selects (TS 24.501, 9.11.3.34); a rejection ends it."""
    if context is None:
        return
    if data[2] == SECURITY_MODE_COMMAND and len(data) > 3:
        context.select(data[3] >> 4)
    elif data[2] == SECURITY_MODE_REJECT:
        context.select(None)


def nas5g(data: bytes, found: Findings, depth: int = 0, context: UeContext | None = None) -> bool:
    """Read one NAS message and note its identities; False when the bytes are none.

    A ciphered message (TS 24.501, 9.3) is opened when its UE has the null cipher, and counted when it has another; when
    that is not known, it is opened if what follows its header is in clear.
    """
    if len(data) < 3 or depth > MAX_NESTING or data[0] not in (MOBILITY, SESSION):
        return False
    if data[0] == SESSION:
        found.protocols.add("nas-5gs")
        return True
    header = data[1] & 15
    if header == 0:
        if data[2] not in MESSAGE_TYPES:
            return False
        found.protocols.add("nas-5gs")
        _selected(data, context)
        _plain(data, found, depth)
        return True
    if header > MAX_HEADER or len(data) < 8:
        return False
    found.protocols.add("nas-5gs")
    ciphered = header in CIPHERED and context is not None and bool(context.algorithm)
    if not ciphered and _readable(data[7:]):
        if data[7] == MOBILITY:
            _selected(data[7:], context)
            _plain(data[7:], found, depth + 1)
    elif header in CIPHERED:
        found.troubles.append("nas-ciphered")
    return True
