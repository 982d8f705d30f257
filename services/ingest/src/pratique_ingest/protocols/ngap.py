"""NGAP (TS 38.413): which side is RAN and which core, and the NAS messages inside."""

from contextlib import suppress

from pratique_ingest.protocols.aper import (
    INITIATING,
    SUCCESSFUL,
    UNSUCCESSFUL,
    Message,
    NotAper,
    content,
    message,
)
from pratique_ingest.protocols.findings import Context, Findings, Kind, Sign, Slice
from pratique_ingest.protocols.nas5g import nas5g

ALLOWED_SLICES, AMF_UE, NAS_PDU, NGAP_MESSAGE, RAN_UE, UE_NUMBERS = 0, 10, 38, 42, 85, 114
AMF_NAME, CAUSE, GLOBAL_RAN_NODE = 1, 15, 27
MAX_NAS = 8  # a message has one
INITIAL_UE_MESSAGE, SETUP, REROUTE, RELEASE = 15, 21, 36, 41
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


# What a message must have, by procedure and outcome, of those that make up nearly all traffic (TS 38.413, 9.2): one
# element of each set. Other procedures have at least one element.
UE = frozenset({AMF_UE, RAN_UE})
MANDATORY: dict[tuple[int, int], tuple[frozenset[int], ...]] = {
    **{(procedure, outcome): (UE,) for procedure in (4, 14, 25, 26, 27, 28, 29, 40, 46) for outcome in range(3)},
    (INITIAL_UE_MESSAGE, INITIATING): (frozenset({RAN_UE}), frozenset({NAS_PDU})),
    (SETUP, INITIATING): (frozenset({GLOBAL_RAN_NODE}),),
    (SETUP, SUCCESSFUL): (frozenset({AMF_NAME}),),
    (SETUP, UNSUCCESSFUL): (frozenset({CAUSE}),),
    (RELEASE, INITIATING): (frozenset({UE_NUMBERS}),),
    (RELEASE, SUCCESSFUL): (UE,),
}


def _complete(read: Message) -> bool:
    """Whether a message has its mandatory elements: without them it shows no more than its port does."""
    if not read.elements:
        return False
    for wanted in MANDATORY.get((read.procedure, read.outcome), ()):
        for identity, _ in read.elements:
            if identity in wanted:
                break
        else:
            return False
    return True


def _nas(read: Message, found: Findings) -> frozenset[tuple[Kind, str]]:
    """Read the NAS messages, also those in an initial message that a core sends on to another; return who they name."""
    # The messages of one packet are told apart by who is named in them.
    inside, elements = Findings() if found.identities else found, read.elements
    rerouted = read.first(NGAP_MESSAGE) if read.procedure == REROUTE else None
    if rerouted is not None:
        with suppress(NotAper):
            elements = elements + message(content(rerouted)).elements
    for value in [value for identity, value in elements if identity == NAS_PDU][:MAX_NAS]:
        nas5g(content(value), inside)
    named = frozenset(inside.identities)
    if inside is not found:
        found.protocols |= inside.protocols
        found.identities |= inside.identities
        found.troubles += inside.troubles
    return named


def ngap(data: bytes, found: Findings) -> bool:
    """Read one NGAP message; False when the bytes are none."""
    try:
        read = message(data)
    except NotAper:
        return False
    found.protocols.add("ngap")
    known = (read.procedure in FROM_RAN or read.procedure in FROM_CORE) and _complete(read)
    from_ran = (read.procedure in FROM_RAN and read.initiating) or (read.procedure in FROM_CORE and not read.initiating)
    if known and from_ran:
        found.signs(Sign.NGAP_RAN, Sign.NGAP_CORE)
    elif known:
        found.signs(Sign.NGAP_CORE, Sign.NGAP_RAN)
    named = _nas(read, found)
    number = read.first(RAN_UE)
    if known and number is not None and len(number) > 1:
        opens, closes = read.procedure == INITIAL_UE_MESSAGE, read.procedure == RELEASE and not read.initiating
        slices = _slice(read.first(ALLOWED_SLICES))
        found.contexts.append(Context(_number(number), from_ran, opens, closes, slices, named))
    return True
