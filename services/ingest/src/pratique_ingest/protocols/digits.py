"""Telephone digits as mobile networks pack them: two a byte, low half first (TBCD, TS 29.002)."""

# Bytes with their halves exchanged.
TURNED = bytes(byte >> 4 | (byte & 15) << 4 for byte in range(256))


def packed_digits(data: bytes) -> str:
    """Unpack digits until the filler 0xF; a half byte above nine is kept as a letter and so no digit."""
    return data.translate(TURNED).hex().split("f", 1)[0]


def network(data: bytes) -> tuple[str, str]:
    """Return MCC and MNC from their three bytes (TS 24.008, 10.5.1.13): the third MNC digit stands in the middle."""
    digits = data[:3].translate(TURNED).hex()
    return digits[:3], digits[4:] if digits[3] == "f" else digits[4:] + digits[3]
