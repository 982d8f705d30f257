"""NAS ciphering: which algorithm each UE context has, as its security mode command said (TS 33.501, 6.7.2).

What is not known is told by how the bytes look.
"""

from collections import OrderedDict
from typing import NamedTuple

# Contexts whose algorithm is remembered: the one that was silent longest is forgotten. Some 10 MB.
MAX_CONTEXTS = 32_768
Key = tuple[bytes, int]


class Ciphers:
    """The ciphering algorithms by radio node and its number of the UE; 0 is the null cipher (NEA0, EEA0)."""

    def __init__(self) -> None:
        self._known: OrderedDict[Key, int] = OrderedDict()

    def of(self, key: Key) -> int | None:
        """Return the algorithm of a context, None where no command was seen."""
        if key not in self._known:
            return None
        self._known.move_to_end(key)
        return self._known[key]

    def select(self, key: Key, algorithm: int | None) -> None:
        """Keep what a command selected; None when it was rejected, or the context has ended."""
        if algorithm is None:
            self._known.pop(key, None)
            return
        self._known[key] = algorithm
        self._known.move_to_end(key)
        if len(self._known) > MAX_CONTEXTS:
            self._known.popitem(last=False)


class Association(NamedTuple):
    """The ends of an SCTP association, as address and port, and what is known of the contexts between them."""

    source: bytes
    destination: bytes
    ciphers: Ciphers

    def context(self, from_ran: bool, number: int) -> "UeContext":
        """Return the context of a UE by the radio node's number of it."""
        return UeContext((self.source if from_ran else self.destination, number), self.ciphers)


class UeContext(NamedTuple):
    """One UE at one radio node."""

    key: Key
    ciphers: Ciphers

    @property
    def algorithm(self) -> int | None:
        """The ciphering algorithm, None where no command was seen."""
        return self.ciphers.of(self.key)

    def select(self, algorithm: int | None) -> None:
        """Keep what a command selected; None when it was rejected, or the context has ended."""
        self.ciphers.select(self.key, algorithm)
