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
from pratique_ingest.protocols.bits import Bits
from pratique_ingest.protocols.ciphering import UeContext
from pratique_ingest.protocols.findings import NUMBERED, Context, End, Findings, Handover, Kind, Sign, Slice
from pratique_ingest.protocols.nas5g import nas5g, s_tmsi
from pratique_ingest.protocols.tunnel_ends import MAX_NAS, tunnel_ends

ALLOWED_SLICES, AMF_UE, NAS_PDU, NGAP_MESSAGE, RAN_UE, SOURCE_AMF_UE, UE_NUMBERS = 0, 10, 38, 42, 85, 100, 114
S_TMSI, PAGING_IDENTITY = 26, 115
AMF_NAME, CAUSE, GLOBAL_RAN_NODE = 1, 15, 27
INITIAL_UE_MESSAGE, SETUP, REROUTE, RELEASE = 15, 21, 36, 41
# Kinds of UEs that an initial message tells apart (TS 38.413, 9.2.5.1): relays, and devices of reduced capability.
ROLES = {201: "IAB node", 333: "RedCap UE"}
HANDOVERS = {
    (11, INITIATING): Handover.ARRIVED, (13, INITIATING): Handover.REQUEST, (13, SUCCESSFUL): Handover.ACCEPTED,
    (25, INITIATING): Handover.SWITCH,
}  # fmt: skip
# Who sends the initiating message of a procedure; the answers go the other way.
FROM_RAN = frozenset({
    2, 10, 11, 12, 15, 17, 18, 19, 21, 25, 27, 30, 33, 34, 35, 37, 38, 42, 44, 46, 47, 48, 49, 50, 52, 53, 55, 57, 58,
    59, 60, 62,
})  # fmt: skip
FROM_CORE = frozenset({
    0, 1, 3, 4, 5, 6, 7, 8, 13, 14, 16, 22, 23, 24, 26, 28, 29, 32, 36, 39, 40, 41, 43, 45, 51, 54, 56, 61, 63, 64, 65,
})  # fmt: skip


def _number(value: bytes | None, width: int) -> int | None:
    """Read the RAN's (`width` 2) or the core's (3) number of a UE: its length in the first bits, then its octets."""
    if not value:
        return None
    size = (value[0] >> 8 - width) + 1
    return int.from_bytes(value[1 : 1 + size], "big") if len(value) > size else None


def _numbers(read: Message) -> tuple[int | None, int | None]:
    """Return the RAN's and the core's number of the UE, from elements of their own or from the pair in a release."""
    pair = read.first(UE_NUMBERS) if read.procedure == RELEASE and read.initiating else None
    if pair is None:
        return _number(read.first(RAN_UE), 2), _number(read.first(AMF_UE), 3)
    bits = Bits(pair)
    try:
        if bits.take(2):  # the core's number alone
            return None, None
        bits.take(2)
        core = bits.number(3)
        return bits.number(2), core
    except NotAper:
        return None, None


def _context(
    read: Message,
    from_ran: bool,
    numbers: tuple[int | None, int | None],
    named: frozenset[tuple[Kind, str]],
    ends: tuple[End, ...],
) -> Context | None:
    """Return what a message says about its UE, if it is about one."""
    ran_id, core_id = numbers
    handover = HANDOVERS.get((read.procedure, read.outcome))
    if ran_id is None and (core_id is None or handover is not Handover.REQUEST):
        return None
    opens, closes = _opens(read), _closes(read)
    source = _number(read.first(SOURCE_AMF_UE), 3) if handover is Handover.SWITCH else None
    allowed = _slice(read.first(ALLOWED_SLICES))
    role = next((ROLES[each] for each, _ in read.elements if each in ROLES), None) if opens else None
    return Context(ran_id, from_ran, opens, closes, allowed, named, core_id, source, handover, ends, role)


def _opens(read: Message) -> bool:
    return read.procedure == INITIAL_UE_MESSAGE


def _closes(read: Message) -> bool:
    return read.procedure == RELEASE and not read.initiating


def _slice(value: bytes | None) -> Slice | None:
    """Read the first of the allowed slices: count, options, type in one byte each, then the differentiator if any."""
    if value is None or len(value) < 2:
        return None
    return Slice.of(value[1], value[2:5]) if value[0] & 2 and len(value) >= 5 else Slice(value[1], None)


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


def _temporary(read: Message, found: Findings) -> None:
    """Keep the 5G-S-TMSI of an initial message or a paging: set and pointer end in the third byte, the TMSI follows.

    Two bits of options stand before them (X.691, 19), and in the choice of a paging one more.
    """
    for identity, before in ((S_TMSI, 2), (PAGING_IDENTITY, 3)):
        value = read.first(identity)
        if value is not None and len(value) >= 7 and not value[0] >> 8 - before:
            group = int.from_bytes(value[:3], "big") >> 8 - before & 0xFFFF
            found.identity("s_tmsi", s_tmsi(group, value[3:7]))


def _secured(read: Message, from_ran: bool, ran_id: int | None, found: Findings) -> UeContext | None:
    """Return whose NAS messages a message carries; one that gives the UE a number begins anew under it."""
    if ran_id is None or found.association is None:
        return None
    context = found.association.context(from_ran, ran_id)
    if _opens(read) or _closes(read) or HANDOVERS.get((read.procedure, read.outcome)) in NUMBERED:
        context.select(None)
    return context


def _nas(read: Message, beside: list[bytes], context: UeContext | None, found: Findings) -> frozenset[tuple[Kind, str]]:
    """Read the NAS messages and return who they name.

    They are its own, those in an initial message that a core sends on to another, and those `beside` tunnel ends.
    """
    # The messages of one packet are told apart by who is named in them.
    inside, elements = Findings() if found.identities else found, read.elements
    rerouted = read.first(NGAP_MESSAGE) if read.procedure == REROUTE else None
    if rerouted is not None:
        with suppress(NotAper):
            elements = elements + message(content(rerouted)).elements
    messages = [content(value) for identity, value in elements if identity == NAS_PDU][:MAX_NAS]
    for nas in messages + beside:
        nas5g(nas, inside, context=context)
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
    numbers, (ends, beside) = _numbers(read), tunnel_ends(read)
    named = _nas(read, beside, _secured(read, from_ran, numbers[0], found) if known else None, found)
    _temporary(read, found)
    context = _context(read, from_ran, numbers, named, ends) if known else None
    if context is not None:
        found.contexts.append(context)
    return True
