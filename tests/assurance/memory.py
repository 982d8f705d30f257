"""Memory of a whole house while something is done to it: the most that each process has had resident."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from tests.assurance.processes import below, most_resident
from tests.support.house import House

LOOK = 0.05  # seconds between two looks


@dataclass
class Peaks:
    """MiB by program, named as `below` does."""

    most: dict[str, int] = field(default_factory=dict)

    def see(self, root: int) -> None:
        """Look at every process below `root`."""
        for pid, name in below(root):
            with suppress(OSError, ValueError):
                self.most[name] = max(self.most.get(name, 0), int(most_resident(pid)))


@contextmanager
def watched(house: House) -> Iterator[Peaks]:
    """Watch every process of a house until the block ends."""
    peaks, stop = Peaks(), threading.Event()

    def watch() -> None:
        while not stop.wait(LOOK):
            peaks.see(house.process.pid)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield peaks
    finally:
        stop.set()
        thread.join()
