"""PFCP (TS 29.244): which side controls the user plane, the subscriber's identities and the addresses given to UEs."""

from typing import Final

from pratique_ingest.protocols.digits import packed_digits
from pratique_ingest.protocols.findings import Findings, Kind, Sign
from pratique_ingest.protocols.pfcp_sessions import pfcp_session

# Session establishment, modification and deletion are asked by the control plane, reports by the user plane.
FROM_CONTROL, FROM_USER = frozenset({50, 52, 54, 57}), frozenset({51, 53, 55, 56})
LAST_MESSAGE = 57
FOLLOWED = 4
USER_ID, UE_ADDRESS = 141, 93
# Grouped elements on the way to a UE address: PDRs with their PDI, FARs, and what the replies hold.
GROUPED = frozenset({1, 2, 3, 4, 5, 8, 9, 10, 11, 12, 127, 255})
FOLLOWED_ELEMENTS = GROUPED | {USER_ID, UE_ADDRESS}
MAX_DEPTH, MAX_ELEMENTS = 4, 512
# Parts of a User ID in their order, by flag.
USER_PARTS: Final[tuple[tuple[int, Kind], ...]] = ((1, "imsi"), (2, "imei"), (4, "msisdn"))


def _user(value: bytes, found: Findings) -> None:
    """Read a User ID: flags say which of IMSI, IMEI and MSISDN follow, each behind a one-byte length."""
    at = 1
    for flag, kind in USER_PARTS:
        if value[0] & flag and at < len(value):
            part, at = value[at + 1 : at + 1 + value[at]], at + 1 + value[at]
            found.identity(kind, packed_digits(part))


def _walk(data: bytes, at: int, end: int, depth: int, found: Findings) -> None:
    """Read elements of type, length and value; of those that matter the bytes are looked at."""
    for _ in range(MAX_ELEMENTS):
        if at + 4 > end:
            return
        kind, start = data[at] << 8 | data[at + 1], at + 4
        at = start + (data[at + 2] << 8 | data[at + 3])
        if kind not in FOLLOWED_ELEMENTS:
            continue
        stop = min(at, end)
        if kind == USER_ID and stop > start:
            _user(data[start:stop], found)
        elif kind == UE_ADDRESS and stop - start >= 5 and data[start] & 2:
            found.subscribers.add(data[start + 1 : start + 5])
        elif kind == UE_ADDRESS and stop - start >= 17 and data[start] & 1:
            found.subscribers.add(data[start + 1 : start + 17])
        elif kind in GROUPED and depth < MAX_DEPTH:
            _walk(data, start, stop, depth + 1, found)


def pfcp(data: bytes, found: Findings, missing: int = 0) -> bool:
    """Read one PFCP message, of which `missing` bytes were not captured; False when the bytes are none.

    It fills its datagram, unless its flag FO says that another one follows (TS 29.244, 7.2.2.1).
    """
    if len(data) < 8 or data[0] >> 5 != 1:
        return False
    kind, length = data[1], data[2] << 8 | data[3]
    room = len(data) + missing - 4 - length
    if room < 0 or (room and not data[0] & FOLLOWED) or not 1 <= kind <= LAST_MESSAGE:
        return False
    found.protocols.add("pfcp")
    if kind in FROM_CONTROL:
        found.signs(Sign.PFCP_CONTROL, Sign.PFCP_USER)
    elif kind in FROM_USER:
        found.signs(Sign.PFCP_USER, Sign.PFCP_CONTROL)
    at, end = 16 if data[0] & 1 else 8, min(4 + length, len(data))
    _walk(data, at, end, 0, found)
    session = pfcp_session(kind, int.from_bytes(data[4:12], "big") if data[0] & 1 else None, data[at:end])
    if session is not None:
        found.lines.append(session)
    return True
