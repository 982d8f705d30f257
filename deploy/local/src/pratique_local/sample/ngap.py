"""NGAP: what a gNB and its AMF say to each other (3GPP TS 38.413)."""

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address

from pratique_local.sample.aper import Bits, Criticality, Element, Outcome, container, pdu
from pratique_local.sample.subscribers import AMF_POINTER, AMF_REGION, AMF_SET, PLMN, SLICES, Slice

_REJECT, _IGNORE = Criticality.REJECT, Criticality.IGNORE
_REQUEST, _SUCCESS = Outcome.INITIATING, Outcome.SUCCESSFUL
_DOWNLINK_NAS, _INITIAL_CONTEXT, _INITIAL_UE, _NG_SETUP, _PATH_SWITCH, _SESSION_SETUP = 4, 14, 15, 21, 25, 29
_RELEASE, _RELEASE_REQUEST, _UPLINK_NAS = 41, 42, 46


@dataclass(frozen=True)
class Cell:
    """Where a phone is: gNB, cell and tracking area."""

    gnb: int
    area: int

    def location(self) -> bytes:
        """Return the NR form of UserLocationInformation (§9.3.1.16)."""
        bits = Bits().put(1, 2).put(0, 4).octets(PLMN).align().put(self.gnb << 12 | 1, 36).put(0, 2)
        return bits.octets(PLMN).octets(self.area.to_bytes(3)).done()


@dataclass(frozen=True)
class Pair:
    """The two names of one phone on one N2 interface."""

    amf: int
    ran: int

    def elements(self, criticality: Criticality = _REJECT) -> list[Element]:
        """Return both names as protocol IEs."""
        return [(10, criticality, Bits().integer(self.amf, 5).done()), (85, criticality, _ran(self.ran))]


def _ran(ident: int) -> bytes:
    return Bits().integer(ident, 4).done()


def _octets(data: bytes) -> bytes:
    return Bits().string(data).done()


def _snssai(bits: Bits, chosen: Slice) -> Bits:
    return bits.put(0b010, 3).put(chosen.sst, 8).octets(chosen.sd.to_bytes(3))


def _guami(bits: Bits) -> Bits:
    return bits.put(0, 2).octets(PLMN).put(AMF_REGION, 8).put(AMF_SET, 10).put(AMF_POINTER, 6)


def _tunnel(bits: Bits, address: str, teid: int) -> Bits:
    return bits.put(0, 4).put(31, 8).octets(IPv4Address(address).packed).octets(teid.to_bytes(4))


def _supported_slices(bits: Bits, slices: Sequence[Slice]) -> Bits:
    bits.octets(struct.pack("!H", len(slices) - 1))
    for each in slices:
        _snssai(bits.put(0, 2), each)
    return bits


def setup_request(cell: Cell, name: str, slices: Sequence[Slice] = SLICES) -> bytes:
    """A gNB introduces itself (§9.2.6.1)."""
    node = Bits().put(0, 4).octets(PLMN).put(0, 1).put(2, 4).octets(cell.gnb.to_bytes(3)).done()
    areas = Bits().octets(b"\0").put(0, 2).octets(cell.area.to_bytes(3)).put(0, 4).put(0, 2).octets(PLMN)
    return pdu(
        _REQUEST,
        _NG_SETUP,
        _REJECT,
        [
            (27, _REJECT, node),
            (82, _IGNORE, Bits().name(name).done()),
            (102, _REJECT, _supported_slices(areas, slices).done()),
            (21, _IGNORE, Bits().put(2, 3).done()),
        ],
    )


def setup_response(amf: str, slices: Sequence[Slice] = SLICES) -> bytes:
    """The AMF accepts a gNB (§9.2.6.2)."""
    served = _guami(Bits().octets(b"\0").put(0, 3)).done()
    supported = Bits().put(0, 4).put(0, 2).octets(PLMN)
    return pdu(
        _SUCCESS,
        _NG_SETUP,
        _REJECT,
        [
            (1, _REJECT, Bits().name(amf).done()),
            (96, _REJECT, served),
            (86, _IGNORE, b"\xff"),
            (80, _REJECT, _supported_slices(supported, slices).done()),
        ],
    )


def initial_ue_message(ran: int, cell: Cell, nas: bytes, tmsi: int | None, *, reduced: bool = False) -> bytes:
    """A phone's first message (§9.2.5.1), with its 5G-S-TMSI if it has one; `reduced` says that it is a RedCap UE."""
    elements: list[Element] = [
        (85, _REJECT, _ran(ran)),
        (38, _REJECT, _octets(nas)),
        (121, _REJECT, cell.location()),
        (90, _IGNORE, Bits().put(3, 5).done()),
    ]
    if tmsi is not None:
        short = Bits().put(0, 2).put(AMF_SET, 10).put(AMF_POINTER, 6).octets(tmsi.to_bytes(4))
        elements.append((26, _REJECT, short.done()))
    elements.append((112, _IGNORE, b"\0"))
    if reduced:
        elements.append((333, _IGNORE, b"\0"))
    return pdu(_REQUEST, _INITIAL_UE, _IGNORE, elements)


def downlink(pair: Pair, nas: bytes) -> bytes:
    """NAS on its way down (§9.2.5.2)."""
    return pdu(_REQUEST, _DOWNLINK_NAS, _IGNORE, [*pair.elements(), (38, _REJECT, _octets(nas))])


def uplink(pair: Pair, cell: Cell, nas: bytes) -> bytes:
    """NAS on its way up (§9.2.5.3)."""
    return pdu(
        _REQUEST,
        _UPLINK_NAS,
        _IGNORE,
        [*pair.elements(), (38, _REJECT, _octets(nas)), (121, _IGNORE, cell.location())],
    )


def _allowed(chosen: Slice) -> bytes:
    return _snssai(Bits().put(0, 3).put(0, 2), chosen).done()


def _capabilities() -> bytes:
    """Return the algorithms of a phone: all of 5G's, none of 4G's (§9.3.1.86)."""
    capabilities = Bits().put(0, 2)
    for algorithms in (0xE000, 0xE000, 0, 0):
        capabilities.put(0, 1).put(algorithms, 16)
    return capabilities.done()


def initial_context_request(pair: Pair, chosen: Slice, key: bytes, nas: bytes) -> bytes:
    """The AMF gives the gNB what it needs to serve a phone (§9.2.2.1)."""
    return pdu(
        _REQUEST,
        _INITIAL_CONTEXT,
        _REJECT,
        [
            *pair.elements(),
            (28, _REJECT, _guami(Bits()).done()),
            (0, _REJECT, _allowed(chosen)),
            (119, _REJECT, _capabilities()),
            (94, _REJECT, key),
            (38, _IGNORE, _octets(nas)),
        ],
    )


def initial_context_response(pair: Pair) -> bytes:
    """The gNB is ready to serve the phone (§9.2.2.2)."""
    return pdu(_SUCCESS, _INITIAL_CONTEXT, _REJECT, pair.elements(_IGNORE))


def session_setup_request(pair: Pair, chosen: Slice, upf: tuple[str, int], nas: bytes) -> bytes:
    """The AMF orders radio resources for PDU session 1, whose uplink goes to `upf` (§9.2.1.1, §9.3.4.1)."""
    flow = Bits().put(0, 6).put(0, 3).put(0, 1).put(1, 6).put(0, 5).put(0, 2).put(0, 5).put(0, 1).octets(b"\x09")
    flow.put(0, 2).put(7, 4).put(0, 2).put(0, 2)
    transfer = container(
        [
            (139, _REJECT, _tunnel(Bits(), *upf).done()),
            (134, _REJECT, b"\0"),
            (136, _REJECT, flow.done()),
        ]
    )
    item = Bits().octets(b"\0").put(0b010, 3).octets(b"\x01").string(nas)
    _snssai(item, chosen).string(transfer)
    return pdu(_REQUEST, _SESSION_SETUP, _REJECT, [*pair.elements(), (74, _REJECT, item.done())])


def session_setup_response(pair: Pair, gnb: tuple[str, int]) -> bytes:
    """The gNB says where the downlink of PDU session 1 goes (§9.2.1.2, §9.3.4.2)."""
    transfer = _tunnel(Bits().put(0, 7), *gnb).put(0, 6).put(0, 3).put(0, 1).put(1, 6)
    item = Bits().octets(b"\0").put(0, 2).octets(b"\x01").string(transfer.done())
    return pdu(_SUCCESS, _SESSION_SETUP, _REJECT, [*pair.elements(_IGNORE), (75, _IGNORE, item.done())])


def path_switch_request(pair: Pair, source: Pair, cell: Cell, gnb: tuple[str, int]) -> bytes:
    """A phone has come from another gNB; the downlink of PDU session 1 goes to `gnb` from now on (§9.2.3.8)."""
    accepted = Bits().put(0, 4)
    transfer = _tunnel(accepted, *gnb).put(0, 6).put(0, 2).put(0, 1).put(1, 6)
    item = Bits().octets(b"\0").put(0, 2).octets(b"\x01").string(transfer.done())
    return pdu(
        _REQUEST,
        _PATH_SWITCH,
        _REJECT,
        [
            (85, _REJECT, _ran(pair.ran)),
            (100, _REJECT, Bits().integer(source.amf, 5).done()),
            (121, _IGNORE, cell.location()),
            (119, _IGNORE, _capabilities()),
            (76, _REJECT, item.done()),
        ],
    )


def path_switch_acknowledge(pair: Pair, chosen: Slice, key: bytes) -> bytes:
    """The AMF agrees; the uplink stays where it was (§9.2.3.9)."""
    context = Bits().put(0, 2).put(1, 3).octets(key)
    item = Bits().octets(b"\0").put(0, 2).octets(b"\x01").string(Bits().put(0, 4).done())
    return pdu(
        _SUCCESS,
        _PATH_SWITCH,
        _REJECT,
        [
            *pair.elements(_IGNORE),
            (93, _REJECT, context.done()),
            (77, _IGNORE, item.done()),
            (0, _REJECT, _allowed(chosen)),
        ],
    )


def release_request(pair: Pair) -> bytes:
    """The gNB asks to let an idle phone go: radio network cause, user inactivity (§9.2.2.4)."""
    return pdu(
        _REQUEST, _RELEASE_REQUEST, _IGNORE, [*pair.elements(), (15, _IGNORE, Bits().put(0, 4).put(20, 6).done())]
    )


def release_command(pair: Pair) -> bytes:
    """The AMF lets a phone go: NAS cause, deregister (§9.2.2.5)."""
    both = Bits().put(0, 4).integer(pair.amf, 5).integer(pair.ran, 4).done()
    cause = Bits().put(2, 3).put(2, 3).done()
    return pdu(_REQUEST, _RELEASE, _REJECT, [(114, _REJECT, both), (15, _IGNORE, cause)])


def release_complete(pair: Pair) -> bytes:
    """The gNB has let the phone go (§9.2.2.6)."""
    return pdu(_SUCCESS, _RELEASE, _REJECT, pair.elements(_IGNORE))
