"""S1AP (TS 36.413): which side is eNB and which MME, and the NAS messages inside."""

from pratique_ingest.protocols.aper import Message, NotAper, content, message
from pratique_ingest.protocols.ciphering import UeContext
from pratique_ingest.protocols.findings import Findings, Sign
from pratique_ingest.protocols.naseps import naseps

ENB_UE, INITIAL_UE_MESSAGE, RELEASE = 8, 12, 23
NAS_PDU, BEARERS_TO_SETUP, BEARERS_IN_CONTEXT = 26, 16, 24
# Who sends the initiating message of a procedure; the answers go the other way.
FROM_RAN = frozenset({
    0, 2, 3, 4, 8, 12, 13, 16, 17, 18, 20, 22, 24, 28, 29, 32, 33, 37, 40, 42, 45, 47, 49, 50, 51, 53, 55, 56, 57,
})  # fmt: skip
FROM_CORE = frozenset({
    1, 5, 6, 7, 9, 10, 11, 19, 21, 23, 25, 26, 27, 30, 31, 34, 35, 36, 38, 41, 43, 44, 46, 48, 52, 54,
})  # fmt: skip


def _context(read: Message, from_ran: bool, found: Findings) -> UeContext | None:
    """Return the context that a message belongs to; an initial message opens a new one under its number."""
    number = read.first(ENB_UE)
    if number is None or len(number) < 2 or found.association is None:
        return None
    # The number has three bytes at most: their count, less one, stands in the first two bits.
    context = found.association.context(from_ran, int.from_bytes(number[1 : 2 + (number[0] >> 6)], "big"))
    if read.procedure == INITIAL_UE_MESSAGE or (read.procedure == RELEASE and not read.initiating):
        context.select(None)
    return context


def _bearers(value: bytes, found: Findings, context: UeContext | None) -> None:
    """Read the NAS message of each bearer: a list of one-byte count and single elements (id, criticality, value).

    An item is its options, the bearer's number, QoS, address and tunnel; the message stands last, behind its length.
    """
    for at in range(len(value) - 8):
        # A protected message begins with its header type and protocol in one byte; its length must fill the item.
        if value[at] and value[at + 1] in (0x17, 0x27) and at + 1 + value[at] == len(value):
            naseps(value[at + 1 :], found, context=context)
            return


def s1ap(data: bytes, found: Findings) -> bool:
    """Read one S1AP message; False when the bytes are none."""
    try:
        read = message(data)
    except NotAper:
        return False
    found.protocols.add("s1ap")
    from_ran = (read.procedure in FROM_RAN and read.initiating) or (
        read.procedure in FROM_CORE and not read.initiating
    )
    context = _context(read, from_ran, found) if from_ran or read.procedure in FROM_RAN | FROM_CORE else None
    if from_ran:
        found.signs(Sign.S1AP_RAN, Sign.S1AP_CORE)
    elif read.procedure in FROM_RAN or read.procedure in FROM_CORE:
        found.signs(Sign.S1AP_CORE, Sign.S1AP_RAN)
    for identity, value in read.elements:
        if identity == NAS_PDU:
            naseps(content(value), found, context=context)
        elif identity in (BEARERS_TO_SETUP, BEARERS_IN_CONTEXT):
            _bearers(value, found, context)
    return True
