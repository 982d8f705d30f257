"""The budget of memory: what one profile may keep, by the bytes that each fact costs until its records have left."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

# With the reader, the decoders and the records' text beside it, a profile of this much stays below 350 MB.
LIMIT = 240 << 20
# Beside it: what connections keep of the streams that they carry, until they end.
STREAMS = 32 << 20
# What a fact costs in the ledger, in its record and in the text that is sent: measured, and rounded up.
HOST, PEER, INNER, IDENTITY, CARRIER, SUBSCRIBER = 2600, 70, 260, 650, 280, 160
LANE = 1000
CONTEXT, SESSION, ALIAS, TUNNEL = 1200, 1300, 300, 700
# A window becomes a session when its context ends: it is paid for when it opens.
WINDOW = SESSION
SESSIONS = "sessions"
# A text stands in the ledger, in the list of identifiers, and in the row of each host that carried it; what leaves is
# copied once on its way out.
COPIES, COPIES_A_CARRIER = 3, 2


class Budget:
    """Bytes that are spent, and by kind how many facts were kept out."""

    def __init__(self, limit: int | None = None) -> None:
        self.limit, self.spent = LIMIT if limit is None else limit, 0
        self.cut: Counter[str] = Counter()

    def fits(self, size: int) -> bool:
        """Whether so many bytes are left."""
        return self.spent + size <= self.limit

    def keep(self, kind: str, size: int) -> bool:
        """Spend the bytes of a fact; False, and counted, when they are not left."""
        if self.spent + size > self.limit:
            self.cut[kind] += 1
            return False
        self.spent += size
        return True

    def release(self, size: int) -> None:
        """Give back the bytes of a fact that is no longer kept."""
        self.spent -= size

    @contextmanager
    def reserved(self, size: int) -> Iterator[None]:
        """Keep bytes free for what comes later, while something else asks whether it fits."""
        self.spent += size
        yield
        self.spent -= size
