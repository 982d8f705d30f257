"""The core's service-based interfaces (TS 29.500): heads of HTTP by content, functions by API name."""

import re

from pratique_ingest.protocols.findings import Findings, Sign
from pratique_ingest.protocols.hpack import AGENT as AGENT_NAME
from pratique_ingest.protocols.hpack import PATH, UNKNOWN

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


def field(name: bytes, value: bytes, found: Findings) -> None:
    """Read a header field of HTTP/2: a function by its path, or by the agent that asks."""
    if name == AGENT_NAME and (agent := AGENT_VALUE.match(value)) is not None:
        found.sender.add(Sign[f"SBI_{agent[1].decode().upper()}"])
    elif name in (PATH, UNKNOWN) and value.startswith(b"/") and serves(value, found):
        found.protocols.add("sbi")
