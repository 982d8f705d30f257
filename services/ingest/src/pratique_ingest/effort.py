"""The effort that a compressed capture may ask for: few of its bytes make few frames, unless it is made to stall."""

# The public captures under `zstd -19` ask for 0.27 units a compressed byte at most. The first FREE units, a third of a
# second, are allowed in any case.
FREE, GRANTED_FOR = 30_000, 2
# A frame of the exact path, a message or 48 bytes in it, and 16 frames that are counted in columns.
FRAME, BYTES_A_UNIT, COLUMNS_A_UNIT = 2, 48, 16
# Protocols whose frames are only counted; all others are read byte by byte.
COUNTED = frozenset({"tcp", "udp", "tls", "quic", "ssh", "gtp", "icmp", "icmpv6", "dns", "esp", "ipsec", "igmp"})


class Effort:
    """Units of work: one is some ten microseconds."""

    def __init__(self) -> None:
        self._units = self._columns = 0

    def frame(self) -> None:
        """Count a frame of the exact path."""
        self._units += FRAME

    def columns(self, count: int) -> None:
        """Count frames of the fast path."""
        self._columns += count

    def decoded(self, protocols: set[str], messages: int, size: int) -> None:
        """Count the messages in a frame, and its `size` bytes if it carries a protocol whose messages are read."""
        self._units += messages
        if size >= BYTES_A_UNIT and not protocols <= COUNTED:
            self._units += size // BYTES_A_UNIT

    def beyond(self, consumed: int) -> bool:
        """Whether so many compressed bytes cannot hold what was read."""
        return self._units + self._columns // COLUMNS_A_UNIT > FREE + consumed // GRANTED_FOR
