"""The core's service-based interfaces (TS 29.500): HTTP by content, functions by API name, identifiers in text."""

import re
from collections.abc import Iterator
from typing import Final

from pratique_ingest.protocols.findings import Findings, Kind, Sign
from pratique_ingest.protocols.hpack import AGENT as AGENT_NAME
from pratique_ingest.protocols.hpack import PATH, UNKNOWN, literals
from pratique_ingest.protocols.suci import concealed

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
REQUEST = re.compile(rb"(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS|CONNECT|TRACE) ([^ \r\n]{1,2048}) HTTP/1\.[01]\r\n")
RESPONSE = re.compile(rb"HTTP/1\.[01] \d{3}[ \r]")
# The first part of a path is the API's name: n<function>-<service> (TS 29.501, 4.4.1), behind the authority if any.
API = re.compile(
    rb"(?:https?://[^/]{1,255})?/n(amf|smf|nrf|ausf|udm|udr|pcf|nssf|bsf|nef|chf|smsf|lmf|nwdaf|scp|sepp|upf)"
    rb"-[a-z0-9-]{2,40}/"
)
# The type of the function alone, or followed by the number of its instance (TS 29.500, 5.2.2).
AGENT_VALUE = re.compile(
    rb"[ \t]{0,16}(amf|smf|nrf|ausf|udm|udr|pcf|nssf|bsf|nef|chf|smsf|scp|sepp)"
    rb"(?:-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})?(?=[ \t\r]|$)",
    re.IGNORECASE,
)
AGENT = re.compile(rb"\r\nuser-agent:" + AGENT_VALUE.pattern, re.IGNORECASE)
A1_PATH = re.compile(rb"/a1-p/v?2?/?policytypes|/A1-P/v2/policytypes")
# An identifier is a whole value: no word goes on before or behind it, so ranges, patterns, file names and placeholders
# (`imsi-20895[...]`) are none. Percent signs may hide a separator (RFC 3986, 2.1).
BEHIND = rb"(?=[\"'/?&,;)\]}<>|#\\\s\x00]|%(?:2[0267CF]|3[ABCEF]|5D|7D|0[AD])|\Z)"


def _whole(prefix: bytes, value: bytes) -> bytes:
    # What stands before is asked behind the prefix, so that the search may look for its letters.
    return prefix + rb"(?:(?<![\w*.-]%b)|(?<=%%[0-9A-Fa-f]{2}%b))" % (prefix, prefix) + value


IDENTIFIER = re.compile(
    rb"(?:%b)" % b"|".join((
        _whole(b"imsi-", rb"(?P<imsi>[0-9]{13,15})"),
        _whole(b"msisdn-", rb"(?P<msisdn>[0-9]{5,15})"),
        _whole(b"imei-", rb"(?P<imei>[0-9]{14,16})"),
        _whole(b"imeisv-", rb"(?P<imeisv>[0-9]{14,16})"),
        _whole(b"suci-0-", rb"(?P<suci>[0-9]{3}-[0-9]{2,3}-[0-9]{0,4}-[0-9]{1,2}-[0-9]{1,3}-[0-9a-fA-F]{4,2800})"),
    ))
    + BEHIND
)  # fmt: skip
PLAIN: Final[tuple[tuple[str, Kind], ...]] = (
    ("imsi", "imsi"), ("msisdn", "msisdn"), ("imei", "imei"), ("imeisv", "imei"),
)  # fmt: skip
CONTENT_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]{0,16}([0-9]{1,12})[ \t]{0,16}\r\n", re.IGNORECASE)
# HTTP/2 frames (RFC 9113, 4.1 and 6): type -> flags that may be set.
FRAME_FLAGS = {0: 0x09, 1: 0x2D, 2: 0, 3: 0, 4: 0x01, 5: 0x0C, 6: 0x01, 7: 0, 8: 0, 9: 0x04}
HEADERS, SETTINGS, PADDED, PRIORITY, MAX_FRAME = 1, 4, 0x08, 0x20, 16_384
FIELDS_A_MESSAGE = 4  # literal fields that cost as much as a message
ON_CONNECTION, ON_STREAM, FIXED_SIZES = frozenset({4, 6, 7}), frozenset({0, 1, 2, 3, 5, 9}), {2: 5, 3: 4, 6: 8, 8: 4}


def text_identities(data: bytes, found: Findings, known: int = 0, closed: bool = True) -> None:
    """Keep the identifiers that stand in paths and bodies as text (TS 29.571, 5.3.2).

    The first `known` bytes were read before. Unless `closed`, what ends with the data may go on: it waits for more.
    """
    if b"-" not in data:  # most values of header fields
        return
    if b"imsi-" not in data and b"suci-" not in data and b"msisdn-" not in data and b"imei" not in data:
        return
    for match in IDENTIFIER.finditer(data):
        if match.end() < known or (match.end() == len(data) and not closed):
            continue
        for name, kind in PLAIN:
            if match[name]:
                found.identity(kind, match[name].decode())
        if match["suci"]:
            mcc, mnc, routing, scheme, key, output = match["suci"].decode().split("-")
            concealed(mcc, mnc, routing, int(scheme), int(key), output.lower(), found)


def ends_with_message(data: bytes) -> bool:
    """Whether a message of HTTP ends with the data: by its stated length, or by the end of its last frame."""
    if REQUEST.match(data) is not None or RESPONSE.match(data) is not None:
        head, _, body = data.partition(b"\r\n\r\n")
        length = CONTENT_LENGTH.search(head + b"\r\n")
        return length is not None and int(length[1]) == len(body)
    ends = [end for *_, end in _frames(data)]
    return bool(ends) and ends[-1] == len(data)


def begins_message(data: bytes) -> bool:
    """Whether data begins with a message of HTTP, so that what came before it is whole."""
    return REQUEST.match(data) is not None or RESPONSE.match(data) is not None or http2(data)


def serves(path: bytes, found: Findings) -> bool:
    """Note what the receiver of a request is by the API in its path; False when it is no SBI."""
    if b"notif" in path or b"callback" in path:
        return API.match(path) is not None  # a callback goes to the consumer of the API that its path names
    if (match := API.match(path)) is not None:
        found.receiver.add(Sign[f"SBI_{match[1].decode().upper()}"])
        return True
    if A1_PATH.search(path) is not None:
        found.receiver.add(Sign.A1_POLICY)
        return True
    return False


def http1(data: bytes, found: Findings) -> bool:
    """Read the start of an HTTP/1 message; False when the bytes are none."""
    if (request := REQUEST.match(data)) is not None:
        found.protocols.add("http")
        if serves(request[1], found):
            found.protocols.add("sbi")
        if (agent := AGENT.search(data)) is not None:
            found.sender.add(Sign[f"SBI_{agent[1].decode().upper()}"])
        return True
    if RESPONSE.match(data) is not None:
        found.protocols.add("http")
        return True
    return False


def _frames(data: bytes) -> Iterator[tuple[int, int, int, int]]:
    """Yield kind, flags, start and stated end of each HTTP/2 frame, as long as they can be frames."""
    at = len(PREFACE) if data.startswith(PREFACE) else 0
    while at + 9 <= len(data):
        size, kind, flags = int.from_bytes(data[at : at + 3], "big"), data[at + 3], data[at + 4]
        stream = int.from_bytes(data[at + 5 : at + 9], "big")
        if kind not in FRAME_FLAGS or flags & ~FRAME_FLAGS[kind] or stream >> 31 or size > MAX_FRAME:
            return
        if (
            (kind in ON_CONNECTION and stream)
            or (kind in ON_STREAM and not stream)
            or size != FIXED_SIZES.get(kind, size)
        ):
            return
        if kind == SETTINGS and size % 6:
            return
        yield kind, flags, at + 9, at + 9 + size
        at += 9 + size


def http2(data: bytes) -> bool:
    """Whether a segment is a chain of HTTP/2 frames from its first byte on: it may be older than the capture.

    The chain must close at the segment's end, or at least its second frame go on in the next segment.
    """
    if data.startswith(PREFACE):
        return True
    ends = [end for *_, end in _frames(data)]
    return bool(ends) and (ends[-1] == len(data) or (ends[-1] > len(data) and len(ends) > 1))


def http2_headers(data: bytes, found: Findings) -> None:
    """Read the header blocks that lie whole in a segment: functions by path and by user agent, identifiers in both."""
    for kind, flags, start, end in _frames(data):
        if kind != HEADERS or end > len(data):
            continue
        block = data[start + (1 if flags & PADDED else 0) + (5 if flags & PRIORITY else 0) : end]
        found.messages += 1
        for number, (name, value) in enumerate(literals(block)):
            found.messages += number % FIELDS_A_MESSAGE == FIELDS_A_MESSAGE - 1
            text_identities(value, found)
            if name == AGENT_NAME and (agent := AGENT_VALUE.match(value)) is not None:
                found.sender.add(Sign[f"SBI_{agent[1].decode().upper()}"])
            elif name in (PATH, UNKNOWN) and value.startswith(b"/") and serves(value, found):
                found.protocols.add("sbi")
