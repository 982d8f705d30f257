"""Readers of a byte stream: what the protocols over TCP have in common, whose messages cross segments."""

from typing import Protocol

from pratique_ingest.protocols.findings import Findings


class Reader(Protocol):
    """One direction of a connection. Its bytes come in order, or it is told that some are missing."""

    @property
    def size(self) -> int:
        """Bytes that are kept."""
        ...

    @property
    def idle(self) -> bool:
        """Whether the next byte begins a message, or nothing is known of where one begins."""
        ...

    @property
    def turned(self) -> str | None:
        """The protocol that an upgrade has turned this connection to."""
        ...

    def take(self, data: bytes, found: Findings, *, begins: bool) -> None:
        """Read on; `begins` says that the data begins where a segment does."""
        ...

    def skip(self, count: int, found: Findings) -> None:
        """Pass bytes that are missing; where that is not within a body, the place in the stream is lost."""
        ...

    def lose(self, found: Findings) -> None:
        """Forget the place in the stream, and all that depends on it."""
        ...

    def close(self, found: Findings) -> None:
        """Read what waited for more: no more comes."""
        ...

    def rest(self) -> bytes:
        """Return the bytes that were not read, for the protocol that the connection has turned to."""
        ...
