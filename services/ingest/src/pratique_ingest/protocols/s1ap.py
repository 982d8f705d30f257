"""S1AP (TS 36.413): which side is eNB and which MME, and the NAS messages inside."""

from pratique_ingest.protocols.aper import Message, NotAper, content, message
from pratique_ingest.protocols.ciphering import UeContext
from pratique_ingest.protocols.digits import packed_digits
from pratique_ingest.protocols.findings import Findings, Sign
from pratique_ingest.protocols.naseps import naseps

ENB_UE, INITIAL_UE_MESSAGE, RELEASE = 8, 12, 23
PAGING_IDENTITY, S_TMSI = 43, 96
NAS_PDU, BEARERS_TO_SETUP, BEARERS_IN_CONTEXT = 26, 16, 24
# Who sends the initiating message of a procedure; the answers go the other way.
FROM_RAN = frozenset({
    0, 2, 3, 4, 8, 12, 13, 16, 17, 18, 20, 22, 24, 28, 29, 32, 33, 37, 40, 42, 45, 47, 49, 50, 51, 53, 55, 56, 57,
})  # fmt: skip
FROM_CORE = frozenset({
    1, 5, 6, 7, 9, 10, 11, 19, 21, 23, 25, 26, 27, 30, 31, 34, 35, 36, 38, 41, 43, 44, 46, 48, 52, 54,
})  # fmt: skip


def _temporary(code: int, tmsi: bytes, found: Findings) -> None:
    """Keep an S-TMSI as code-tmsi in hex (TS 23.003, 2.8)."""
    if len(tmsi) >= 4:
        found.identity("s_tmsi", f"{code:x}-{tmsi[:4].hex()}")


def _paged(value: bytes, found: Findings) -> None:
    """Keep whom a paging calls (TS 36.413, 9.2.3.13): by S-TMSI, or by IMSI whose length stands in three bits."""
    if len(value) < 2 or value[0] >> 7:
        return
    if value[0] >> 6 == 0:
        _temporary(int.from_bytes(value[:2], "big") >> 4 & 0xFF, value[2:], found)
    else:
        found.identity("imsi", packed_digits(value[1 : 4 + (value[0] >> 3 & 7)]))


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
    from_ran = (read.procedure in FROM_RAN and read.initiating) or (read.procedure in FROM_CORE and not read.initiating)
    context = _context(read, from_ran, found) if from_ran or read.procedure in FROM_RAN | FROM_CORE else None
    if from_ran:
        found.signs(Sign.S1AP_RAN, Sign.S1AP_CORE)
    elif read.procedure in FROM_RAN or read.procedure in FROM_CORE:
        found.signs(Sign.S1AP_CORE, Sign.S1AP_RAN)
    for identity, value in read.elements:
        if identity == NAS_PDU:
            naseps(content(value), found, context=context)
        elif identity == PAGING_IDENTITY:
            _paged(value, found)
        elif identity == S_TMSI and len(value) >= 6:
            _temporary(int.from_bytes(value[:2], "big") >> 6 & 0xFF, value[2:], found)
        elif identity in (BEARERS_TO_SETUP, BEARERS_IN_CONTEXT):
            _bearers(value, found, context)
    return True
