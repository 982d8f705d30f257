"""Chunks: many frames of a capture at once, as columns over the bytes that hold them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from pratique_ingest.capture.frames import MAX_FRAME, Frame, FrameFile
from pratique_ingest.capture.lanes import SEARCHED, Bytes, Places, records, searched

# Empty frames are the exact reader's too: it counts how many follow each other.
# Bytes behind the last frame of a chunk, so that headers can be gathered without asking where the chunk ends.
MARGIN = 512
ENHANCED_PACKET, SIMPLE_PACKET = 6, 3
# A block that is read holds one frame and its options; other blocks are passed over, whatever their size.
MAX_BLOCK = MAX_FRAME + 65_536
# Blocks that change how later ones are read are the exact reader's: a section, an interface, the obsolete packet.
DECISIVE = (0x0A0D0D0A, 1, 2)
# More interfaces than this in one chunk are no recording of a network; the exact reader takes them.
MAX_FACES = 16
NANO = 1_000_000_000
LARGEST = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class Chunk:
    """Frames in the order of the file: where in `buffer` each begins and how long it is there and on the wire.

    `times` are epoch nanoseconds; `timed` is None where all frames have one, else says which.
    """

    buffer: Bytes
    links: Places
    times: Places
    lengths: Places
    starts: Places
    sizes: Places
    timed: npt.NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        return len(self.starts)

    def part(self, low: int, high: int) -> "Chunk":
        """Return some of the frames."""
        return Chunk(
            self.buffer, self.links[low:high], self.times[low:high], self.lengths[low:high], self.starts[low:high],
            self.sizes[low:high], None if self.timed is None else self.timed[low:high],
        )  # fmt: skip

    def frames(self, chosen: Places) -> Iterator[Frame]:
        """Yield some of the frames as the exact path takes them."""
        data = self.buffer.data
        columns = (self.links, self.times, self.lengths, self.starts, self.starts + self.sizes)
        timed = [True] * len(chosen) if self.timed is None else self.timed[chosen].tolist()
        rows = zip(*(column[chosen].tolist() for column in columns), timed, strict=True)
        for link_type, time, length, start, end, has_time in rows:
            yield Frame(link_type, time if has_time else None, length, bytes(data[start:end]))


class ChunkedFile(FrameFile, Protocol):
    """A capture file that also gives many frames at once."""

    def chunk(self, window: int, most: int) -> Chunk | None:
        """Take whole frames, at most so many, from about `window` bytes; None where only the exact reader can go on."""
        ...


class Face(NamedTuple):
    """Link type, cut length (0: none), and the clock: ticks a second and an offset in seconds."""

    link_type: int
    snaplen: int
    ticks: int
    offset: int


def _words(buffer: Bytes, order: str) -> npt.NDArray[np.uint32]:
    """View the 32-bit words that begin at every byte."""
    return np.ndarray((max(len(buffer) - 3, 0),), np.dtype(order + "u4"), buffer, 0, (1,))


def pcap_chunk(
    buffer: Bytes, at: int, most: int, order: str, tick: int, extra: int, link_type: int
) -> tuple[Chunk, int] | None:
    """Return at most so many frames of a classic pcap file from the record at `at` on, and how many bytes they take."""
    end, size = len(buffer) - MARGIN, 16 + extra
    if at >= end:
        return None
    words = _words(buffer, order)
    # Frames of one chunk were seen within 18 hours: the upper half of the seconds is the same, and rare elsewhere.
    upper = 2 if order == "<" else 0

    def step(places: Places) -> Places:
        captured = words[places + 8].astype(np.int64)
        following = places + size + captured
        return np.where((captured == 0) | (captured > MAX_FRAME) | (following > end), places, following)

    def guess(low: int, size: int, count: int) -> Places:
        like = searched(buffer, low + upper, size, count) == buffer[at + upper]
        like &= searched(buffer, low + upper + 1, size, count) == buffer[at + upper + 1]
        stretch, place = np.divmod(np.flatnonzero(like), SEARCHED)
        places: Places = low + stretch * size + place
        captured, length = words[places + 8], words[places + 12]
        likely = (captured <= length) & (captured <= MAX_FRAME) & (words[places + 4] < NANO // tick)
        return places[likely]

    places, stop = records(at, end, step, guess)
    if not len(places):
        return None
    if len(places) > most:
        places, stop = places[:most], int(places[most])
    fields = np.ndarray((len(buffer) - 15,), "V16", buffer, 0, (1,))[places]
    fields = fields.view(np.dtype(order + "u4")).reshape(-1, 4).astype(np.int64)
    times = fields[:, 0] * NANO + fields[:, 1] * tick
    links = np.full(len(places), link_type, dtype=np.int64)
    return Chunk(buffer, links, times, fields[:, 3].copy(), places + size, fields[:, 2].copy()), stop - at


def _times(ticks: npt.NDArray[np.uint64], face: Face) -> Places | None:
    """Turn a clock's ticks into epoch nanoseconds, rounded down; None where 64 bits might not hold them."""
    whole, rest = np.divmod(ticks, np.uint64(min(face.ticks, 1 << 63)))
    latest = int(whole.max()) + 1 + abs(face.offset)
    if face.ticks > LARGEST // NANO or latest * NANO > LARGEST:
        return None
    part = rest.astype(np.int64) * NANO // face.ticks
    return (whole.astype(np.int64) + face.offset) * NANO + part


def _places_of_blocks(buffer: Bytes, at: int, words: npt.NDArray[np.uint32]) -> tuple[Places, int]:
    end = len(buffer) - MARGIN
    lowest = 0 if words.dtype.byteorder in "<=" else 3  # where a word's lowest byte is

    def step(places: Places) -> Places:
        kind, length = words[places], words[places + 4].astype(np.int64)
        following = places + length
        fits = (length >= 12) & (length % 4 == 0) & (length <= MAX_BLOCK) & (following <= end)
        closed = words[np.where(fits, following - 4, 0)] == length
        return np.where(fits & closed & ~np.isin(kind, DECISIVE), following, places)

    def guess(low: int, size: int, count: int) -> Places:
        like = searched(buffer, low + lowest, size, count) == ENHANCED_PACKET
        like &= searched(buffer, low + 3 - lowest, size, count) == 0
        stretch, place = np.divmod(np.flatnonzero(like), SEARCHED)
        places: Places = low + stretch * size + place
        length = words[places + 4]
        likely = (words[places] == ENHANCED_PACKET) & ((places - at) % 4 == 0)  # blocks are whole words
        likely &= (length >= 32) & (length <= MAX_BLOCK) & (length % 4 == 0)
        chosen: Places = places[likely]
        return chosen

    return records(at, end, step, guess)


def _by_face(
    index: Places, ticks: npt.NDArray[np.uint64], simple: npt.NDArray[np.bool_], good: npt.NDArray[np.bool_],
    faces: Sequence[Face],
) -> tuple[Places, Places]:  # fmt: skip
    """Return link types and times; frames whose time needs more than 64 bits are marked in `good` as none."""
    links, times = np.zeros(len(index), dtype=np.int64), np.zeros(len(index), dtype=np.int64)
    for number, face in enumerate(faces):
        mine = np.flatnonzero((index == number) & good)
        links[mine] = face.link_type
        mine = mine[~simple[mine]]
        clock = _times(ticks[mine], face) if len(mine) else None
        if clock is None:
            good[mine] = False
        else:
            times[mine] = clock
    return links, times


def pcapng_chunk(buffer: Bytes, at: int, most: int, order: str, faces: Sequence[Face]) -> tuple[Chunk, int] | None:
    """Return at most so many frames of a pcapng section from the block at `at` on, and how many bytes they take.

    Blocks without frames are passed; the chunk ends before one that opens a section or an interface, or is untrue.
    """
    if at >= len(buffer) - MARGIN or not faces:
        return None
    words = _words(buffer, order)
    places, stop = _places_of_blocks(buffer, at, words)
    kinds = words[places]
    enhanced, simple = kinds == ENHANCED_PACKET, kinds == SIMPLE_PACKET
    bearing = enhanced | simple
    places, simple = places[bearing], simple[bearing]
    if not len(places):
        return None
    fields = np.ndarray((len(buffer) - 27,), "V28", buffer, 0, (1,))[places]
    table = fields.view(np.dtype(order + "u4")).reshape(-1, 7).astype(np.int64)
    room = table[:, 1] - np.where(simple, 16, 32)
    index = np.where(simple, 0, table[:, 2])
    captured = np.where(simple, np.minimum(table[:, 2], room), table[:, 5])
    snaplen = np.array([face.snaplen or LARGEST for face in faces[:MAX_FACES]])
    good = (room >= 0) & (index < min(len(faces), MAX_FACES)) & (captured <= room)
    captured = np.where(simple, np.minimum(captured, snaplen[0]), captured)
    good &= captured > 0
    ticks = table[:, 3].astype(np.uint64) << np.uint64(32) | table[:, 4].astype(np.uint64)
    links, times = _by_face(index, ticks, simple, good, faces[:MAX_FACES])
    count = min(len(good) if good.all() else int(np.argmin(good)), most)
    if not count:
        return None
    chunk = Chunk(
        buffer, links, times, np.where(simple, table[:, 2], table[:, 6]), places + np.where(simple, 12, 28), captured,
        ~simple if simple.any() else None,
    )  # fmt: skip
    return chunk.part(0, count), (stop if count == len(good) else int(places[count])) - at
