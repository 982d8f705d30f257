"""NGAP (TS 38.413): which side is RAN and which core, and the NAS messages inside."""

from pratique_ingest.protocols.aper import NotAper, content, message
from pratique_ingest.protocols.findings import Context, Findings, Sign, Slice
from pratique_ingest.protocols.nas5g import nas5g

ALLOWED_SLICES, NAS_PDU, RAN_UE = 0, 38, 85
INITIAL_UE_MESSAGE = 15
NO_DIFFERENTIATOR = "ffffff"  # TS 23.003, 28.4.2: no SD value is associated
# Who sends the initiating message of a procedure; the answers go the other way.
FROM_RAN = frozenset({
    2, 10, 11, 12, 15, 17, 18, 19, 21, 25, 27, 30, 33, 34, 35, 37, 38, 42, 44, 46, 47, 48, 49, 50, 52, 53, 55, 57, 58,
    59, 60, 62,
})  # fmt: skip
FROM_CORE = frozenset({
    0, 1, 3, 4, 5, 6, 7, 8, 13, 14, 16, 22, 23, 24, 26, 28, 29, 32, 36, 39, 40, 41, 43, 45, 51, 54, 56, 61, 63, 64, 65,
})  # fmt: skip


def _number(value: bytes) -> int:
    """Read a RAN UE NGAP ID: its length in two bits of the first byte, then as many bytes, less one, as they say."""
    return int.from_bytes(value[1 : 2 + (value[0] >> 6)], "big")


def _slice(value: bytes | None) -> Slice | None:
    """Read the first of the allowed slices: count, options, type in one byte each, then the differentiator if any."""
    if value is None or len(value) < 2:
        return None
    differentiator = value[2:5].hex() if value[0] & 2 and len(value) >= 5 else NO_DIFFERENTIATOR
    return Slice(value[1], None if differentiator == NO_DIFFERENTIATOR else differentiator)


def ngap(data: bytes, found: Findings) -> bool:
    """Read one NGAP message; False when the bytes are none."""
    try:
        read = message(data)
    except NotAper:
        return False
    found.protocols.add("ngap")
    known = read.procedure in FROM_RAN or read.procedure in FROM_CORE
    from_ran = (read.procedure in FROM_RAN and read.initiating) or (read.procedure in FROM_CORE and not read.initiating)
    if from_ran:
        found.signs(Sign.NGAP_RAN, Sign.NGAP_CORE)
    elif known:
        found.signs(Sign.NGAP_CORE, Sign.NGAP_RAN)
    inside = Findings()
    for identity, value in read.elements:
        if identity == NAS_PDU:
            nas5g(content(value), inside)
    found.protocols |= inside.protocols
    found.identities |= inside.identities
    found.troubles += inside.troubles
    number = read.first(RAN_UE)
    if known and number is not None and len(number) > 1:
        opens = read.procedure == INITIAL_UE_MESSAGE
        found.contexts.append(
            Context(_number(number), from_ran, opens, _slice(read.first(ALLOWED_SLICES)), frozenset(inside.identities))
        )
    return True
