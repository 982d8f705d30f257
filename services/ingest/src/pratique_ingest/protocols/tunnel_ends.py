"""Tunnel ends: where NGAP says that the packets of a PDU session go on the user plane (TS 38.413, 9.3.4).

Each list of sessions holds items (the session's number, perhaps a NAS message and the slice), and each item a transfer
for the node at the other end, in which an address and a TEID name an end of the tunnel: the UPF's for what goes up, the
gNB's for what goes down.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from pratique_ingest.protocols.aper import Message, NotAper, elements
from pratique_ingest.protocols.bits import Bits
from pratique_ingest.protocols.findings import End, Slice

UPLINK_END, UPLINK_ENDS_TO_MODIFY = 139, 140
# A UE has no more than fifteen PDU sessions (TS 24.501, 9.4).
MAX_SESSIONS = 16
MAX_NAS, MAX_ENDS = 8, 32
# Where an address of both versions is given, that of version 4 stands first (TS 38.414, 5.1).
ADDRESSES = {32: ((0, 4),), 128: ((0, 16),), 160: ((0, 4), (4, 20))}
Place = tuple[bytes, int]
Transfer = Callable[[bytes], Iterator[tuple[bool, Place]]]


def network_slice(bits: Bits) -> Slice:
    """Read an S-NSSAI: the type stands among the options' bits, the differentiator is aligned."""
    extended, differentiated, more = bits.take(1), bits.take(1), bits.take(1)
    kind = bits.take(8)
    chosen = Slice.of(kind, bits.octets(3)) if differentiated else Slice(kind, None)
    if more and not extended:
        bits.extensions()
    return chosen


def _places(bits: Bits) -> list[Place]:
    """Read UPTransportLayerInformation: a GTP tunnel's address as a bit string of 1..160, and its TEID."""
    if bits.take(1):
        raise NotAper
    _, more, longer = bits.take(1), bits.take(1), bits.take(1)
    width = bits.take(8) + 1
    if longer or width not in ADDRESSES:
        raise NotAper
    address, teid = bits.octets(width // 8), int.from_bytes(bits.octets(4), "big")
    if more:
        bits.extensions()
    return [(address[first:last], teid) for first, last in ADDRESSES[width]]


def _of_ran(bits: Bits) -> Iterator[tuple[bool, Place]]:
    for place in _places(bits):
        yield True, place


def _of_core(bits: Bits) -> Iterator[tuple[bool, Place]]:
    for place in _places(bits):
        yield False, place


def _ordered(data: bytes) -> Iterator[tuple[bool, Place]]:
    """Setup and modify request transfers, which are lists of elements of their own."""
    for identity, value in elements(data, 1):
        bits = Bits(value)
        if identity == UPLINK_END:
            yield from _of_core(bits)
        elif identity == UPLINK_ENDS_TO_MODIFY:
            for _ in range(bits.take(2) + 1):
                _, more = bits.take(1), bits.take(1)
                yield from _of_core(bits)
                yield from _of_ran(bits)
                if more:
                    bits.extensions()


def _behind(options: int) -> Transfer:
    """A transfer that begins with the gNB's end, behind so many bits of options."""

    def read(data: bytes) -> Iterator[tuple[bool, Place]]:
        bits = Bits(data)
        bits.take(options)
        yield from _of_ran(bits)

    return read


def _modified(data: bytes) -> Iterator[tuple[bool, Place]]:
    bits = Bits(data)
    _, at_ran, at_core = bits.take(1), bits.take(1), bits.take(1)
    bits.take(4)
    if at_ran:
        yield from _of_ran(bits)
    if at_core:
        yield from _of_core(bits)


def _switched(data: bytes) -> Iterator[tuple[bool, Place]]:
    bits = Bits(data)
    _, at_core = bits.take(1), bits.take(1)
    bits.take(2)
    if at_core:
        yield from _of_core(bits)


class _List(NamedTuple):
    """What stands in the items of a list, beside the session's number."""

    transfer: Transfer
    nas: bool = False
    slice: bool = False


# By the id of the element (TS 38.413, 9.4.7). The options of a response stand before those of the flows per tunnel.
LISTS = {
    71: _List(_ordered, nas=True, slice=True), 74: _List(_ordered, nas=True, slice=True),
    73: _List(_ordered, slice=True), 64: _List(_ordered, nas=True), 65: _List(_modified), 77: _List(_switched),
    72: _List(_behind(5 + 2)), 75: _List(_behind(5 + 2)), 63: _List(_behind(3 + 2)), 76: _List(_behind(4)),
    53: _List(_behind(6)),
}  # fmt: skip


class _Item(NamedTuple):
    session: int
    nas: bytes | None
    slice: Slice | None
    transfer: bytes


def _items(value: bytes, shape: _List) -> Iterator[_Item]:
    bits = Bits(value)
    for _ in range(min(bits.take(8) + 1, MAX_SESSIONS)):
        extended, spoken = bits.take(1), bits.take(1) if shape.nas else 0
        more, session = bits.take(1), bits.octets(1)[0]
        nas = bits.string() if spoken else None
        chosen = network_slice(bits) if shape.slice else None
        yield _Item(session, nas, chosen, bits.string())
        if extended:
            return
        if more:
            bits.extensions()


def _item_ends(item: _Item, transfer: Transfer) -> Iterator[End]:
    try:
        for at_ran, (address, teid) in transfer(item.transfer):
            yield End(item.session, at_ran, address, teid, item.slice)
    except NotAper:  # what could be read before it stays
        return


def tunnel_ends(read: Message) -> tuple[tuple[End, ...], list[bytes]]:
    """Return the tunnel ends that a message names, and the NAS messages beside them."""
    ends: list[End] = []
    nas: list[bytes] = []
    for identity, value in read.elements:
        shape = LISTS.get(identity)
        if shape is None:
            continue
        try:
            for item in _items(value, shape):
                if item.nas is not None and len(nas) < MAX_NAS:
                    nas.append(item.nas)
                ends += _item_ends(item, shape.transfer)
        except NotAper:
            continue
    return tuple(ends[:MAX_ENDS]), nas
