"""Captures by chance: every kind of frame that one of the two paths treats in a way of its own, in any order."""

import gzip
import struct

from hypothesis import strategies as st

from tests.unit.ingest import crafted

ADDRESSES = ["10.0.0.1", "10.0.0.2", "10.0.0.3"]
LONG_ADDRESSES = ["2001:db8::1", "2001:db8::2", "ff02::1"]
PORTS = [443, 80, 7777, 22, 3868, 5060, 40_000, 40_001]
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
SETTINGS = b"\0\0\0\4\0\0\0\0\0"
TCP_PAYLOADS = [
    b"", b"\x16\3\1\0\5hello", b"\x17\3\3\0\5world", b"\x16\3",
    b"GET /nudm-sdm/v2/imsi-001010000000001 HTTP/1.1\r\n\r\n",
    b"GET /ocpp HTTP/1.1\r\nUpgrade: websocket\r\nSec-WebSocket-Protocol: ocpp1.6\r\n\r\n",
    b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n", b"HTTP/1.1 200 OK\r\n\r\nimsi-001010000000002",
    b"SSH-2.0-OpenSSH", b"REGISTER sip:ims SIP/2.0\r\n", b"SIP/2.0 200 OK", PREFACE + SETTINGS, SETTINGS,
    b"\0\0\5\0\0\0\0\0\1imsi-", b"\0\0\2\0\0\0\0\0\1", b"ABC nothing", b"imsi-001010000000003", bytes(12),
    b"\1\0\0\x14\x80\0\1\x3c\0\0\0\0\0\0\0\0\0\0\0\0", b'\x81\x1a[2,"1","Heartbeat",{}]    ', b"\xff" * 20,
    b'\x81\x96\0\0\0\0[2,"1","Heartbeat",{}]', b'\x81\x7e\2\0[2,"1","Heartbeat",{', b"\x81\x03abc",
    PREFACE[:14], PREFACE[14:], b"\0\0\x06\1\4\0\0\0\1\x44\4/abc", b"\0\0\3\1\5\0\0\0\3\x82\xbe\xbf",
    b"\0\0\x1b\1\4\0\0\0\5\x44\x19/x/imsi-001010000000004/", b"\0\0\x18\0\1\0\0\0\5\"imsi-001010000000005\"\0\0",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nimsi-\r\n", b"f\r\n001010000000006\r\n0\r\n\r\n",
    b"POST /x HTTP/1.1\r\nContent-Length: 30\r\n\r\n", b'\x01\x0a[2,"1","Hear', b'\x80\x0atbeat",{}] ',
    gzip.compress(b'{"supi":"imsi-001010000000007"}', mtime=0),
]  # fmt: skip
UDP_PAYLOADS = [
    b"", b"x", b"\0\1\1\0\0\1\0\0\0\0\0\0", b"\0\1\x81\x80\0\1\0\0\0\0\0\0", b"\0\1\x81\x80\xff\1\0\0\0\0\0\0",
    b"\x48\1\0\x11\0\0\0\0\0\0\1\0\1\0\5\0\x00\x10\x10\x00\x00", b"\x20\1\0\4\0\0\0\0",
    bytes(30), b"\x24" + bytes(47), b"\x1b" + bytes(47),
]  # fmt: skip
UDP_PORTS = [53, 67, 123, 443, 500, 2123, 3386, 3544, 4789, 5060, 6081, 8805, 9899, 40_000, 40_001]
CONTAINERS = [
    None, b"\0\0\0\0", b"\0\0\0\x85\1\x10\1\0", b"\0\0\0\x85\1\0\1\0", b"\0\0\0\x85\2\0\1\0\0\0\0\0",
    b"\0\0\0\x85\0\x10\1\0", b"\0\0\0\x85\1\x10\1\x40\1\0\0\0", b"\0\0\0\x40\1\0\0\0", b"\0\0\0\x85\3\x10\1\0",
]  # fmt: skip


def _addressed(protocol: int, payload: st.SearchStrategy[bytes]) -> st.SearchStrategy[bytes]:
    """IP packets of both versions around payloads."""
    short, long = st.sampled_from(ADDRESSES), st.sampled_from(LONG_ADDRESSES)
    return st.one_of(
        st.builds(crafted.ipv4, short, short, st.just(protocol), payload),
        st.builds(crafted.ipv6, long, long, st.just(protocol), payload),
    )


@st.composite
def segments(draw: st.DrawFn) -> bytes:
    ports = draw(st.sampled_from(PORTS)), draw(st.sampled_from(PORTS))
    flags = draw(st.sampled_from([2, 18, 16, 24, 17, 4]))
    sequence = draw(st.one_of(st.integers(1, 40), st.integers(1, 200), st.just(1 << 31)))
    return crafted.tcp(*ports, draw(st.sampled_from(TCP_PAYLOADS)), sequence, flags, draw(st.integers(0, 200)))


@st.composite
def datagrams(draw: st.DrawFn) -> bytes:
    whole = crafted.udp(
        draw(st.sampled_from(UDP_PORTS)), draw(st.sampled_from(UDP_PORTS)), draw(st.sampled_from(UDP_PAYLOADS))
    )
    length = draw(st.sampled_from([None, None, None, 0, 7, 9, 60_000]))
    return whole if length is None else whole[:4] + struct.pack(">H", length) + whole[6:]


def associations() -> st.SearchStrategy[bytes]:
    registration = bytes.fromhex("000f40050000") + bytes(6)
    chunks = st.sampled_from([
        crafted.chunk(registration, 60), crafted.chunk(b"part", 60, flags=2),
        crafted.chunk(b"rest", 60, flags=1, tsn=2),
        b"\3\0\0\x10" + bytes(12), b"\4\0\0\6\0\1\0\0", b"\3\0\0\0",
    ])  # fmt: skip
    ports = st.sampled_from([38412, 36412, 36421, 50_000])
    return st.builds(
        lambda one, other, parts: crafted.sctp(one, other, *parts), ports, ports, st.lists(chunks, max_size=3)
    )


def plain_packets() -> st.SearchStrategy[bytes]:
    others = st.sampled_from([1, 50, 51, 47, 4, 41, 58, 89, 0, 60])
    noise = st.binary(max_size=30)
    return st.one_of(
        _addressed(6, segments()), _addressed(17, datagrams()), _addressed(6, segments()),
        _addressed(132, associations()),
        others.flatmap(lambda protocol: _addressed(protocol, noise)),
    )  # fmt: skip


@st.composite
def gtpu(draw: st.DrawFn, inner: st.SearchStrategy[bytes]) -> bytes:
    packet, container = draw(inner), draw(st.sampled_from(CONTAINERS))
    body = (container or b"") + packet
    flags, kind = (
        0x30 if container is None else draw(st.sampled_from([0x34, 0x34, 0x32])),
        draw(st.sampled_from([255] * 6 + [1])),
    )
    length = draw(st.sampled_from([len(body)] * 5 + [0, 30, 60_000]))
    ports = draw(st.sampled_from([(2152, 2152), (2152, 40_000), (53, 2152)]))
    return crafted.udp(*ports, struct.pack(">BBHI", flags, kind, length, 1) + body)


@st.composite
def packets(draw: st.DrawFn) -> bytes:
    """One IP packet, perhaps damaged: fragments, options, lying and missing lengths."""
    tunnels = _addressed(17, gtpu(plain_packets()))
    nested = _addressed(17, gtpu(st.one_of(tunnels, st.binary(max_size=8))))
    packet = draw(st.one_of(plain_packets(), tunnels, tunnels, nested))
    if packet[0] >> 4 == 4:
        match draw(st.integers(0, 14)):
            case 0:  # a fragment
                packet = packet[:6] + struct.pack(">H", draw(st.sampled_from([0x2000, 0x2001, 0x0001]))) + packet[8:]
            case 1:  # options
                packet = b"\x46" + packet[1:20] + bytes(4) + packet[20:]
            case 2:  # no total length, or one that is none
                packet = packet[:2] + struct.pack(">H", draw(st.sampled_from([0, 10, 24, 30, 65_535]))) + packet[4:]
    return packet


def link(link_type: int, packet: bytes, tags: int, broadcast: bool) -> bytes:
    """A frame of a link type around a packet."""
    kind = b"\x86\xdd" if packet[:1] and packet[0] >> 4 == 6 else b"\x08\0"
    match link_type:
        case 1:
            addresses = (b"\xff" * 6 if broadcast else b"\2" * 6) + b"\2" * 6
            return addresses + b"\x81\0\0\1" * tags + kind + packet
        case 113:
            return bytes(14) + kind + packet
        case 276:
            return kind + bytes(18) + packet
        case 0:
            return (struct.pack("<I", 2) if kind == b"\x08\0" else struct.pack(">I", 30)) + packet
    return packet


LINKS = [1, 1, 1, 113, 276, 101, 228, 0, 105]


@st.composite
def frames(draw: st.DrawFn, link_type: int) -> bytes:
    tags = draw(st.sampled_from([0] * 8 + [1, 2, 3]))
    frame = link(link_type, draw(packets()), tags, broadcast=draw(st.integers(0, 19)) == 0)
    return frame[: draw(st.integers(0, len(frame)))] if draw(st.integers(0, 15)) == 0 else frame


@st.composite
def pcap_files(draw: st.DrawFn) -> bytes:
    link_type, order = draw(st.sampled_from(LINKS)), draw(st.sampled_from("<>"))
    magic = draw(st.sampled_from([0xA1B2C3D4, 0xA1B23C4D, 0xA1B2CD34]))
    file = crafted.pcap(draw(st.lists(frames(link_type), min_size=15, max_size=50)), link_type, order, magic)
    return file[: -draw(st.integers(1, 60))] if draw(st.integers(0, 5)) == 0 else file


@st.composite
def pcapng_files(draw: st.DrawFn) -> bytes:
    order = draw(st.sampled_from("<>"))
    links = draw(st.lists(st.sampled_from(LINKS), min_size=1, max_size=3))
    # Nanoseconds, 2^20 ticks, ten picoseconds, and an offset in seconds.
    options = [b"", struct.pack(order + "HHBxxx", 9, 1, 9), struct.pack(order + "HHBxxx", 9, 1, 0x94)]
    options += [struct.pack(order + "HHBxxx", 9, 1, 11), struct.pack(order + "HHq", 14, 8, -3600)]
    faces = [
        crafted.interface(one, order, draw(st.sampled_from(options)), draw(st.sampled_from([0, 90]))) for one in links
    ]
    parts = [crafted.section(order), *faces]
    for number in range(draw(st.integers(15, 50))):
        index = draw(st.integers(0, len(links) - 1))
        frame, kind = draw(frames(links[index])), draw(st.integers(0, 29))
        if kind == 0:
            parts.append(crafted.block(5, bytes(12), order))
        elif kind == 1:
            parts.append(crafted.block(3, struct.pack(order + "I", len(frame)) + frame, order))
        elif kind == 2:
            parts += [crafted.section(order), *faces]
        ticks = draw(st.sampled_from([number, 1_767_225_600_000_000 + number, 1 << 62]))
        parts.append(crafted.enhanced(frame, ticks, index, order))
    file = b"".join(parts)
    return file[: -draw(st.integers(1, 60))] if draw(st.integers(0, 5)) == 0 else file
