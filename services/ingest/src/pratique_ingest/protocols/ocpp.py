"""OCPP over WebSocket (OCA, OCPP-J): the station opens the connection, the central system answers."""

import re

from pratique_ingest.protocols.findings import Findings, Sign

UPGRADE = re.compile(rb"\r\nupgrade:[ \t]{0,16}websocket\b", re.IGNORECASE)
SUBPROTOCOL = re.compile(rb"\r\nsec-websocket-protocol:[^\r\n]*\bocpp([12]\.[0-9](?:\.[0-9])?)", re.IGNORECASE)
CALL = re.compile(rb'\[\s*2\s*,\s*"[^"]{1,64}"\s*,\s*"([A-Z][A-Za-z]{3,48})"\s*,')
ANSWER = re.compile(rb'\[\s*[34]\s*,\s*"[^"]{1,64}"\s*,')
# Calls that only a station makes (OCPP 1.6 and 2.0.1); the others come from the system or from both.
FROM_STATION = frozenset({
    b"Authorize", b"BootNotification", b"Heartbeat", b"MeterValues", b"StartTransaction", b"StatusNotification",
    b"StopTransaction", b"TransactionEvent", b"NotifyEvent", b"NotifyReport", b"SecurityEventNotification",
    b"DiagnosticsStatusNotification", b"FirmwareStatusNotification", b"LogStatusNotification", b"SignCertificate",
})  # fmt: skip
FROM_SYSTEM = frozenset({
    b"RemoteStartTransaction", b"RemoteStopTransaction", b"RequestStartTransaction", b"RequestStopTransaction",
    b"ChangeConfiguration", b"GetConfiguration", b"ClearCache", b"UnlockConnector", b"TriggerMessage", b"Reset",
    b"SetChargingProfile", b"ChangeAvailability", b"GetVariables", b"SetVariables", b"GetBaseReport",
    b"UpdateFirmware", b"SendLocalList",
})  # fmt: skip
TEXT, BINARY = 1, 2
WHOLE_TEXT = 0x81  # the first byte of a text that is one frame


def upgrade(data: bytes, found: Findings) -> bool:
    """Read an HTTP message that opens a WebSocket; note OCPP when it names it. False when it opens none."""
    head = data.split(b"\r\n\r\n", 1)[0] + b"\r\n"
    if UPGRADE.search(head) is None:
        return False
    found.protocols.add("websocket")
    if SUBPROTOCOL.search(head) is not None:
        found.protocols.add("ocpp")
        asks = not head.startswith(b"HTTP/")
        found.signs(*((Sign.OCPP_STATION, Sign.OCPP_SYSTEM) if asks else (Sign.OCPP_SYSTEM, Sign.OCPP_STATION)))
    return True


def _text(data: bytes) -> bytes | None:
    """Return the text of one unfragmented WebSocket frame, unmasked (RFC 6455, 5.2); None when it is none."""
    if len(data) < 2 or data[0] & 0x70 or data[0] & 15 not in (0, TEXT, BINARY):
        return None
    size, at = data[1] & 0x7F, 2
    if size >= 126:
        width = 2 if size == 126 else 8
        size, at = int.from_bytes(data[2 : 2 + width], "big"), 2 + width
    if not data[1] & 0x80:
        return data[at : at + size]
    mask, body = data[at : at + 4], data[at + 4 : at + 4 + size]
    if len(mask) < 4:
        return None
    repeated = (mask * (len(body) // 4 + 1))[: len(body)]
    return (int.from_bytes(body, "big") ^ int.from_bytes(repeated, "big")).to_bytes(len(body), "big")


def _call(text: bytes, found: Findings) -> bool:
    called = CALL.match(text)
    if called is None:
        return False
    found.protocols.update(("websocket", "ocpp"))
    if called[1] in FROM_STATION:
        found.signs(Sign.OCPP_STATION, Sign.OCPP_SYSTEM)
    elif called[1] in FROM_SYSTEM:
        found.signs(Sign.OCPP_SYSTEM, Sign.OCPP_STATION)
    return True


def call(data: bytes, found: Findings) -> bool:
    """Read a WebSocket frame with an OCPP call, wherever it is met; an answer shows too little of itself for that."""
    text = _text(data)
    return text is not None and _call(text, found)


def ocpp(data: bytes, found: Findings) -> bool:
    """Read a WebSocket frame with an OCPP message: a call with its action, or the answer to one."""
    text = _text(data)
    if text is None:
        return False
    if _call(text, found):
        return True
    if ANSWER.match(text) is not None:
        found.protocols.update(("websocket", "ocpp"))
        return True
    return False
