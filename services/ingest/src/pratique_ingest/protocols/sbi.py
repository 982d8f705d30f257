"""The core's service-based interfaces (TS 29.500): HTTP by content, functions by API name, identifiers in text."""

import re
from collections.abc import Iterator

from pratique_ingest.protocols.findings import IMSI, Findings, Sign
from pratique_ingest.protocols.hpack import AGENT as AGENT_NAME
from pratique_ingest.protocols.hpack import PATH, UNKNOWN, literals

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
REQUEST = re.compile(rb"(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS|CONNECT|TRACE) ([^ \r\n]{1,2048}) HTTP/1\.[01]\r\n")
RESPONSE = re.compile(rb"HTTP/1\.[01] \d{3}[ \r]")
# The first part of a path is the API's name: n<function>-<service> (TS 29.501, 4.4.1).
API = re.compile(rb"/n(amf|smf|nrf|ausf|udm|udr|pcf|nssf|bsf|nef|chf|smsf|lmf|nwdaf|scp|sepp|upf)-[a-z0-9-]{2,40}/")
AGENT = re.compile(rb"\r\nuser-agent: *(amf|smf|nrf|ausf|udm|udr|pcf|nssf|bsf|nef|chf|smsf|scp|sepp)\b", re.IGNORECASE)
AGENT_VALUE = re.compile(rb"(amf|smf|nrf|ausf|udm|udr|pcf|nssf|bsf|nef|chf|smsf|scp|sepp)\b", re.IGNORECASE)
A1_PATH = re.compile(rb"/a1-p/v?2?/?policytypes|/A1-P/v2/policytypes")
# Placeholders (`imsi-20895[...]`) and ranges are no identifiers: the digits must end where the value ends.
SUPI = re.compile(rb"imsi-([0-9]{13,15})(?![0-9\[])")
SUCI = re.compile(rb"(suci-0-[0-9]{3}-[0-9]{2,3}-[0-9]{1,4}-[0-9]-[0-9]{1,3}-[0-9a-fA-F]{4,200})(?![0-9a-fA-F\[])")
GPSI = re.compile(rb"msisdn-([0-9]{5,15})(?![0-9\[])")
PEI = re.compile(rb"imei(?:sv)?-([0-9]{14,16})(?![0-9\[])")
# HTTP/2 frames (RFC 9113, 4.1 and 6): type -> flags that may be set.
FRAME_FLAGS = {0: 0x09, 1: 0x2D, 2: 0, 3: 0, 4: 0x01, 5: 0x0C, 6: 0x01, 7: 0, 8: 0, 9: 0x04}
HEADERS, SETTINGS, PADDED, PRIORITY, MAX_FRAME = 1, 4, 0x08, 0x20, 16_384
ON_CONNECTION, ON_STREAM, FIXED_SIZES = frozenset({4, 6, 7}), frozenset({0, 1, 2, 3, 5, 9}), {2: 5, 3: 4, 6: 8, 8: 4}


def text_identities(data: bytes, found: Findings) -> None:
    """Keep the identifiers that stand in paths and bodies as text (TS 29.571, 5.3.2)."""
    if b"imsi-" in data:
        for match in SUPI.finditer(data):
            found.identity("imsi", match[1].decode())
    if b"suci-" in data:
        for match in SUCI.finditer(data):
            suci(match[1].decode(), found)
    if b"msisdn-" in data:
        for match in GPSI.finditer(data):
            found.identity("msisdn", match[1].decode())
    if b"imei" in data:
        for match in PEI.finditer(data):
            found.identity("imei", match[1].decode())


def suci(text: str, found: Findings) -> None:
    """Keep a SUCI in its text form; under the null scheme it is the SUPI in clear and gives the IMSI too."""
    found.identity("suci", text)
    _, _, mcc, mnc, _, scheme, _, output = text.split("-", 7)
    if scheme == "0" and IMSI.fullmatch(mcc + mnc + output):
        found.identity("imsi", mcc + mnc + output)


def serves(path: bytes, found: Findings) -> bool:
    """Note what the receiver of a request is by the API in its path; False when it is no SBI."""
    if b"notif" in path or b"callback" in path:
        return API.search(path) is not None  # a callback goes to the consumer of the API that its path names
    if (match := API.search(path)) is not None:
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
        for name, value in literals(block):
            text_identities(value, found)
            if name == AGENT_NAME and (agent := AGENT_VALUE.match(value)) is not None:
                found.sender.add(Sign[f"SBI_{agent[1].decode().upper()}"])
            elif name in (PATH, UNKNOWN) and value.startswith(b"/") and serves(value, found):
                found.protocols.add("sbi")
