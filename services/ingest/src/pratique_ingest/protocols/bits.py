"""Bits: the fields of aligned PER that do not begin on octets (X.691)."""

from pratique_ingest.protocols.aper import NotAper, sized

MAX_EXTENSIONS = 64


class Bits:
    """An encoding read from its first bit on; raises NotAper where it ends too early."""

    __slots__ = ("_at", "_data")

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def take(self, width: int) -> int:
        """Return the next bits as a number."""
        at, end = self._at, self._at + width
        if end > 8 * len(self._data):
            raise NotAper
        self._at = end
        number = int.from_bytes(self._data[at >> 3 : end + 7 >> 3], "big")
        return number >> (-end & 7) & (1 << width) - 1

    def octets(self, count: int) -> bytes:
        """Return whole octets, from the next one that begins."""
        at = self._at + 7 >> 3
        if at + count > len(self._data):
            raise NotAper
        self._at = 8 * (at + count)
        return self._data[at : at + count]

    def string(self) -> bytes:
        """Return an octet string behind its length (X.691, 11.9)."""
        value, at = sized(self._data, self._at + 7 >> 3)
        self._at = 8 * at
        return value

    def number(self, width: int) -> int:
        """Return an integer whose number of octets, less one, stands in so many bits (X.691, 11.5.7.4)."""
        return int.from_bytes(self.octets(self.take(width) + 1), "big")

    def extensions(self) -> None:
        """Pass a protocol extension container: a count, then id, criticality and value of each (TS 38.413, 9.4.6)."""
        count = int.from_bytes(self.octets(2), "big") + 1
        if count > MAX_EXTENSIONS:
            raise NotAper
        for _ in range(count):
            self.octets(3)
            self.string()
