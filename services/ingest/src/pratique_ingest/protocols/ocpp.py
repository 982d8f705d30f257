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


def is_call(text: bytes) -> bool:
    """Whether a message calls something."""
    return CALL.match(text) is not None


def ocpp(text: bytes, found: Findings) -> bool:
    """Read the beginning of a message: a call with its action, or the answer to one; False when it is none."""
    if (call := CALL.match(text)) is not None:
        found.protocols.update(("websocket", "ocpp"))
        if call[1] in FROM_STATION:
            found.signs(Sign.OCPP_STATION, Sign.OCPP_SYSTEM)
        elif call[1] in FROM_SYSTEM:
            found.signs(Sign.OCPP_SYSTEM, Sign.OCPP_STATION)
        return True
    if ANSWER.match(text) is not None:
        found.protocols.update(("websocket", "ocpp"))
        return True
    return False
