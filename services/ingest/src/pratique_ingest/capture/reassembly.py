"""Reassembly with a bound: IP fragments into datagrams, SCTP fragments into messages."""

from collections import OrderedDict, deque

from pratique_ingest.capture.network import Datagram
from pratique_ingest.capture.transport import Chunk

# What may be open at once: the oldest is dropped. 65,535 bytes is IP's own limit; control messages are far below it.
MAX_OPEN = 1024
MAX_BYTES = 8 << 20
MAX_MESSAGE = 65_536
MAX_PARTS = 512
# Fragments of one association that wait for each other: a message of 64 KiB in packets of 576 bytes has 120.
MAX_WAITING = 256
# Messages whose fragments may come once more: a retransmission is some round trips late, a second interface less.
REMEMBERED = 32
TSN_MASK = 0xFFFFFFFF


class _Pieces:
    __slots__ = ("end", "parts", "size")

    def __init__(self) -> None:
        self.parts: dict[int, bytes] = {}
        self.size = 0
        self.end: int | None = None

    def joined(self) -> bytes | None:
        """Return the whole once no byte is missing; overlapping pieces keep the one that came first."""
        if self.end is None or self.size < self.end:
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
        self._bytes = self._dropped = 0

    @property
    def given_up(self) -> int:
        """How many fragments have waited in vain."""
        return self._dropped + sum(len(pieces.parts) for pieces in self._open.values())

    def _drop(self, pieces: _Pieces) -> None:
        self._dropped += len(pieces.parts)
        self._bytes -= pieces.size

    def add(self, header: Datagram, data: bytes) -> bytes | None:
        """Return the whole payload with the fragment that completes it, None with every other."""
        key = (header.source, header.destination, header.protocol, header.identification)
        pieces = self._open.get(key)
        if pieces is None:
            while self._open and (len(self._open) >= MAX_OPEN or self._bytes > MAX_BYTES):
                self._drop(self._open.popitem(last=False)[1])
            pieces = self._open[key] = _Pieces()
        if len(pieces.parts) >= MAX_PARTS or pieces.size + len(data) > 2 * MAX_MESSAGE:
            self._drop(self._open.pop(key))
            return None
        if header.offset not in pieces.parts:
            pieces.parts[header.offset] = data
            pieces.size += len(data)
            self._bytes += len(data)
        if not header.more:
            pieces.end = header.offset + len(data)
        whole = pieces.joined()
        if whole is not None:
            self._bytes -= self._open.pop(key).size
        return whole


class _Association:
    """The fragments of one direction (or, with I-DATA, of one message) by number, and what is whole already."""

    __slots__ = ("done", "ends", "parts", "size")

    def __init__(self) -> None:
        self.parts: dict[int, Chunk] = {}
        self.size = 0
        self.ends = [0, 0]  # first and last fragments among the parts: without one of each no message is whole
        self.done: deque[tuple[int, int]] = deque(maxlen=REMEMBERED)

    def repeated(self, tsn: int) -> bool:
        """Whether a fragment was here before."""
        return tsn in self.parts or any((tsn - first) & TSN_MASK < count for first, count in self.done)

    def whole(self, tsn: int) -> list[Chunk] | None:
        """Return the fragments of the message that `tsn` is part of, from first to last; None while one is missing."""
        first = tsn
        while not self.parts[first].first:
            first = first - 1 & TSN_MASK
            if first not in self.parts or self.parts[first].last:
                return None
        found, at = [self.parts[first]], first
        while not found[-1].last:
            at = at + 1 & TSN_MASK
            if at not in self.parts or self.parts[at].first:
                return None
            found.append(self.parts[at])
        return found


class Messages:
    """SCTP messages sent in several chunks: B begins, E ends, transmission numbers follow (RFC 9260, 6.9).

    Fragments may come late, twice, or in any order.
    """

    def __init__(self) -> None:
        self._open: OrderedDict[tuple[bytes, int, int], _Association] = OrderedDict()
        self._bytes = self._dropped = 0

    @property
    def given_up(self) -> int:
        """How many fragments have waited in vain."""
        return self._dropped + sum(len(association.parts) for association in self._open.values())

    def _association(self, key: tuple[bytes, int, int]) -> _Association:
        association = self._open.get(key)
        if association is None:
            while self._open and (len(self._open) >= MAX_OPEN or self._bytes > MAX_BYTES):
                _, oldest = self._open.popitem(last=False)
                self._dropped += len(oldest.parts)
                self._bytes -= oldest.size
            association = self._open[key] = _Association()
        self._open.move_to_end(key)
        return association

    def _take(self, association: _Association, tsn: int) -> None:
        chunk = association.parts.pop(tsn)
        size = len(chunk.payload)
        association.ends[0] -= chunk.first
        association.ends[1] -= chunk.last
        association.size -= size
        self._bytes -= size

    def add(self, association: bytes, chunk: Chunk) -> Chunk | None:
        """Return a message once it is whole, as one chunk with the protocol of its first; None with other fragments."""
        if chunk.first and chunk.last:
            return chunk
        # Transmission numbers run over all streams; the fragments of I-DATA are numbered in their message.
        waiting = self._association((association, *((-1, -1) if chunk.message is None else chunk.message)))
        if waiting.repeated(chunk.tsn):
            return None
        waiting.parts[chunk.tsn] = chunk
        waiting.ends[0] += chunk.first
        waiting.ends[1] += chunk.last
        waiting.size += len(chunk.payload)
        self._bytes += len(chunk.payload)
        found = waiting.whole(chunk.tsn) if all(waiting.ends) else None
        if found is None:
            while len(waiting.parts) > MAX_WAITING or waiting.size > 2 * MAX_MESSAGE:
                self._take(waiting, next(iter(waiting.parts)))
                self._dropped += 1
            return None
        first = found[0].tsn
        waiting.done.append((first, len(found)))
        for number in range(len(found)):
            self._take(waiting, first + number & TSN_MASK)
        return found[0]._replace(last=True, payload=b"".join(part.payload for part in found))
