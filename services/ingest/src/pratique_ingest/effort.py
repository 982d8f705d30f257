"""The effort that a compressed capture may ask for: few of its bytes make few frames, unless it is made to stall."""

# The public captures under `zstd -19` ask for 0.72 units a compressed byte at most: a frame takes 6 to 30 bytes of it.
# The first FREE units are allowed in any case.
FREE = 100_000
FRAME, BYTES_A_UNIT = 3, 16
# Protocols whose frames are only counted; all others are read byte by byte.
COUNTED = frozenset({"tcp", "udp", "tls", "quic", "ssh", "gtp", "icmp", "icmpv6", "dns", "esp", "ipsec", "igmp"})


class Effort:
    """Units of work: one is some ten microseconds."""

    def __init__(self) -> None:
        self._units = 0

    def frame(self, count: int = 1) -> None:
        """Count frames."""
        self._units += count * FRAME

    def decoded(self, protocols: set[str], size: int) -> None:
        """Count the `size` bytes of a frame, if it carries a protocol whose messages are read."""
        if not protocols <= COUNTED:
            self._units += size // BYTES_A_UNIT

    def beyond(self, consumed: int) -> bool:
        """Whether so many compressed bytes cannot hold what was read."""
        return self._units > FREE + consumed
