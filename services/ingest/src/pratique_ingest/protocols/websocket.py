"""WebSocket (RFC 6455) as a stream: frames, their masks, and the messages in them as far as OCPP needs them."""

from typing import NamedTuple

from pratique_ingest.protocols.findings import Findings
from pratique_ingest.protocols.ocpp import is_call, ocpp

CONTINUATION, TEXT, BINARY, CLOSE, PONG = 0, 1, 2, 8, 10
FIN, COMPRESSED, RESERVED, CONTROL, MASKED = 0x80, 0x40, 0x30, 0x08, 0x80
# A call names its action within this many bytes; the rest of a message is passed over.
READ = 512
SMALLEST = 2
MAX_CONTROL = 125
WHOLE_TEXT = FIN | TEXT  # the first byte of a text that is one frame


class Frame(NamedTuple):
    """A frame's header: what stands in its first byte, where its payload begins, and the mask if there is one."""

    first: int
    start: int
    size: int
    mask: bytes


def _frame(data: bytes, at: int) -> Frame | None:
    """Read a header at `at`; None when it is cut. Raises ValueError when it cannot be one (section 5.2)."""
    if at + SMALLEST > len(data):
        return None
    first, second = data[at], data[at + 1]
    kind, size, start = first & 15, second & 0x7F, at + SMALLEST
    if kind not in (CONTINUATION, TEXT, BINARY, CLOSE, CLOSE + 1, PONG) or first & RESERVED:
        raise ValueError
    if kind & CONTROL and (size > MAX_CONTROL or not first & FIN or first & COMPRESSED):
        raise ValueError
    if size > MAX_CONTROL:
        width = 2 if size == MAX_CONTROL + 1 else 8
        size, start = int.from_bytes(data[start : start + width], "big"), start + width
    mask = data[start : start + 4] if second & MASKED else b""
    start += 4 if second & MASKED else 0
    if start > len(data):
        return None
    if size >> 63:
        raise ValueError
    return Frame(first, start, size, mask)


def _chain(data: bytes) -> bool:
    """Whether a segment is a chain of frames that ends where it does."""
    at = 0
    try:
        while at < len(data):
            frame = _frame(data, at)
            if frame is None:
                return False
            at = frame.start + frame.size
    except ValueError:
        return False
    return at == len(data)


def _unmasked(data: bytes, mask: bytes) -> bytes:
    repeated = (mask * (len(data) // 4 + 1))[: len(data)]
    return (int.from_bytes(data, "big") ^ int.from_bytes(repeated, "big")).to_bytes(len(data), "big")


def calls(data: bytes) -> bool:
    """Whether a segment begins with an OCPP call, in one frame; an answer shows too little of itself for that."""
    if not data or data[0] != WHOLE_TEXT:
        return False
    try:
        frame = _frame(data, 0)
    except ValueError:
        return False
    if frame is None:
        return False
    text = data[frame.start : frame.start + min(frame.size, READ)]
    return is_call(_unmasked(text, frame.mask) if frame.mask else text)


class WebSocket:
    """One direction of a connection; `known` says that its next byte begins a frame."""

    __slots__ = ("_frame", "_kept", "_known", "_left", "_message", "turned")

    def __init__(self, *, known: bool = False) -> None:
        self._known = known
        self._kept = b""
        self._frame: Frame | None = None
        self._left = 0
        # The beginning of the message that is being read; None when it cannot be read, or has been.
        self._message: bytes | None = None
        self.turned: str | None = None

    @property
    def size(self) -> int:
        """Bytes that are kept."""
        return len(self._kept) + len(self._message or b"")

    @property
    def idle(self) -> bool:
        """Whether nothing is known of where a frame begins."""
        return not self._known

    def rest(self) -> bytes:
        """Return nothing: this protocol does not turn to another."""
        return b""

    def take(self, data: bytes, found: Findings, *, begins: bool) -> None:
        """Read on; `begins` says that the data begins where a segment does, and so perhaps a frame."""
        if not self._known and not (begins and (_chain(data) or calls(data))):
            return
        self._known = True
        data, at = self._kept + data, 0
        while at < len(data):
            if self._frame is None:
                try:
                    frame = _frame(data, at)
                except ValueError:
                    self.lose(found)
                    return
                if frame is None:
                    break
                at = frame.start
                self._begin(frame)
            part = data[at : at + self._left]
            at += len(part)
            self._read(part, found)
        self._kept = data[at:]

    def _begin(self, frame: Frame) -> None:
        self._frame, self._left = frame, frame.size
        if frame.first & CONTROL:
            return
        if frame.first & 15 != CONTINUATION:
            # What is compressed (RFC 7692) is not read.
            self._message = None if frame.first & COMPRESSED else b""

    def _read(self, part: bytes, found: Findings) -> None:
        """Read a part of the frame, and the message when it is whole or long enough."""
        frame = self._frame
        if frame is None:
            return
        message = self._message
        if message is not None and not frame.first & CONTROL:
            wanted = part[: READ - len(message)]
            if frame.mask and wanted:
                turn = (frame.size - self._left) % 4
                wanted = _unmasked(wanted, frame.mask[turn:] + frame.mask[:turn])
            self._message = message + wanted
        self._left -= len(part)
        if not self._left:
            self._frame = None
        whole = not self._left and bool(frame.first & FIN) and not frame.first & CONTROL
        if self._message is not None and (whole or len(self._message) >= READ):
            found.messages += 1
            ocpp(self._message, found)
            self._message = None

    def skip(self, count: int, found: Findings) -> None:
        """Pass bytes that are missing: within a frame its message is lost, beyond it the place in the stream is."""
        if not self._known or self._frame is None or count > self._left:
            self.lose(found)
            return
        self._left -= count
        if not self._frame.first & CONTROL:
            self._message = None
        if not self._left:
            self._frame = None

    def lose(self, found: Findings) -> None:
        """Forget the place in the stream; what has come of a message is read."""
        if self._message:
            ocpp(self._message, found)
        self._known, self._kept, self._frame, self._left, self._message = False, b"", None, 0, None

    def close(self, found: Findings) -> None:
        """Read what waited for more: no more comes."""
        self.lose(found)
