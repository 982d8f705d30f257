"""E2AP: what an E2 node and the Near-RT RIC say to each other (O-RAN.WG3.E2AP v01.01, E2SM-KPM v01.00)."""

import struct

from pratique_local.sample.aper import Bits, Criticality, Element, Outcome, element, pdu
from pratique_local.sample.subscribers import PLMN

PORT = 36421
_REJECT, _IGNORE = Criticality.REJECT, Criticality.IGNORE
_REQUEST, _SUCCESS = Outcome.INITIATING, Outcome.SUCCESSFUL
_SETUP, _INDICATION, _SUBSCRIPTION, _UPDATE = 1, 5, 8, 7
KPM = 2
_KPM_OID = "1.3.6.1.4.1.53148.1.1.2.2"


def _function(number: int) -> bytes:
    return struct.pack("!H", number)


def _list(items: list[bytes], ident: int, criticality: Criticality) -> bytes:
    """Return a list of 1..256 single containers."""
    return bytes([len(items) - 1]) + b"".join(element(ident, criticality, item) for item in items)


def _description() -> bytes:
    """Return what the KPM function says of itself: name, identifier and description, no styles."""
    return Bits().put(0, 3).name("ORAN-E2SM-KPM").name(_KPM_OID, 1000).name("KPM Monitor").put(0, 3).done()


def setup_request(gnb: int) -> bytes:
    """An E2 node introduces itself and offers to report performance (§9.1.2.2)."""
    node = Bits().put(0, 3).put(0, 3).put(0, 1).octets(PLMN).put(0, 1).put(2, 4).octets(gnb.to_bytes(3)).done()
    item = Bits().put(0, 1).octets(_function(KPM)).string(_description()).octets(_function(1)).done()
    return pdu(_REQUEST, _SETUP, _REJECT, [(3, _REJECT, node), (10, _REJECT, _list([item], 8, _REJECT))])


def setup_response(ric: int) -> bytes:
    """The RIC accepts the node and its function (§9.1.2.3)."""
    controller = Bits().put(0, 1).octets(PLMN).put(ric, 20).done()
    item = Bits().put(0, 1).octets(_function(KPM)).octets(_function(1)).done()
    return pdu(_SUCCESS, _SETUP, _REJECT, [(4, _REJECT, controller), (9, _REJECT, _list([item], 6, _IGNORE))])


def _request(requestor: int, instance: int) -> list[Element]:
    ident = Bits().put(0, 1).octets(struct.pack("!HH", requestor, instance)).done()
    return [(29, _REJECT, ident), (5, _REJECT, _function(KPM))]


def subscription_request(requestor: int, instance: int) -> bytes:
    """An xApp asks for reports (§9.1.1.1)."""
    trigger = Bits().put(0b001, 3).put(0, 4).put(0, 1).put(0, 1).put(13, 5).done()  # a report every 640 ms
    action = Bits().put(0, 3).octets(b"\x01").put(0, 3).done()
    details = Bits().put(0, 1).string(trigger).put(0, 4).octets(element(19, _IGNORE, action)).done()
    return pdu(_REQUEST, _SUBSCRIPTION, _REJECT, [*_request(requestor, instance), (30, _REJECT, details)])


def subscription_response(requestor: int, instance: int) -> bytes:
    """The node agrees (§9.1.1.2)."""
    admitted = Bits().put(0, 4).octets(element(14, _IGNORE, Bits().put(0, 1).octets(b"\x01").done())).done()
    return pdu(_SUCCESS, _SUBSCRIPTION, _REJECT, [*_request(requestor, instance), (17, _REJECT, admitted)])


def indication(requestor: int, instance: int, sequence: int, header: bytes, report: bytes) -> bytes:
    """A report (§9.1.1.4)."""
    elements = [
        *_request(requestor, instance),
        (15, _REJECT, b"\x01"),
        (27, _REJECT, struct.pack("!H", sequence)),
        (28, _REJECT, Bits().put(0, 2).done()),
        (25, _REJECT, Bits().string(header).done()),
        (26, _REJECT, Bits().string(report).done()),
    ]
    return pdu(_REQUEST, _INDICATION, _IGNORE, elements)


def _header() -> bytes:
    """Return a KPM header of format 1 that says which network the report is about."""
    return Bits().put(0, 2).put(0b001000, 6).octets(PLMN).done()


def _message(active: int) -> bytes:
    """Return a KPM report of a central unit: how many phones are active."""
    bits = Bits().put(0, 1).put(1, 1).put(0, 1).octets(b"\0\0")
    # Performance container only, of the central unit's control plane: no name, the number of phones.
    return bits.put(0b010, 3).put(1, 2).put(0, 1).put(1, 1).put(0, 1).octets(struct.pack("!H", active - 1)).done()


def report(requestor: int, instance: int, sequence: int, active: int) -> bytes:
    """Return an indication with one performance container: the number of active phones."""
    return indication(requestor, instance, sequence, _header(), _message(active))
