"""PFCP sessions: what one message says about the tunnels of one subscriber's PDU session (TS 29.244, 7.5)."""

from collections.abc import Iterator

from pratique_ingest.protocols.digits import packed_digits
from pratique_ingest.protocols.findings import IMSI, Line, LineStep, Rule, Slice

ESTABLISHMENT, ESTABLISHED, MODIFICATION, MODIFIED, DELETED = 50, 51, 52, 53, 55
STEPS = {
    ESTABLISHMENT: LineStep.OPENS, ESTABLISHED: LineStep.GOES_ON, MODIFICATION: LineStep.GOES_ON,
    MODIFIED: LineStep.GOES_ON, DELETED: LineStep.CLOSES,
}  # fmt: skip
F_SEID, USER_ID, S_NSSAI = 57, 141, 257
CREATE_PDR, PDI, CREATED_PDR, PDR_ID, SOURCE_INTERFACE, F_TEID = 1, 2, 8, 56, 20, 21
CREATE_FAR, FORWARDING, UPDATE_FAR, UPDATE_FORWARDING, FAR_ID, DESTINATION_INTERFACE = 3, 4, 10, 11, 108, 42
OUTER_HEADER = 84
ACCESS = 0  # of both interfaces: the side of the gNBs (TS 29.244, 8.2.2, 8.2.24)
MAX_ELEMENTS = 128
Elements = list[tuple[int, bytes]]


def _elements(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    for _ in range(MAX_ELEMENTS):
        if at + 4 > len(data):
            return
        kind, size = data[at] << 8 | data[at + 1], data[at + 2] << 8 | data[at + 3]
        if at + 4 + size > len(data):
            return
        yield kind, data[at + 4 : at + 4 + size]
        at += 4 + size


def _number(elements: Elements, wanted: int) -> int | None:
    return next((int.from_bytes(value, "big") for kind, value in elements if kind == wanted and value), None)


def _interface(elements: Elements, wanted: int) -> int | None:
    return next((value[0] & 15 for kind, value in elements if kind == wanted and value), None)


def _control(value: bytes) -> tuple[bytes, int] | None:
    """Read an F-SEID: flags, the session's number at the sender, and an address of either version."""
    if len(value) >= 13 and value[0] & 2:
        return value[9:13], int.from_bytes(value[1:9], "big")
    if len(value) >= 25 and value[0] & 1:
        return value[9:25], int.from_bytes(value[1:9], "big")
    return None


def _own_end(value: bytes) -> tuple[tuple[bytes, int], ...]:
    """Read an F-TEID, unless the user plane is asked to choose it."""
    if len(value) < 9 or value[0] & 4:
        return ()
    teid, at, ends = int.from_bytes(value[1:5], "big"), 5, []
    for flag, width in ((1, 4), (2, 16)):
        if value[0] & flag and at + width <= len(value):
            ends.append((value[at : at + width], teid))
            at += width
    return tuple(ends)


def _far_end(value: bytes) -> tuple[tuple[bytes, int], ...]:
    """Read the outer header that is to be created: GTP-U over IPv4 or IPv6, or both."""
    if len(value) < 10 or not value[0] & 3:
        return ()
    teid, at, ends = int.from_bytes(value[2:6], "big"), 6, []
    for flag, width in ((1, 4), (2, 16)):
        if value[0] & flag and at + width <= len(value):
            ends.append((value[at : at + width], teid))
            at += width
    return tuple(ends)


def _detection(value: bytes) -> Rule | None:
    """Read a PDR that is created, or that was: the UPF's end of the tunnel, and from which side packets come."""
    outer = list(_elements(value))
    inner = [each for kind, part in outer if kind == PDI for each in _elements(part)]
    number = _number(outer, PDR_ID)
    if number is None:
        return None
    ends = tuple(end for kind, part in (*inner, *outer) if kind == F_TEID for end in _own_end(part))
    interface = _interface(inner, SOURCE_INTERFACE)
    return Rule(number, None if interface is None else interface == ACCESS, ends, forwards=False)


def _forwarding(value: bytes) -> Rule | None:
    """Read a FAR that is created or updated: the far end of the tunnel, and to which side packets go."""
    outer = list(_elements(value))
    inner = [each for kind, part in outer if kind in (FORWARDING, UPDATE_FORWARDING) for each in _elements(part)]
    number = _number(outer, FAR_ID)
    if number is None:
        return None
    ends = tuple(end for kind, part in inner if kind == OUTER_HEADER for end in _far_end(part))
    interface = _interface(inner, DESTINATION_INTERFACE)
    return Rule(number, None if interface is None else interface == ACCESS, ends, forwards=True)


def _permanent(value: bytes) -> str | None:
    """Read the IMSI at the head of a User ID."""
    if len(value) < 2 or not value[0] & 1:
        return None
    digits = packed_digits(value[2 : 2 + value[1]])
    return digits if IMSI.fullmatch(digits) else None


def pfcp_session(kind: int, receiver_id: int | None, body: bytes) -> Line | None:
    """Read the elements of a message; None when it is about no session, or only asks for its end."""
    step = STEPS.get(kind)
    if step is None:
        return None
    control, imsi, chosen = None, None, None
    rules: list[Rule | None] = []
    for element, value in _elements(body):
        if element == F_SEID:
            control = _control(value)
        elif element == USER_ID:
            imsi = _permanent(value)
        elif element == S_NSSAI and len(value) == 4:
            chosen = Slice.of(value[0], value[1:])
        elif element in (CREATE_PDR, CREATED_PDR):
            rules.append(_detection(value))
        elif element in (CREATE_FAR, UPDATE_FAR):
            rules.append(_forwarding(value))
    return Line(step, receiver_id, control, imsi, chosen, tuple(rule for rule in rules if rule is not None))
