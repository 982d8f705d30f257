"""HTTP/1.1 (RFC 9112) as a stream: heads, and bodies by their length, in chunks, or up to the end."""

import re
from enum import Enum, auto

from pratique_ingest.protocols import ocpp, sbi
from pratique_ingest.protocols.bodies import Body, Growth
from pratique_ingest.protocols.findings import Findings
from pratique_ingest.protocols.written import Trail, text_identities

END, LINE = b"\r\n\r\n", b"\r\n"
MAX_HEAD, MAX_LINE = 16_384, 256
# In heads that have been made small.
CONTENT_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]{0,16}([0-9]{1,12})[ \t]{0,16}\r\n")
CHUNKED = re.compile(rb"\r\ntransfer-encoding:[^\r\n]{0,128}\bchunked[ \t]{0,16}\r\n")
UPGRADE = b"\r\nupgrade:"
# RFC 9113 no longer has this upgrade; RFC 7540, 3.2 does.
TO_HTTP2 = re.compile(rb"\r\nupgrade:[ \t]{0,16}h2c[ \t]{0,16}\r\n")
SWITCHING = re.compile(rb"HTTP/1\.1 101[ \r]")
WITHOUT_BODY = re.compile(rb"HTTP/1\.[01] (?:1\d\d|204|304)[ \r]")
CHUNK = re.compile(rb"(?:\r\n)?([0-9a-fA-F]{1,8})[ \t]{0,16}(?:;[^\r\n]*)?\r\n")


def begins(data: bytes) -> bool:
    """Whether data begins with a message: its first line is there."""
    return sbi.REQUEST.match(data) is not None or sbi.RESPONSE.match(data) is not None


class _At(Enum):
    LOST = auto()
    HEAD = auto()
    LENGTH = auto()
    CHUNK = auto()
    CHUNK_DATA = auto()
    TRAILER = auto()
    CLOSE = auto()


class Http1:
    """One direction of a connection."""

    __slots__ = ("_at", "_body", "_growth", "_kept", "_left", "_trail", "_untouched", "turned")

    def __init__(self) -> None:
        self._at = _At.LOST
        self._kept = b""
        self._left = 0
        self._untouched = False
        self._growth = Growth()
        self._body = Body(self._growth)
        self._trail = Trail()
        self.turned: str | None = None

    @property
    def size(self) -> int:
        """Bytes that are kept."""
        return len(self._kept) + self._body.size + len(self._trail.tail)

    @property
    def idle(self) -> bool:
        """Whether the next byte begins a message, or nothing is known of where one begins."""
        return self._at is _At.LOST or (self._at is _At.HEAD and not self._kept)

    def rest(self) -> bytes:
        """Return what follows the head that turned the connection."""
        return self._kept

    def take(self, data: bytes, found: Findings, *, begins: bool) -> None:
        """Read on; `begins` says that the data begins where a segment does."""
        if begins and self._may_be_next() and _is_message(data):
            self._finish(found)
            self._at = _At.HEAD
        while data and self.turned is None:
            match self._at:
                case _At.LOST:
                    self._trail.take(data, found)
                    return
                case _At.CLOSE:
                    self._body.take(data, found)
                    return
                case _At.HEAD:
                    data = self._head(data, found)
                case _At.LENGTH:
                    data = self._counted(data, found)
                case _At.CHUNK | _At.CHUNK_DATA:
                    data = self._chunked(data, found)
                case _At.TRAILER:
                    data = self._trailer(data)
        self._kept += data

    def _may_be_next(self) -> bool:
        """Whether a message may begin here: the answer to HEAD states a length and has no body (RFC 9110, 9.3.2)."""
        return self._at in (_At.LOST, _At.CLOSE) or (self._at is _At.LENGTH and self._untouched)

    def _head(self, data: bytes, found: Findings) -> bytes:
        data = self._kept + data
        if not self._kept:
            data = data.lstrip(LINE)
        self._kept = b""
        end = data.find(END)
        if end < 0 and len(data) <= MAX_HEAD and data[:1].isupper():
            self._kept = data
            return b""
        if end < 0 or not sbi.http1(data[: end + 4], found):
            self._at = _At.LOST
            self._trail.take(data, found)
            return b""
        head, rest = data[: end + 4], data[end + 4 :]
        found.messages += 1
        text_identities(head, found)
        self._follow(head, found)
        return rest

    def _follow(self, head: bytes, found: Findings) -> None:
        """Decide what follows a head."""
        small = head.lower()
        if UPGRADE in small:
            websocket = ocpp.upgrade(head, found)
            if SWITCHING.match(head) is not None:
                self.turned = "websocket" if websocket else "http2" if TO_HTTP2.search(small) is not None else None
        length = CONTENT_LENGTH.search(small)
        if WITHOUT_BODY.match(head) is not None:
            self._at = _At.HEAD
        elif CHUNKED.search(small) is not None:
            self._at = _At.CHUNK
        elif length is not None:
            self._left, self._untouched = int(length[1]), True
            self._at = _At.LENGTH if self._left else _At.HEAD
        else:
            self._at = _At.CLOSE if head.startswith(b"HTTP/") else _At.HEAD
        if self._at is not _At.HEAD:
            self._body = Body(self._growth)

    def _counted(self, data: bytes, found: Findings) -> bytes:
        """Read the bytes of a body that are counted."""
        part = data[: self._left]
        self._left -= len(part)
        self._untouched = False
        self._body.take(part, found)
        self._counted_out(found)
        return data[len(part) :]

    def _counted_out(self, found: Findings) -> None:
        if self._left:
            return
        if self._at is _At.LENGTH:
            self._finish(found)
            self._at = _At.HEAD
        else:
            self._at = _At.CHUNK

    def _chunked(self, data: bytes, found: Findings) -> bytes:
        """Read chunks (RFC 9112, 7.1); what they hold is one text, however small they are."""
        data, self._kept, at = self._kept + data, b"", 0
        parts: list[bytes] = []
        while at < len(data):
            if self._at is _At.CHUNK:
                begun, at = at, self._chunk(data, at)
                if at == begun:
                    break
            if self._at is _At.TRAILER:
                break
            parts.append(data[at : at + self._left])
            at += len(parts[-1])
            self._left -= len(parts[-1])
            self._counted_out(found)
        self._body.take(b"".join(parts), found)
        return self._behind_chunks(data[at:], found)

    def _chunk(self, data: bytes, at: int) -> int:
        """Read the line that gives a chunk's size, behind the line's end of the chunk before; return where it ends."""
        line = CHUNK.match(data, at)
        if line is None:
            return at
        self._left = int(line[1], 16)
        self._at = _At.CHUNK_DATA if self._left else _At.TRAILER
        return line.end()

    def _behind_chunks(self, rest: bytes, found: Findings) -> bytes:
        """End the body with its last chunk, and keep the line of a size that is still coming."""
        if self._at is _At.TRAILER:
            self._body.end(found)
            return rest
        line = rest.removeprefix(LINE)
        if b"\n" in line or len(line) > MAX_LINE:
            self.lose(found)
            self._trail.take(line, found)
        else:
            self._kept = rest
        return b""

    def _trailer(self, data: bytes) -> bytes:
        """Pass the fields behind the last chunk, up to an empty line."""
        data = self._kept + data
        self._kept = b""
        if data.startswith(LINE):
            self._at = _At.HEAD
            return data[2:]
        end = data.find(END)
        if end >= 0:
            self._at = _At.HEAD
            return data[end + 4 :]
        if len(data) > MAX_HEAD:
            self._at = _At.LOST
        else:
            self._kept = data
        return b""

    def _finish(self, found: Findings) -> None:
        """Read what waits for the end of a message."""
        self._trail.end(found)
        self._body.end(found)

    def skip(self, count: int, found: Findings) -> None:
        """Pass bytes that are missing: within a body that is known to go on behind them, else the place is lost."""
        if self._at is _At.CLOSE:
            self._body.skip()
        elif self._at in (_At.LENGTH, _At.CHUNK_DATA) and count <= self._left:
            self._body.skip()
            self._left -= count
            self._untouched = False
            self._counted_out(found)
        else:
            self.lose(found)

    def lose(self, found: Findings) -> None:
        """Forget the place in the stream; what has come of a head is read."""
        kept, self._kept = self._kept, b""
        if self._at is _At.HEAD and kept:
            sbi.http1(kept, found)
            text_identities(kept, found, closed=False)
        self._at, self._left = _At.LOST, 0
        self._body = Body(self._growth)
        self._trail.cut()

    def close(self, found: Findings) -> None:
        """Read what waited for more: no more comes."""
        if self._at is _At.HEAD and self._kept:
            sbi.http1(self._kept, found)
            text_identities(self._kept, found)
        self._finish(found)
        self._kept = b""


_is_message = begins
