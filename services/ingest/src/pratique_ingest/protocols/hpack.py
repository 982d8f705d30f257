"""HPACK (RFC 7541): the fields of header blocks, with the dynamic table of their direction as far as it is known.

What was added before the capture began, or where it has a gap, is unknown. An index counts from the newest entry, so
all that was added since is known again; the rest of the table is said to be missing when a block refers to it.
"""

from typing import Final, NamedTuple

from pratique_ingest.protocols.findings import Findings
from pratique_ingest.protocols.huffman import huffman

Field = tuple[bytes, bytes]
PATH, AGENT, UNKNOWN = b":path", b"user-agent", b"?"
# Appendix A.
STATIC: Final[tuple[Field, ...]] = (
    (b":authority", b""), (b":method", b"GET"), (b":method", b"POST"), (PATH, b"/"), (PATH, b"/index.html"),
    (b":scheme", b"http"), (b":scheme", b"https"), (b":status", b"200"), (b":status", b"204"), (b":status", b"206"),
    (b":status", b"304"), (b":status", b"400"), (b":status", b"404"), (b":status", b"500"), (b"accept-charset", b""),
    (b"accept-encoding", b"gzip, deflate"), (b"accept-language", b""), (b"accept-ranges", b""), (b"accept", b""),
    (b"access-control-allow-origin", b""), (b"age", b""), (b"allow", b""), (b"authorization", b""),
    (b"cache-control", b""), (b"content-disposition", b""), (b"content-encoding", b""), (b"content-language", b""),
    (b"content-length", b""), (b"content-location", b""), (b"content-range", b""), (b"content-type", b""),
    (b"cookie", b""), (b"date", b""), (b"etag", b""), (b"expect", b""), (b"expires", b""), (b"from", b""),
    (b"host", b""), (b"if-match", b""), (b"if-modified-since", b""), (b"if-none-match", b""), (b"if-range", b""),
    (b"if-unmodified-since", b""), (b"last-modified", b""), (b"link", b""), (b"location", b""), (b"max-forwards", b""),
    (b"proxy-authenticate", b""), (b"proxy-authorization", b""), (b"range", b""), (b"referer", b""), (b"refresh", b""),
    (b"retry-after", b""), (b"server", b""), (b"set-cookie", b""), (b"strict-transport-security", b""),
    (b"transfer-encoding", b""), (AGENT, b""), (b"vary", b""), (b"via", b""), (b"www-authenticate", b""),
)  # fmt: skip
FIRST_DYNAMIC = len(STATIC) + 1
# Section 4.1: what an entry counts beyond its strings. The table has 4,096 bytes until a block says otherwise.
OVERHEAD, SIZE, LARGEST = 32, 4096, 65_536
# What an entry takes in memory beyond that, and each identifier that it was found to hold.
ENTRY, SAID = 200, 300
# A block that names one long entry a thousand times is an attack on its reader.
MAX_FIELDS, MAX_FIELD_BYTES = 512, 65_536


class Table:
    """The dynamic table of one direction; `size` is in the octets of section 4.1.

    It remembers what each of its entries says: two bytes may name a long one, which is read once.
    """

    __slots__ = ("_entries", "_limit", "_said", "_weight", "size")

    def __init__(self) -> None:
        self._entries: list[Field] = []  # newest last
        self._said: dict[Field, Findings | None] = {}
        self._limit, self.size, self._weight = SIZE, 0, 0

    @property
    def cost(self) -> int:
        """Bytes that the entries take here."""
        return self.size + ENTRY * len(self._entries) + self._weight

    def field(self, index: int) -> Field | None:
        """Return an entry by its index over both tables; None when it is not known. Raises IndexError for none."""
        if index < FIRST_DYNAMIC:
            if not index:
                raise IndexError
            return STATIC[index - 1]
        index -= FIRST_DYNAMIC
        return self._entries[-1 - index] if index < len(self._entries) else None

    def add(self, field: Field) -> None:
        """Add an entry; the oldest leave until it fits (section 4.4)."""
        self._entries.append(field)
        self._said.setdefault(field)
        self.size += len(field[0]) + len(field[1]) + OVERHEAD
        self._evict()

    def resize(self, limit: int) -> None:
        """Follow an update of the table's size (section 6.3), up to a bound of our own."""
        self._limit = min(limit, LARGEST)
        self._evict()

    def forget(self) -> None:
        """Know nothing any more: a block was missed."""
        self._entries.clear()
        self._said.clear()
        self.size = self._weight = 0

    def said(self, field: Field) -> Findings | None:
        """Return what a field says, if it is an entry and was read before."""
        return self._said.get(field)

    def remember(self, field: Field, said: Findings) -> None:
        """Remember what a field says, as long as it is an entry."""
        if field in self._said:
            self._said[field] = said
            self._weight += SAID * len(said.identities)

    def _evict(self) -> None:
        while self.size > self._limit and self._entries:
            name, value = oldest = self._entries.pop(0)
            self.size -= len(name) + len(value) + OVERHEAD
            if (said := self._said.pop(oldest, None)) is not None:
                self._weight -= SAID * len(said.identities)


class Block(NamedTuple):
    """The fields of a header block; `whole` is False when it refers to what is not known, or cannot be read on."""

    fields: list[Field]
    whole: bool


def _integer(data: bytes, at: int, bits: int) -> tuple[int, int]:
    """Read an integer behind a prefix of `bits` (section 5.1), of at most four further bytes."""
    limit = (1 << bits) - 1
    value, at = data[at] & limit, at + 1
    if value == limit:
        for shift in range(0, 28, 7):
            byte, at = data[at], at + 1
            value += (byte & 0x7F) << shift
            if not byte & 0x80:
                return value, at
        raise IndexError
    return value, at


def _string(data: bytes, at: int) -> tuple[bytes, int]:
    """Read a string literal (section 5.2)."""
    coded = data[at] & 0x80
    size, at = _integer(data, at, 7)
    end = at + size
    if end > len(data):
        raise IndexError
    if not coded:
        return data[at:end], end
    text = huffman(data[at:end])
    if text is None:
        raise IndexError
    return text, end


def _literal(block: bytes, at: int, table: Table) -> tuple[Field, int, bool]:
    """Read a literal field; its name is `?` where only the unknown part of the table has it (section 6.2)."""
    index, at = _integer(block, at, 6 if block[at] & 0x40 else 4)
    known = True
    if index:
        entry = table.field(index)
        name, known = (UNKNOWN, False) if entry is None else (entry[0], True)
    else:
        name, at = _string(block, at)
    value, at = _string(block, at)
    return (name, value), at, known


def _fields(block: bytes, table: Table, fields: list[Field]) -> bool:
    """Add the fields of a block to a list; whether all could be told."""
    at, total, whole = 0, 0, True
    while at < len(block):
        head = block[at]
        if head & 0xE0 == 0x20:
            limit, at = _integer(block, at, 5)
            table.resize(limit)
            continue
        if head & 0x80:
            index, at = _integer(block, at, 7)
            entry = table.field(index)
            if entry is None:
                whole = False
                continue
        else:
            entry, at, known = _literal(block, at, table)
            whole = whole and known
            if head & 0x40:
                table.add(entry)
        fields.append(entry)
        total += len(entry[0]) + len(entry[1])
        if len(fields) > MAX_FIELDS or total > MAX_FIELD_BYTES:
            raise IndexError
    return whole


def header_block(block: bytes, table: Table) -> Block:
    """Return the fields of a block. One that cannot be read to its end leaves the table unknown."""
    fields: list[Field] = []
    try:
        whole = _fields(block, table, fields)
    except IndexError:
        table.forget()
        whole = False
    return Block(fields, whole)
