"""F1AP: what a distributed unit and its central unit say to each other (3GPP TS 38.473)."""

from pratique_local.sample import rrc
from pratique_local.sample.aper import Bits, Criticality, Element, Outcome, pdu
from pratique_local.sample.subscribers import PLMN

PORT = 38472
_REJECT, _IGNORE = Criticality.REJECT, Criticality.IGNORE
_REQUEST, _SUCCESS = Outcome.INITIATING, Outcome.SUCCESSFUL_OF_FOUR
_SETUP, _INITIAL_UPLINK, _DOWNLINK, _UPLINK = 1, 11, 12, 13


def _transaction(number: int) -> Element:
    return (78, _REJECT, Bits().put(0, 1).octets(bytes([number])).done())


def _version(ident: int) -> Element:
    return (ident, _REJECT, Bits().put(0, 2).put(0, 3).done())


def setup_request(number: int, unit: int, name: str) -> bytes:
    """A distributed unit introduces itself (§9.2.1.4)."""
    elements = [
        _transaction(number),
        (42, _REJECT, Bits().integer(unit, 5).done()),
        (45, _IGNORE, Bits().name(name).done()),
        _version(171),
    ]
    return pdu(_REQUEST, _SETUP, _REJECT, elements)


def setup_response(number: int, name: str) -> bytes:
    """The central unit accepts it (§9.2.1.5)."""
    return pdu(
        _SUCCESS, _SETUP, _REJECT, [_transaction(number), (82, _IGNORE, Bits().name(name).done()), _version(170)]
    )


def _names(central: int, distributed: int) -> list[Element]:
    return [(40, _REJECT, Bits().integer(central, 4).done()), (41, _REJECT, Bits().integer(distributed, 4).done())]


def _contained(message: bytes) -> Element:
    return (50, _REJECT, Bits().string(message).done())


def initial_uplink(distributed: int, gnb: int, rnti: int, chance: int) -> bytes:
    """Carry RRCSetupRequest up (§9.2.3.1)."""
    cell = Bits().put(0, 2).octets(PLMN).put(gnb << 12 | 1, 36).done()
    elements = [
        (41, _REJECT, Bits().integer(distributed, 4).done()),
        (111, _REJECT, cell),
        (95, _REJECT, Bits().put(0, 1).octets(rnti.to_bytes(2)).done()),
        _contained(rrc.setup_request(chance)),
    ]
    return pdu(_REQUEST, _INITIAL_UPLINK, _IGNORE, elements)


def downlink(central: int, distributed: int) -> bytes:
    """Carry RRCSetup down on SRB0 (§9.2.3.2)."""
    elements = [
        *_names(central, distributed),
        (64, _REJECT, Bits().put(0, 1).put(0, 2).done()),
        _contained(rrc.setup()),
    ]
    return pdu(_REQUEST, _DOWNLINK, _IGNORE, elements)


def uplink(central: int, distributed: int, nas: bytes) -> bytes:
    """Carry RRCSetupComplete, and with it the first NAS message, up on SRB1 (§9.2.3.3)."""
    srb1 = (64, _REJECT, Bits().put(0, 1).put(1, 2).done())
    elements = [*_names(central, distributed), srb1, _contained(rrc.setup_complete(nas))]
    return pdu(_REQUEST, _UPLINK, _IGNORE, elements)
