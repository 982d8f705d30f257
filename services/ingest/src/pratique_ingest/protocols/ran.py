"""The RAN's own interfaces: F1AP (TS 38.473), E1AP (TS 37.483), XnAP (TS 38.423) and X2AP (TS 36.423)."""

from pratique_ingest.protocols.aper import Message, NotAper, content, message
from pratique_ingest.protocols.findings import Findings, Sign
from pratique_ingest.protocols.rrc import rrc

RRC_CONTAINER, SRB_ID, RRC_SETUP_COMPLETE = 50, 64, 234
# F1AP: who sends the initiating message; the answers go the other way.
FROM_DISTRIBUTED = frozenset({1, 3, 8, 10, 11, 13, 15, 19, 22, 23, 24, 25, 30})
FROM_CENTRAL = frozenset({4, 5, 6, 7, 9, 12, 16, 17, 18, 20, 21, 27, 28, 29, 31})
UPLINK_PROCEDURES = frozenset({11, 13})
# E1AP: the same between control and user plane.
FROM_USER_PLANE = frozenset({3, 5, 10, 12, 13, 14, 15, 16, 17, 18, 19})
FROM_CONTROL_PLANE = frozenset({4, 6, 8, 9, 11, 20, 21})
# How X2AP's procedures begin that E2AP has numbers of as well (TS 36.423, 9.1 and 9.3.7): the UE's two numbers, a
# cause, cells, diagnostics, the eNB's name, measurements; a private message begins as its maker wants.
X2AP_FIRST: dict[int, frozenset[int]] = {
    **dict.fromkeys((0, 1, 4, 5), frozenset({10})),
    2: frozenset({6}),
    3: frozenset({5, 9, 10, 17}),
    6: frozenset({5, 21}),
    7: frozenset({5, 17}),
    8: frozenset({5, 17, 20, 22, 25, 26, 27, 34, 35}),
    **dict.fromkeys((9, 10), frozenset({39, 40})),
    12: frozenset({5, 41, 42, 43, 44, 46}),
    13: frozenset({48}),
    14: frozenset({54}),
    15: frozenset({5, 17, 57, 58}),
}
PRIVATE, LAST_SHARED = 11, 15
# Answers all of whose elements are optional.
MAY_BE_EMPTY = frozenset({7, 8})


def _read(data: bytes) -> Message | None:
    try:
        return message(data)
    except NotAper:
        return None


def f1ap(data: bytes, found: Findings) -> bool:
    """Read one F1AP message and the NAS inside its RRC containers; False when the bytes are none."""
    read = _read(data)
    if read is None:
        return False
    found.protocols.add("f1ap")
    if (read.procedure in FROM_DISTRIBUTED and read.initiating) or (
        read.procedure in FROM_CENTRAL and not read.initiating
    ):
        found.signs(Sign.F1AP_DISTRIBUTED, Sign.F1AP_CENTRAL)
    elif read.procedure in FROM_DISTRIBUTED or read.procedure in FROM_CENTRAL:
        found.signs(Sign.F1AP_CENTRAL, Sign.F1AP_DISTRIBUTED)
    bearer = read.first(SRB_ID)
    for identity, value in read.elements:
        if (identity == RRC_CONTAINER and bearer != b"\0") or identity == RRC_SETUP_COMPLETE:
            rrc(content(value), read.procedure in UPLINK_PROCEDURES, found)
    return True


def e1ap(data: bytes, found: Findings) -> bool:
    """Read one E1AP message; False when the bytes are none."""
    read = _read(data)
    if read is None:
        return False
    found.protocols.add("e1ap")
    if (read.procedure in FROM_USER_PLANE and read.initiating) or (
        read.procedure in FROM_CONTROL_PLANE and not read.initiating
    ):
        found.signs(Sign.E1AP_USER, Sign.E1AP_CONTROL)
    elif read.procedure in FROM_USER_PLANE or read.procedure in FROM_CONTROL_PLANE:
        found.signs(Sign.E1AP_CONTROL, Sign.E1AP_USER)
    return True


def xnap(data: bytes, found: Findings) -> bool:
    """Read one XnAP message; both ends are gNBs."""
    if _read(data) is None:
        return False
    found.protocols.add("xnap")
    found.signs(Sign.XNAP, Sign.XNAP)
    return True


def _begins_x2ap(read: Message) -> bool:
    if not read.elements:
        return read.procedure in MAY_BE_EMPTY and not read.initiating
    return (
        read.procedure == PRIVATE or read.procedure > LAST_SHARED or read.elements[0][0] in X2AP_FIRST[read.procedure]
    )


def x2ap(data: bytes, found: Findings) -> bool:
    """Read one X2AP message; both ends are base stations. False when the bytes are none, or no known procedure's."""
    read = _read(data)
    if read is None or not _begins_x2ap(read):
        return False
    found.protocols.add("x2ap")
    found.signs(Sign.X2AP, Sign.X2AP)
    return True
