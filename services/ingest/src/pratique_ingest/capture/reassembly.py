"""Reassembly with a bound: IP fragments into datagrams, SCTP fragments into messages."""

from collections import OrderedDict

from pratique_ingest.capture.network import Datagram
from pratique_ingest.capture.transport import Chunk

# What may be open at once: the oldest is dropped. 65,535 bytes is IP's own limit; control messages are far below it.
MAX_OPEN = 256
MAX_MESSAGE = 65_536
MAX_PARTS = 512


class _Pieces:
    __slots__ = ("end", "parts", "size")

    def __init__(self) -> None:
        self.parts: dict[int, bytes] = {}
        self.size = 0
        self.end: int | None = None

    def joined(self) -> bytes | None:
        """Return the whole once no byte is missing; overlapping pieces keep the one that came first."""
        if self.end is None:
            return None
        whole = bytearray()
        for offset, part in sorted(self.parts.items()):
            if offset > len(whole):
                return None
            whole += part[len(whole) - offset :]
        return bytes(whole[: self.end]) if len(whole) >= self.end else None


class Fragments:
    """IP datagrams whose fragments are still coming (RFC 791, RFC 8200)."""

    def __init__(self) -> None:
        self._open: OrderedDict[tuple[bytes, bytes, int, int], _Pieces] = OrderedDict()

    def add(self, header: Datagram, data: bytes) -> bytes | None:
        """Return the whole payload with the fragment that completes it, None with every other."""
        key = (header.source, header.destination, header.protocol, header.identification)
        pieces = self._open.get(key)
        if pieces is None:
            if len(self._open) >= MAX_OPEN:
                self._open.popitem(last=False)
            pieces = self._open[key] = _Pieces()
        if len(pieces.parts) >= MAX_PARTS or pieces.size + len(data) > 2 * MAX_MESSAGE:
            del self._open[key]
            return None
        if header.offset not in pieces.parts:
            pieces.parts[header.offset] = data
            pieces.size += len(data)
        if not header.more:
            pieces.end = header.offset + len(data)
        whole = pieces.joined()
        if whole is not None:
            del self._open[key]
        return whole


class Messages:
    """SCTP messages sent in several chunks: B begins, E ends, transmission numbers follow (RFC 9260, 6.9)."""

    def __init__(self) -> None:
        self._open: OrderedDict[tuple[bytes, int], tuple[int, list[bytes], int]] = OrderedDict()

    def add(self, association: bytes, chunk: Chunk) -> bytes | None:
        """Return a message once it is whole; a gap or a repeated chunk drops what was open."""
        if chunk.first and chunk.last:
            return chunk.payload
        key = (association, chunk.stream)
        if chunk.first:
            if len(self._open) >= MAX_OPEN:
                self._open.popitem(last=False)
            self._open[key] = (chunk.tsn, [chunk.payload], len(chunk.payload))
            return None
        begun = self._open.pop(key, None)
        if begun is None or chunk.tsn != (begun[0] + 1) & 0xFFFFFFFF:
            return None
        _, parts, size = begun
        size += len(chunk.payload)
        parts.append(chunk.payload)
        if chunk.last:
            return b"".join(parts)
        if size <= MAX_MESSAGE:
            self._open[key] = (chunk.tsn, parts, size)
        return None
