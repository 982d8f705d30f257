"""HTTP/2 (RFC 9113) as a stream: frames, the header blocks that they carry, and the bodies of their streams."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from pratique_ingest.protocols import sbi
from pratique_ingest.protocols.bodies import Body, Growth
from pratique_ingest.protocols.findings import Findings
from pratique_ingest.protocols.hpack import Field, Table, header_block
from pratique_ingest.protocols.written import Trail, text_identities

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
# Of a preface that is cut, this much must have come.
PREFACE_BEGUN = 14
# Frames (sections 4.1 and 6): type -> flags that may be set.
FRAME_FLAGS = {0: 0x09, 1: 0x2D, 2: 0, 3: 0, 4: 0x01, 5: 0x0C, 6: 0x01, 7: 0, 8: 0, 9: 0x04}
DATA, HEADERS, RESET, SETTINGS, PUSH, CONTINUATION = 0, 1, 3, 4, 5, 9
END_STREAM, END_HEADERS, PADDED, PRIORITY = 0x01, 0x04, 0x08, 0x20
ON_CONNECTION, ON_STREAM, FIXED_SIZES = frozenset({4, 6, 7}), frozenset({0, 1, 2, 3, 5, 9}), {2: 5, 3: 4, 6: 8, 8: 4}
# A frame has 16 KiB at most unless the receiver allows more; where the place in a stream is known, more is believed.
MAX_FRAME, MAX_DATA, MAX_BLOCK = 16_384, 1 << 20, 65_536
# Streams whose bodies are open at once; beyond, the oldest is forgotten.
MAX_BODIES = 64
FIELDS_A_MESSAGE = 4  # fields that cost as much as a message
HEADER: Final = 9
# What is missing between two frames and has one of these sizes is a frame that acknowledges, or opens the window (or
# closes a stream), or a ping: a header block of so few bytes adds nothing to a table. Filtered captures lack them.
CONTROL_FRAMES = frozenset({HEADER, HEADER + 4, HEADER + 8})
NOTHING: Final = Findings()


class Frame(NamedTuple):
    """A frame's header."""

    size: int
    kind: int
    flags: int
    stream: int


def _frame(data: bytes, at: int, largest: int = MAX_FRAME) -> Frame | None:
    """Read a frame's header; None when it cannot be one."""
    size, kind, flags = int.from_bytes(data[at : at + 3], "big"), data[at + 3], data[at + 4]
    stream = int.from_bytes(data[at + 5 : at + 9], "big")
    if kind not in FRAME_FLAGS or flags & ~FRAME_FLAGS[kind] or stream >> 31 or size > largest:
        return None
    if (kind in ON_CONNECTION and stream) or (kind in ON_STREAM and not stream) or size != FIXED_SIZES.get(kind, size):
        return None
    if kind == SETTINGS and size % 6:
        return None
    return Frame(size, kind, flags, stream)


def _ends(data: bytes) -> Iterator[int]:
    """Yield the stated end of each frame, as long as they can be frames."""
    at = len(PREFACE) if data.startswith(PREFACE) else 0
    while at + HEADER <= len(data):
        frame = _frame(data, at)
        if frame is None:
            return
        at += HEADER + frame.size
        yield at


def opens(data: bytes) -> bool:
    """Whether a segment begins a connection: with the preface, or most of it."""
    return data.startswith(PREFACE) or (len(data) >= PREFACE_BEGUN and PREFACE.startswith(data))


def http2(data: bytes) -> bool:
    """Whether a segment is a chain of HTTP/2 frames from its first byte on: it may be older than the capture.

    The chain must close at the segment's end, or at least its second frame go on in the next segment.
    """
    if opens(data):
        return True
    ends = list(_ends(data))
    return bool(ends) and (ends[-1] == len(data) or (ends[-1] > len(data) and len(ends) > 1))


def _said(field: Field) -> Findings:
    """Read a header field by itself."""
    found = Findings()
    text_identities(field[1], found)
    sbi.field(*field, found)
    return found if found.identities or found.protocols or found.sender or found.receiver else NOTHING


class Http2:
    """One direction of a connection; `known` says that its next byte begins a frame, or the preface."""

    __slots__ = (
        "_block",
        "_bodies",
        "_ending",
        "_growth",
        "_kept",
        "_known",
        "_left",
        "_stream",
        "_table",
        "_trail",
        "turned",
    )

    def __init__(self, *, known: bool = False) -> None:
        self._known = known
        self._kept = b""
        # The body that is being read: its stream, the bytes left of its frame, and whether they are the last.
        self._stream, self._left, self._ending = 0, 0, False
        # A header block whose other frames are awaited.
        self._block: bytes | None = None
        self._bodies: dict[int, Body] = {}
        self._growth = Growth()
        self._table = Table()
        self._trail = Trail()
        self.turned: str | None = None

    @property
    def size(self) -> int:
        """Bytes that are kept."""
        kept = len(self._kept) + self._table.cost + len(self._block or b"") + len(self._trail.tail)
        return kept + sum(body.size for body in self._bodies.values()) if self._bodies else kept

    @property
    def idle(self) -> bool:
        """Whether nothing is known of where a frame begins."""
        return not self._known

    def rest(self) -> bytes:
        """Return nothing: this protocol does not turn to another."""
        return b""

    def take(self, data: bytes, found: Findings, *, begins: bool) -> None:
        """Read on; `begins` says that the data begins where a segment does, and so perhaps a frame."""
        if not self._known:
            if not (begins and http2(data)):
                self._trail.take(data, found)
                return
            self._trail.cut()
            self._known = True
        data = self._kept + data if self._kept else data
        at = self._preface(data)
        if at == len(data) and len(data) < len(PREFACE):
            self._kept = data
            return
        while at < len(data):
            if self._left:
                at = self._body(data, at, found)
                continue
            if at + HEADER > len(data):
                break
            frame = _frame(data, at, MAX_DATA)
            if frame is None or not self._follows(frame):
                self.lose(found)
                self._trail.take(data[at:], found)
                return
            end = at + HEADER + frame.size
            if frame.kind == DATA and not frame.flags & PADDED:
                self._open(frame)
                if not frame.size:
                    self._filled(found)
                end = at + HEADER
            elif end > len(data):
                break
            else:
                self._whole(frame, data[at + HEADER : end], found)
            at = end
        self._kept = data[at:]

    def _preface(self, data: bytes) -> int:
        """Return where the frames begin: behind the preface, or behind all when that is still coming."""
        if self._left or self._block is not None or data[:1] != b"P":
            return 0
        if data.startswith(PREFACE):
            return len(PREFACE)
        return len(data) if PREFACE.startswith(data) else 0

    def _follows(self, frame: Frame) -> bool:
        """Whether a frame may come here: a header block is not interrupted (section 4.3), and has a bound."""
        if (self._block is None) == (frame.kind == CONTINUATION):
            return False
        return frame.kind == DATA or frame.size + len(self._block or b"") <= MAX_BLOCK

    def _open(self, frame: Frame) -> None:
        """Begin to read the data of a stream."""
        self._stream, self._left, self._ending = frame.stream, frame.size, bool(frame.flags & END_STREAM)

    def _of(self, stream: int) -> Body:
        body = self._bodies.get(stream)
        if body is None:
            if len(self._bodies) >= MAX_BODIES:
                del self._bodies[next(iter(self._bodies))]
            body = self._bodies[stream] = Body(self._growth)
        return body

    def _body(self, data: bytes, at: int, found: Findings) -> int:
        """Read what there is of a body; return where it ends."""
        part = data[at : at + self._left]
        self._left -= len(part)
        self._of(self._stream).take(part, found)
        if not self._left:
            self._filled(found)
        return at + len(part)

    def _filled(self, found: Findings) -> None:
        """Close a stream's body with its last frame."""
        if self._ending:
            self._end(self._stream, found)

    def _end(self, stream: int, found: Findings) -> None:
        body = self._bodies.pop(stream, None)
        if body is not None:
            body.end(found)

    def _whole(self, frame: Frame, payload: bytes, found: Findings) -> None:
        """Read a frame that is not data, or is padded."""
        if frame.kind == RESET:
            self._bodies.pop(frame.stream, None)
        elif frame.kind == CONTINUATION:
            self._headers(frame, (self._block or b"") + payload, found)
        elif frame.kind in (DATA, HEADERS, PUSH):
            if frame.flags & PADDED:
                payload = payload[1 : max(len(payload) - payload[0], 1)] if payload else b""
            if frame.kind == DATA:
                self._of(frame.stream).take(payload, found)
                if frame.flags & END_STREAM:
                    self._end(frame.stream, found)
                return
            before = 4 if frame.kind == PUSH else 5 if frame.flags & PRIORITY else 0
            self._headers(frame, payload[before:], found)
            if frame.kind == HEADERS and frame.flags & END_STREAM:
                self._end(frame.stream, found)

    def _headers(self, frame: Frame, block: bytes, found: Findings) -> None:
        """Read a header block once it is whole (section 6.10)."""
        if not frame.flags & END_HEADERS:
            self._block = block
            return
        self._block = None
        read = header_block(block, self._table)
        found.messages += 1 + len(read.fields) // FIELDS_A_MESSAGE
        if not read.whole:
            found.troubles.append("hpack-state-unknown")
        for field in read.fields:
            said = self._table.said(field)
            if said is None:
                said = _said(field)
                self._table.remember(field, said)
            if said is not NOTHING:
                found.join(said)

    def skip(self, count: int, found: Findings) -> None:
        """Pass bytes that are missing: within a body's frame, or one small frame; else place and table are lost."""
        if self._known and count in CONTROL_FRAMES and not (self._left or self._kept or self._block is not None):
            return
        if not self._known or count > self._left:
            self.lose(found)
            return
        self._left -= count
        self._of(self._stream).skip()
        if not self._left:
            self._filled(found)

    def lose(self, found: Findings) -> None:  # noqa: ARG002 - other readers have something to say
        """Forget the place in the stream, and all that depends on it."""
        self._known, self._kept, self._left, self._block = False, b"", 0, None
        self._bodies.clear()
        self._table.forget()
        self._trail.cut()

    def close(self, found: Findings) -> None:
        """Read what waited for more: no more comes."""
        self._trail.end(found)
        for body in self._bodies.values():
            body.end(found)
        self._bodies.clear()
