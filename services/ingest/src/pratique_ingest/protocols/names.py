"""Small protocols on UDP: whether bytes are DNS (RFC 1035, 4.1.1) and ask or answer, NTP's modes, eCPRI's header."""

OPCODES = frozenset({0, 1, 2, 4, 5, 6})
MAX_QUESTIONS = 16
NTP_SIZE = 48
# eCPRI 2.0, 3.1.3.1: revision 1, message types 0 to 11, and from 64 on those of vendors.
ECPRI_REVISION, ECPRI_KNOWN, ECPRI_VENDOR = 1, 11, 64


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


def is_ecpri(data: bytes, missing: int = 0) -> bool:
    """Whether a datagram is an eCPRI message (common header, 3.1.3.1), of which `missing` bytes were not captured.

    Another one may follow it, as its bit says; padding of less than a word may too.
    """
    if len(data) < 4 or data[0] >> 4 != ECPRI_REVISION or data[0] & 0x0E or ECPRI_KNOWN < data[1] < ECPRI_VENDOR:
        return False
    room = len(data) + missing - 4 - (data[2] << 8 | data[3])
    return room >= 0 and (bool(data[0] & 1) or room < 4)
