"""Link layers: where in a frame of a given link type the outermost IP header begins.

Own walks instead of dpkt's classes: those parse every nested layer at once, recurse without a bound on IP in IP, and
know neither NFLOG, C-HDLC nor stacks of tags. The names are libpcap's (tcpdump.org/linktypes.html).
"""

from collections.abc import Callable
from typing import Final, Literal, NamedTuple

from dpkt import ethernet, ppp

LINK_NAMES = {
    0: "NULL", 1: "EN10MB", 6: "IEEE802", 8: "SLIP", 9: "PPP", 10: "FDDI", 12: "RAW", 14: "RAW", 50: "PPP_SERIAL",
    51: "PPP_ETHER", 101: "RAW", 104: "C_HDLC", 105: "IEEE802_11", 107: "FRELAY", 108: "LOOP", 113: "LINUX_SLL",
    117: "PFLOG", 127: "IEEE802_11_RADIO", 141: "IPNET", 166: "PPP_PPPD", 187: "BLUETOOTH_HCI_H4", 192: "PPI",
    195: "IEEE802_15_4", 204: "PPP_WITH_DIR", 227: "CAN_SOCKETCAN", 228: "IPV4", 229: "IPV6", 239: "NFLOG",
    249: "USBPCAP", 253: "NETLINK", 258: "PKTAP", 276: "LINUX_SLL2",
}  # fmt: skip
BYTE_ORDERS: Final[tuple[Literal["little"], Literal["big"]]] = ("little", "big")
# Tags and labels that one frame may stack before it is given up (the deepest one seen in practice has three).
MAX_STACK = 32

IPV4, IPV6, NO_IP = 4, 6, 0
VLAN_TAGS = frozenset({0x8100, 0x88A8, 0x9100, 0x9200, 0x9300})
PBB, NSH, ETAG, VNTAG, ECPRI = 0x88E7, 0x894F, 0x893F, 0x8926, 0xAEFE
MPLS = frozenset({ethernet.ETH_TYPE_MPLS, ethernet.ETH_TYPE_MPLS_MCAST})
TRANSPARENT_ETHERNET, MACSEC = 0x6558, 0x88E5
NAMED = {
    ethernet.ETH_TYPE_ARP: "arp", ethernet.ETH_TYPE_REVARP: "rarp", ethernet.ETH_TYPE_LLDP: "lldp", ECPRI: "ecpri",
    ethernet.ETH_TYPE_PPPoE_DISC: "pppoe", 0x88F7: "ptp", 0x888E: "eapol", 0x8809: "slow",
}  # fmt: skip
NSH_NEXT = {1: ethernet.ETH_TYPE_IP, 2: ethernet.ETH_TYPE_IP6, 3: TRANSPARENT_ETHERNET, 5: ethernet.ETH_TYPE_MPLS}
# BSD systems disagree on the number of IPv6 in a loopback header (NetBSD 24, FreeBSD 28, macOS 30, Linux 10).
LOOPBACK_IPV6 = frozenset({10, 24, 28, 30})


class Place(NamedTuple):
    """Version (4, 6, or 0 for none) and offset of the outermost IP header; `name` is the protocol found instead."""

    version: int
    offset: int
    name: str


def _nowhere(name: str) -> Place:
    return Place(NO_IP, 0, name)


def _by_version(frame: bytes, at: int) -> Place:
    """IP by the first four bits of its header: the type field before it is right more often than not, but no proof."""
    if at < len(frame):
        version = frame[at] >> 4
        if version in (IPV4, IPV6):
            return Place(version, at, "ip")
    return _nowhere("bad-ip")


def _word(frame: bytes, at: int) -> int:
    return frame[at] << 8 | frame[at + 1]


def _mpls(frame: bytes, at: int) -> tuple[int, int] | Place:
    """Pass a label stack (RFC 3032); behind it stands IP, or Ethernet after a control word of zero (RFC 4448)."""
    for _ in range(MAX_STACK):
        bottom = frame[at + 2] & 1
        at += 4
        if bottom:
            break
    else:
        return _nowhere("mpls")
    nibble = frame[at] >> 4
    if nibble in (IPV4, IPV6):
        return Place(nibble, at, "ip")
    return (TRANSPARENT_ETHERNET, at + 4) if nibble == 0 else _nowhere("mpls")


def _nsh(frame: bytes, at: int) -> tuple[int, int] | Place:
    """Pass a Network Service Header (RFC 8300): its length stands in words."""
    following = NSH_NEXT.get(frame[at + 3])
    return _nowhere("nsh") if following is None else (following, at + (frame[at + 1] & 0x3F) * 4)


def _macsec(frame: bytes, at: int) -> tuple[int, int] | Place:
    """Pass a SecTAG that protects without hiding (IEEE 802.1AE, 9.3: neither E nor C is set)."""
    if frame[at] & 0x0C:
        return _nowhere("macsec")
    start = at + (14 if frame[at] & 0x20 else 6)
    return _word(frame, start), start + 2


def _llc(frame: bytes, at: int) -> tuple[int, int] | Place:
    """IEEE 802.2: IP by its own SAP, or an EtherType behind SNAP."""
    sap = frame[at]
    if sap == 0x06:
        return _by_version(frame, at + 3)
    if sap == 0xAA and frame[at + 1] == 0xAA:
        return (_word(frame, at + 6), at + 8)
    return _nowhere("llc")


def _ppp(frame: bytes, at: int) -> tuple[int, int] | Place:
    """PPP's protocol field of one or two bytes, perhaps behind address and control (RFC 1661, 1662)."""
    if frame[at] == 0xFF and frame[at + 1] == 0x03:
        at += 2
    protocol, at = (frame[at], at + 1) if frame[at] & 1 else (_word(frame, at), at + 2)
    if protocol in (ppp.PPP_IP, ppp.PPP_IP6):
        return _by_version(frame, at)
    return (ethernet.ETH_TYPE_MPLS, at) if protocol == 0x0281 else _nowhere("ppp")


def _one_type(frame: bytes, kind: int, at: int) -> tuple[int, int] | Place:
    """Pass one header of EtherType `kind` that begins at `at`; return the next type and offset, or the end."""
    if kind in (ethernet.ETH_TYPE_IP, ethernet.ETH_TYPE_IP6):
        return _by_version(frame, at)
    if kind in VLAN_TAGS:
        return _word(frame, at + 2), at + 4
    if kind in MPLS:
        return _mpls(frame, at)
    if kind == ethernet.ETH_TYPE_PPPoE:
        return _ppp(frame, at + 6)
    if kind == TRANSPARENT_ETHERNET:
        return _word(frame, at + 12), at + 14
    if kind == PBB:
        return _word(frame, at + 16), at + 18
    if kind == NSH:
        return _nsh(frame, at)
    if kind == MACSEC:
        return _macsec(frame, at)
    if kind in (VNTAG, ETAG):
        size = 4 if kind == VNTAG else 6
        return _word(frame, at + size), at + size + 2
    if kind <= 1500:
        return _llc(frame, at)
    return _nowhere(NAMED.get(kind, "other"))


def ethertype(frame: bytes, kind: int, at: int) -> Place:
    """Follow tags, labels and session headers from EtherType `kind` at offset `at` to the first IP header."""
    step: tuple[int, int] | Place = (kind, at)
    for _ in range(MAX_STACK):
        if isinstance(step, Place):
            return step
        step = _one_type(frame, *step)
    return step if isinstance(step, Place) else _nowhere("too-deep")


def _ethernet(frame: bytes) -> Place:
    return ethertype(frame, frame[12] << 8 | frame[13], 14)


def _sll(frame: bytes) -> Place:
    kind = _word(frame, 14)
    return ethertype(frame, 1 if kind == 4 else kind, 16)  # 4: 802.2 follows


def _sll2(frame: bytes) -> Place:
    kind = _word(frame, 0)
    return ethertype(frame, 1 if kind == 4 else kind, 20)


def _loopback(frame: bytes) -> Place:
    """An address family in the byte order of the machine that captured, or an EtherType in its last two bytes."""
    for order in BYTE_ORDERS:
        family = int.from_bytes(frame[:4], order)
        if family == 2 or family in LOOPBACK_IPV6:
            return _by_version(frame, 4)
    return ethertype(frame, _word(frame, 2), 4) if _word(frame, 2) > 1500 else _nowhere("other")


def _raw(frame: bytes) -> Place:
    return _by_version(frame, 0)


def _c_hdlc(frame: bytes) -> Place:
    return ethertype(frame, _word(frame, 2), 4) if _word(frame, 2) != 0x8035 else _nowhere("slarp")


def _point_to_point(frame: bytes) -> Place:
    if frame[0] in (0x0F, 0x8F):  # Cisco HDLC under the link type of PPP
        return _c_hdlc(frame)
    step = _ppp(frame, 0)
    return step if isinstance(step, Place) else ethertype(frame, *step)


def _session(frame: bytes) -> Place:
    """A PPPoE session without its Ethernet header (RFC 2516, 4)."""
    return ethertype(frame, ethernet.ETH_TYPE_PPPoE, 0)


def _directed_ppp(frame: bytes) -> Place:
    step = _ppp(frame, 1)
    return step if isinstance(step, Place) else ethertype(frame, *step)


def _nflog(frame: bytes) -> Place:
    """Attributes of length, type and value in the order of the machine that captured; the packet is attribute 9."""
    order = BYTE_ORDERS[0 if frame[4] | frame[5] << 8 <= len(frame) else 1]
    at = 4
    while at + 4 <= len(frame):
        size, kind = int.from_bytes(frame[at : at + 2], order), int.from_bytes(frame[at + 2 : at + 4], order) & 0x7FFF
        if kind == 9:
            return _by_version(frame, at + 4)
        if size < 4:
            break
        at += size + 3 & ~3
    return _nowhere("nflog")


def _fddi(frame: bytes) -> Place:
    step = _llc(frame, 13) if frame[0] & 0xF8 == 0x50 else _nowhere("fddi")
    return step if isinstance(step, Place) else ethertype(frame, *step)


def _token_ring(frame: bytes) -> Place:
    """Access and frame control, addresses, and a route when the source address says so (IEEE 802.5)."""
    step = _llc(frame, 14 + (frame[14] & 0x1F if frame[8] & 0x80 else 0))
    return step if isinstance(step, Place) else ethertype(frame, *step)


def _wireless(frame: bytes, at: int) -> Place:
    """A data frame of IEEE 802.11 in clear: its header grows with four addresses, QoS and HT fields."""
    control, flags = frame[at], frame[at + 1]
    if control & 0x0C != 0x08 or control & 0x40 or flags & 0x40:
        return _nowhere("802.11")
    size = 24 + (6 if flags & 3 == 3 else 0) + (2 if control & 0x80 else 0) + (4 if control & flags & 0x80 else 0)
    step = _llc(frame, at + size)
    return step if isinstance(step, Place) else ethertype(frame, *step)


def _wlan(frame: bytes) -> Place:
    return _wireless(frame, 0)


def _radiotap(frame: bytes) -> Place:
    return _wireless(frame, frame[2] | frame[3] << 8)


def _behind(frame: bytes, size: int, inner: int, name: str) -> Place:
    """Pass a header that names the link type of what follows; another such header is none."""
    if inner not in LOCATORS or inner in WRAPPERS:
        return _nowhere(name)
    place = LOCATORS[inner](frame[size:])
    return place._replace(offset=place.offset + size) if place.version else place


def _pktap(frame: bytes) -> Place:
    """Apple's header: its length and the link type of what follows."""
    size, inner = int.from_bytes(frame[:4], "little"), int.from_bytes(frame[8:12], "little")
    return _behind(frame, size, inner, "pktap") if size >= PKTAP_SIZE else _nowhere("pktap")


def _ppi(frame: bytes) -> Place:
    """The Per-Packet Information header: version, flags, its length and the link type of what follows."""
    size, inner = int.from_bytes(frame[2:4], "little"), int.from_bytes(frame[4:8], "little")
    return _behind(frame, size, inner, "ppi") if size >= PPI_SIZE and not frame[0] else _nowhere("ppi")


PKTAP_SIZE, PPI_SIZE = 12, 8
WRAPPERS = frozenset({192, 258})
LOCATORS: dict[int, Callable[[bytes], Place]] = {
    0: _loopback, 1: _ethernet, 6: _token_ring, 9: _point_to_point, 10: _fddi, 12: _raw, 14: _raw,
    50: _point_to_point, 51: _session, 101: _raw, 104: _c_hdlc, 105: _wlan, 108: _loopback, 113: _sll, 127: _radiotap,
    166: _directed_ppp, 192: _ppi, 204: _directed_ppp, 228: _raw, 229: _raw, 239: _nflog, 258: _pktap, 276: _sll2,
}  # fmt: skip


def link_name(link_type: int) -> str:
    """Return libpcap's name of a link type, or its number."""
    if 147 <= link_type <= 162:
        return f"USER{link_type - 147}"
    return LINK_NAMES.get(link_type, str(link_type))


def outermost(link_type: int, frame: bytes) -> Place:
    """Return where the outermost IP header of a frame stands; a header that is cut makes no host."""
    locate = LOCATORS.get(link_type)
    if locate is None:
        return _nowhere("unknown-link")
    try:
        return locate(frame)
    except IndexError:
        return _nowhere("cut-header")
