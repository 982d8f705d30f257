"""The seeds of the fuzzers: conversations of the generated sample, one a protocol, and frames made by hand."""

import gzip
import io
import struct
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import zstandard

from pratique_ingest.capture.containers import open_capture
from pratique_ingest.survey import Examined, Survey
from pratique_local.sample import write_sample
from tests.unit.ingest import crafted, mixes
from tests.unit.ingest.test_hostile import FRAMES

MOST_FRAMES = 12  # of a conversation: enough for an opening and some messages, few enough to be read in milliseconds
LINKS = (1, 113, 276, 101, 228, 229, 0, 105, 12)


class Conversation(NamedTuple):
    """Frames of Ethernet between two hosts."""

    name: str
    frames: tuple[bytes, ...]


def conversations() -> list[Conversation]:
    """Return the first frames of two hosts that speak it, for every protocol of the sample, and the frames by hand."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sample.pcapng"
        write_sample(path, subscribers=2)
        read = list(_examined(path.read_bytes()))
    found = [Conversation("by-hand", tuple(FRAMES)), Conversation("tunnels", _tunnels())]
    for protocol in sorted({name for _, examined in read for name in examined.found.protocols}):
        where = next(number for number, (_, one) in enumerate(read) if protocol in one.found.protocols)
        ends = {read[where][1].source, read[where][1].destination}
        # From a little before the first message on: a stream's opening stands there.
        spoken = [number for number, (_, one) in enumerate(read) if {one.source, one.destination} == ends]
        first = max(0, spoken.index(where) - MOST_FRAMES // 2)
        chosen = spoken[first : first + MOST_FRAMES]
        found.append(Conversation(protocol, tuple(read[number][0] for number in chosen)))
    return found


def _examined(file: bytes) -> Iterator[tuple[bytes, Examined]]:
    survey, (_, capture) = Survey(), open_capture(io.BytesIO(file))
    for number, frame in enumerate(capture):
        examined = survey.examine(number, frame)
        if examined is not None:
            survey.follow(examined)
            survey.conclude(examined)
            yield frame.data, examined


def _tunnels() -> tuple[bytes, ...]:
    """A frame for each way of carrying a packet in a packet."""
    inner = crafted.ipv4("10.45.0.2", "192.0.2.1", 17, crafted.udp(53, 53, bytes(12)))
    frame = crafted.ethernet(inner)
    geneve, vxlan = b"\0\0\x65\x58" + bytes(4) + frame, bytes(8) + frame
    options = b"\x3c\0" + bytes(6) + b"\x11\0" + bytes(6) + bytes(8)
    head = struct.pack(">BBHI", 0x34, 255, 8 + len(inner), 1)
    return (
        *(crafted.ethernet(crafted.ipv4(crafted.GNB, crafted.UPF, 17, crafted.udp(2152, 2152, head[:8] + box + inner)))
          for box in mixes.CONTAINERS if box),
        crafted.ethernet(crafted.ipv4(crafted.GNB, crafted.UPF, 47, b"\0\0\x08\0" + inner)),
        crafted.ethernet(crafted.ipv4(crafted.GNB, crafted.UPF, 17, crafted.udp(1, 4789, vxlan))),
        crafted.ethernet(crafted.ipv4(crafted.GNB, crafted.UPF, 17, crafted.udp(1, 6081, geneve))),
        crafted.ethernet(inner, b"\x81\0\0\1", b"\x88\xa8\0\2"),
        crafted.ethernet(crafted.ipv6("2001:db8::1", "2001:db8::2", 0, options)),
    )  # fmt: skip


def classic(frames: list[bytes], link_type: int, order: str, magic: int) -> bytes:
    """Write a classic capture; the frames come as Ethernet and leave as their link type wants them."""
    return crafted.pcap([relinked(frame, link_type) for frame in frames], link_type, order, magic)


def blocks(frames: list[bytes], link_type: int, order: str) -> bytes:
    """Write a pcapng capture of one section."""
    parts = [crafted.section(order), crafted.interface(link_type, order)]
    ticks = crafted.START * 10**6
    parts += [
        crafted.enhanced(relinked(frame, link_type), ticks + number, 0, order) for number, frame in enumerate(frames)
    ]
    return b"".join(parts)


def relinked(frame: bytes, link_type: int) -> bytes:
    """Return a frame of Ethernet as one of another link type."""
    return frame if link_type == 1 else mixes.link(link_type, frame[14:], tags=0, broadcast=False)


Container = Callable[[list[bytes], int], bytes]
CONTAINERS: dict[str, Container] = {
    "pcap": lambda frames, link: classic(frames, link, "<", 0xA1B2C3D4),
    "pcap big-endian": lambda frames, link: classic(frames, link, ">", 0xA1B2C3D4),
    "pcap nanoseconds": lambda frames, link: classic(frames, link, "<", 0xA1B23C4D),
    "pcap modified": lambda frames, link: classic(frames, link, "<", 0xA1B2CD34),
    "pcapng": lambda frames, link: blocks(frames, link, "<"),
    "pcapng big-endian": lambda frames, link: blocks(frames, link, ">"),
    "gzip": lambda frames, link: gzip.compress(blocks(frames, link, "<"), 1, mtime=0),
    "zstd": lambda frames, link: zstandard.compress(classic(frames, link, "<", 0xA1B2C3D4), 1),
}


def seeds() -> dict[str, bytes]:
    """Return whole captures by name: each protocol once, each container once, each link type once."""
    spoken = conversations()
    some = [frame for one in spoken[:4] for frame in one.frames[:4]]
    whole = {one.name: classic(list(one.frames), 1, "<", 0xA1B2C3D4) for one in spoken}
    whole |= {name: write(some, 1) for name, write in CONTAINERS.items()}
    return whole | {f"link {link}": classic(some, link, "<", 0xA1B2C3D4) for link in LINKS}
