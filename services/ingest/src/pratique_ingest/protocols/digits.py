"""Telephone digits as mobile networks pack them: two a byte, low half first (TBCD, TS 29.002)."""


def packed_digits(data: bytes) -> str:
    """Unpack digits until the filler 0xF; a half byte above nine is kept as a letter and so no digit."""
    digits = "".join(f"{byte & 15:x}{byte >> 4:x}" for byte in data)
    return digits.split("f", 1)[0]


def network(data: bytes) -> tuple[str, str]:
    """Return MCC and MNC from their three bytes (TS 24.008, 10.5.1.13): the third MNC digit stands in the middle."""
    mcc = f"{data[0] & 15:x}{data[0] >> 4:x}{data[1] & 15:x}"
    mnc = f"{data[2] & 15:x}{data[2] >> 4:x}"
    third = data[1] >> 4
    return mcc, mnc if third == 15 else f"{mnc}{third:x}"
