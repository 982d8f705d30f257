"""The charging corner: stations that speak OCPP 1.6, some 2.0.1, over WebSocket to their central system."""

import json

from pratique_local.sample import websocket
from pratique_local.sample.lab import Lab
from pratique_local.sample.tcp import Connection
from pratique_local.sample.topology import CENTRAL_SYSTEM, STATIONS
from pratique_local.sample.wire import Steps

_OLD, _NEW = "ocpp1.6", "ocpp2.0.1"
_CALL, _RESULT = 2, 3
_NOON = "2025-03-03T09:00:00Z"

Fields = dict[str, object]


def start(lab: Lab) -> None:
    """Switch the stations on, one after another."""
    for number, ip in enumerate(STATIONS, 1):
        lab.wire.start(Station(lab, ip, number).steps(), after=5 + 3.7 * number)


class Station:
    """One charging station and its connection."""

    def __init__(self, lab: Lab, ip: str, number: int) -> None:
        self._lab = lab
        self._number = number
        self._name = f"CS-{number:03d}"
        self._calls = 0
        self._protocol = _NEW if number % 4 == 0 else _OLD
        self._link = Connection(lab.wire, lab.client(ip), CENTRAL_SYSTEM)

    def steps(self) -> Steps:
        """Connect, boot, say what the connectors do, charge a car at some stations, stay alive."""
        yield from self._connect()
        accepted: Fields = {"status": "Accepted", "currentTime": _NOON, "interval": 60}
        yield from self._call("BootNotification", self._boot(), accepted)
        for connector in (0, 1):
            yield from self._status(connector, "Available")
        if self._number % 3 == 1:
            yield 60
            yield from self._charge_anew() if self._protocol == _NEW else self._charge()
        for _ in range(4):
            yield 60
            yield from self._call("Heartbeat", {}, {"currentTime": _NOON})
        payload = self._name.encode("ascii")
        self._link.send(self._link.client, websocket.ping(self._lab.chance, payload), acknowledged=False)
        yield 0.01
        self._link.send(self._link.server, websocket.pong(payload))

    def _connect(self) -> Steps:
        nonce = self._lab.chance.randbytes(16)
        host = f"{CENTRAL_SYSTEM.ip}:{CENTRAL_SYSTEM.port}"
        self._link.open()
        hello = websocket.upgrade(host, f"/ocpp/{self._name}", self._protocol, nonce)
        self._link.send(self._link.client, hello, acknowledged=False)
        yield 0.01
        self._link.send(self._link.server, websocket.switching(self._protocol, nonce))
        yield 0.5

    def _call(self, action: str, fields: Fields, answer: Fields) -> Steps:
        self._calls += 1
        ident = f"{self._number}-{self._calls}"
        call = json.dumps([_CALL, ident, action, fields], separators=(",", ":"))
        self._link.send(self._link.client, websocket.text_from_client(self._lab.chance, call), acknowledged=False)
        yield 0.02
        result = json.dumps([_RESULT, ident, answer], separators=(",", ":"))
        self._link.send(self._link.server, websocket.text_from_server(result))
        yield 0.3

    def _status(self, connector: int, status: str) -> Steps:
        fields: Fields = {"connectorId": connector, "errorCode": "NoError", "status": status, "timestamp": _NOON}
        if self._protocol == _NEW:
            state = "Occupied" if status == "Charging" else status
            fields = {"timestamp": _NOON, "connectorStatus": state, "evseId": connector, "connectorId": connector}
        yield from self._call("StatusNotification", fields, {})

    def _boot(self) -> Fields:
        serial, version = f"LV{self._number:06d}", "1.6.4"
        if self._protocol == _NEW:
            station: Fields = {"model": "LV-150", "vendorName": "LabVolt", "serialNumber": serial}
            return {"reason": "PowerUp", "chargingStation": {**station, "firmwareVersion": "2.0.1"}}
        return {
            "chargePointVendor": "LabVolt",
            "chargePointModel": "LV-22",
            "chargePointSerialNumber": serial,
            "firmwareVersion": version,
        }

    def _charge_anew(self) -> Steps:
        """Charge a car as version 2.0.1 tells it: one kind of event from the beginning of a transaction to its end."""
        token: Fields = {"idToken": {"idToken": f"TAG{self._number:05d}", "type": "ISO14443"}}
        granted: Fields = {"idTokenInfo": {"status": "Accepted"}}
        yield from self._call("Authorize", token, granted)
        moments = (("Started", "Authorized"), *[("Updated", "MeterValuePeriodic")] * 3, ("Ended", "StopAuthorized"))
        for number, (event, reason) in enumerate(moments):
            value = [{"timestamp": _NOON, "sampledValue": [{"value": 1000 + 250 * number}]}]
            told: Fields = {
                "eventType": event,
                "timestamp": _NOON,
                "triggerReason": reason,
                "seqNo": number,
                "transactionInfo": {"transactionId": f"TX{self._number:05d}"},
                "meterValue": value,
            }
            yield from self._call("TransactionEvent", {**told, **token} if number == 0 else told, {})
            yield 45

    def _charge(self) -> Steps:
        tag: Fields = {"idTag": f"TAG{self._number:05d}"}
        granted: Fields = {"idTagInfo": {"status": "Accepted"}}
        yield from self._call("Authorize", tag, granted)
        begin: Fields = {"connectorId": 1, **tag, "meterStart": 1000, "timestamp": _NOON}
        yield from self._call("StartTransaction", begin, {"transactionId": self._number, **granted})
        yield from self._status(1, "Charging")
        for sample in range(1, 4):
            yield 45
            value = {"value": str(1000 + 250 * sample), "measurand": "Energy.Active.Import.Register", "unit": "Wh"}
            meter = [{"timestamp": _NOON, "sampledValue": [value]}]
            reading: Fields = {"connectorId": 1, "transactionId": self._number, "meterValue": meter}
            yield from self._call("MeterValues", reading, {})
        end: Fields = {"transactionId": self._number, "meterStop": 1750, "timestamp": _NOON}
        yield from self._call("StopTransaction", end, granted)
        yield from self._status(1, "Available")
