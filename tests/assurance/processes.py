"""Processes as the kernel sees them: memory, descriptors, descendants."""

from pathlib import Path


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


def descendants(pid: int) -> list[int]:
    """Return the children of a process and theirs, as far as they still live."""
    found = []
    for thread in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children = [int(child) for child in thread.read_text().split()]
        except OSError:
            continue
        for child in children:
            found += [child, *descendants(child)]
    return found


def _status(pid: int, name: str) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status[status.index(name) :].split()[1]) / 1024
