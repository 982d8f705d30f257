"""The Huffman code of HPACK (RFC 7541, appendix B): strings of header fields, four bits a step."""

from functools import lru_cache
from typing import Final

# A canonical code: the symbols in order under each length give the codes. The longest of all, thirty ones, ends nothing
# but the padding and stands for no symbol.
SYMBOLS: Final = {
    5: b"012aceiost", 6: b" %-./3456789=A_bdfghlmnpru", 7: b":BCDEFGHIJKLMNOPQRSTUVWYjkqvwxyz", 8: b"&*,;XZ",
    10: b'!"()?', 11: b"'+|", 12: b"#>", 13: b"\0$@[]~", 14: b"^}", 15: b"<`{",
    19: bytes.fromhex("5cc3d0"),
    20: bytes.fromhex("808283a2b8c2e0e2"),
    21: bytes.fromhex("99a1a7acb0b1b3d1d8d9e3e5e6"),
    22: bytes.fromhex("8184858688929a9ca0a3a4a9aaadb2b5b9babbbdbec4c6e4e8e9"),
    23: bytes.fromhex("0187898a8b8c8d8f93959697989b9d9ea5a6a8aeafb4b6b7bcbfc5e7ef"),
    24: bytes.fromhex("098e9091949fabced7e1eced"),
    25: bytes.fromhex("c7cfeaeb"),
    26: bytes.fromhex("c0c1c8c9cacdd2d5dadbeef0f2f3ff"),
    27: bytes.fromhex("cbccd3d4d6dddedff1f4f5f6f7f8fafbfcfdfe"),
    28: bytes.fromhex("020304050607080b0c0e0f1011121314151718191a1b1c1d1e1f7fdcf9"),
    30: bytes.fromhex("0a0d16"),
}  # fmt: skip
LONGEST = max(SYMBOLS)
# The strings of one connection repeat; those that are longer are bodies of tokens, and do not.
REMEMBERED, SHORT = 2048, 128
State = tuple[int, int]  # length and value of the code that has begun
Step = tuple[int, bytes]


def codes() -> dict[State, int]:
    """Return the symbol of each code, by its length and value."""
    found, code, last = {}, 0, min(SYMBOLS)
    for length, symbols in SYMBOLS.items():
        code <<= length - last
        for symbol in symbols:
            found[length, code] = symbol
            code += 1
        last = length
    return found


def _steps() -> tuple[list[list[Step | None]], list[bool]]:
    """Build, for each state and four bits, the next state and the text; and whether a string may end in a state.

    States are numbered as they are met. It may end in up to seven ones (section 5.2).
    """
    known, numbers, rows = codes(), {(0, 0): 0}, []
    states: list[State] = [(0, 0)]
    for state in states:  # grows while it is read
        row: list[Step | None] = []
        for bits in range(16):
            (length, code), text = state, b""
            for bit in (8, 4, 2, 1):
                length, code = length + 1, code << 1 | bool(bits & bit)
                if (length, code) in known:
                    text, length, code = text + bytes([known[length, code]]), 0, 0
            if length >= LONGEST:
                row.append(None)
                continue
            if (length, code) not in numbers:
                numbers[length, code] = len(states)
                states.append((length, code))
            row.append((numbers[length, code], text))
        rows.append(row)
    return rows, [length < 8 and code == (1 << length) - 1 for length, code in states]


STEPS, ENDS = _steps()


def huffman(data: bytes) -> bytes | None:
    """Return the text of a coded string; None when it holds the end's code, or ends in no padding."""
    return _remembered(data) if len(data) <= SHORT else _decoded(data)


def _decoded(data: bytes) -> bytes | None:
    text, state = [], 0
    for byte in data:
        step = STEPS[state][byte >> 4]
        if step is None:
            return None
        text.append(step[1])
        step = STEPS[step[0]][byte & 15]
        if step is None:
            return None
        state = step[0]
        text.append(step[1])
    return b"".join(text) if ENDS[state] else None


_remembered = lru_cache(REMEMBERED)(_decoded)
