"""HPACK (RFC 7541) without its state: the literal strings of a header block, for connections older than the capture.

The dynamic table is unknown in the middle of a connection, so indexed fields are passed over; a path is a literal when
it is new.
"""

from collections.abc import Iterator

# Appendix B is a canonical code: symbols in order under each length give the codes. Longer ones stand for characters
# that no path and no product name needs; a string that has one is given up.
SYMBOLS = {
    5: "012aceiost",
    6: " %-./3456789=A_bdfghlmnpru",
    7: ":BCDEFGHIJKLMNOPQRSTUVWYjkqvwxyz",
    8: "&*,;XZ",
    10: '!"()?',
}
PATH_INDICES, AGENT_INDEX, FIRST_DYNAMIC = (4, 5), 58, 62
PATH, AGENT, UNKNOWN, OTHER = ":path", "user-agent", "?", ""
MAX_FIELDS = 128


def _codes() -> dict[tuple[int, int], int]:
    codes, code, last = {}, 0, 5
    for length, symbols in SYMBOLS.items():
        code <<= length - last
        for symbol in symbols:
            codes[length, code] = ord(symbol)
            code += 1
        last = length
    return codes


State = tuple[int, int]  # length and value of the code that has begun
START: State = (0, 0)
LONGEST = max(SYMBOLS)


def _steps() -> dict[State, list[tuple[State, bytes] | None]]:
    """Build, for each state and four bits, the next state and the text; None where a code becomes too long."""
    codes, steps, waiting = _codes(), {}, [START]
    while waiting:
        state = waiting.pop()
        if state in steps:
            continue
        row: list[tuple[State, bytes] | None] = []
        for bits in range(16):
            (length, code), text = state, b""
            for bit in (8, 4, 2, 1):
                length, code = length + 1, code << 1 | bool(bits & bit)
                if (length, code) in codes:
                    text, length, code = text + bytes([codes[length, code]]), 0, 0
            row.append(((length, code), text) if length <= LONGEST else None)
            if length <= LONGEST:
                waiting.append((length, code))
        steps[state] = row
    return steps


STEPS = _steps()


def huffman(data: bytes) -> bytes | None:
    """Return the text of a Huffman-coded string; None when it has a rare character or ends in no padding."""
    text, state = [], START
    for byte in data:
        for bits in (byte >> 4, byte & 15):
            step = STEPS[state][bits]
            if step is None:
                return None
            state, part = step
            text.append(part)
    length, code = state
    return b"".join(text) if length < 8 and code == (1 << length) - 1 else None


def _integer(data: bytes, at: int, bits: int) -> tuple[int, int]:
    """Read an integer behind a prefix of `bits` (section 5.1), of at most four further bytes."""
    limit = (1 << bits) - 1
    value, at = data[at] & limit, at + 1
    if value == limit:
        for shift in range(0, 28, 7):
            byte, at = data[at], at + 1
            value += (byte & 0x7F) << shift
            if not byte & 0x80:
                break
    return value, at


def _string(data: bytes, at: int) -> tuple[bytes, int]:
    """Read a string literal (section 5.2); one that cannot be read is empty."""
    coded = data[at] & 0x80
    size, at = _integer(data, at, 7)
    text = data[at : at + size]
    return (huffman(text) or b"") if coded else text, at + size


def literals(block: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield name and value of the fields that are literals; the name is `?` where only the dynamic table knows it."""
    at = 0
    try:
        for _ in range(MAX_FIELDS):
            if at >= len(block):
                return
            head = block[at]
            if head & 0x80:
                _, at = _integer(block, at, 7)
                continue
            if head & 0xE0 == 0x20:
                _, at = _integer(block, at, 5)
                continue
            index, at = _integer(block, at, 6 if head & 0x40 else 4)
            name = PATH if index in PATH_INDICES else AGENT if index == AGENT_INDEX else OTHER
            if index == 0:
                literal, at = _string(block, at)
                name = literal.decode("ascii", "ignore").lower()
            elif index >= FIRST_DYNAMIC:
                name = UNKNOWN
            value, at = _string(block, at)
            yield name, value
    except IndexError:
        return
