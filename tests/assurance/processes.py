"""Processes as the kernel sees them: memory, descriptors, children and theirs."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from tests.support.house import command_name


def resident(pid: int) -> float:
    """Return the MiB of memory that a process holds now."""
    return _status(pid, "VmRSS:")


def most_resident(pid: int) -> float:
    """Return the most MiB that a process has held since it began, or since `forget_most`."""
    return _status(pid, "VmHWM:")


def forget_most(pid: int) -> None:
    """Let the most that a process has held be what it holds now (proc(5), clear_refs)."""
    Path(f"/proc/{pid}/clear_refs").write_text("5")


def descriptors(pid: int) -> int:
    """Return how many descriptors a process has open."""
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


def below(pid: int, above: str = "") -> Iterator[tuple[int, str]]:
    """Yield the children of a process and theirs, as far as they still live, with their names.

    A child of a service counts as `<its name>/child`.
    """
    for thread in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            for child in map(int, thread.read_text().split()):
                name = f"{above}/child" if above else command_name(child)
                yield child, name
                yield from below(child, name)


def _status(pid: int, name: str) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status[status.index(name) :].split()[1]) / 1024
