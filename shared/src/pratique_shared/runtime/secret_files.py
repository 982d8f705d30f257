"""Files of secrets: written once, whole, durable, and readable by their owner alone."""

import os
from pathlib import Path


def write_secret(path: Path, text: str) -> None:
    """Write a file of mode 0600 that is either whole and durable or not there; what stands there already stays."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(path.name + ".draft")
    draft.unlink(missing_ok=True)
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    try:
        os.link(draft, path)  # unlike a rename, it replaces nothing
    except FileExistsError:
        pass
    finally:
        draft.unlink()
    flush_folder(path.parent)


def flush_folder(folder: Path) -> None:
    """Let the names in a folder be durable."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
