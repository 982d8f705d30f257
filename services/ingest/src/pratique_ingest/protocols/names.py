"""Small services on UDP: whether bytes are DNS (RFC 1035, 4.1.1), and whether they ask or answer; NTP's modes."""

OPCODES = frozenset({0, 1, 2, 4, 5, 6})
MAX_QUESTIONS = 16
NTP_SIZE = 48


def is_dns(data: bytes) -> bool:
    """Whether the header could be DNS: known opcode, reserved bit clear, few questions."""
    return (
        len(data) >= 12
        and data[2] >> 3 & 15 in OPCODES
        and not data[3] & 0x40
        and int.from_bytes(data[4:6], "big") <= MAX_QUESTIONS
    )


def answers(data: bytes) -> bool:
    """Whether the message is a response."""
    return bool(data[2] & 0x80)


def keeps_time(data: bytes) -> bool:
    """Whether an NTP message is a server's: mode 4, or 5 to all (RFC 5905, 7.3); a client uses port 123 as well."""
    return len(data) >= NTP_SIZE and data[0] & 7 in (4, 5)
