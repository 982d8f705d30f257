"""Memory of a whole house while something is done to it: the most that each process has had resident."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.house import House

LOOK = 0.05  # seconds between two looks


@dataclass
class Peaks:
    """MiB by program: a child of a service counts as `<module>/child`."""

    most: dict[str, int] = field(default_factory=dict)

    def see(self, root: int) -> None:
        """Look at every process below `root`."""
        for pid, name in below(root, ""):
            with suppress(OSError, ValueError):
                text = Path(f"/proc/{pid}/status").read_text()
                found = int(text[text.index("VmHWM:") :].split()[1]) >> 10
                self.most[name] = max(self.most.get(name, 0), found)


def below(pid: int, above: str = "") -> Iterator[tuple[int, str]]:
    """Yield every process below one, with its name."""
    with suppress(OSError):
        for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            words = Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0")
            named = words[2] if len(words) > 2 and words[1] == b"-m" else words[0].rpartition(b"/")[2]
            name = f"{above}/child" if above else named.decode()
            yield int(child), name
            yield from below(int(child), name)


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
