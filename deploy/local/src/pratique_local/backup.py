"""Backup: a copy of a running store that is whole, since facts are copied before the blobs that they name."""

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# A fact of a room further back may name, or follow from, one of a room before it only if both were there already.
ROOMS = ("releases", "captures", "matrices", "scores", "keys")
SECRETS = ("secrets.json", "admin.key")
_DRAFT = "#"  # in the name of a file that is being written


@dataclass(frozen=True)
class Copied:
    """What a run copied, and what it removed from the backup since it is gone from the store."""

    files: int
    bytes: int
    removed: int


def back_up(data: Path, to: Path, secrets_to: Path | None = None) -> Copied:
    """Copy the store of a data folder to a folder; what is there already is not copied again.

    No fact or blob changes in place, so size and name say enough of them; of wrapped keys, which `rekey` puts under
    another key, the time of writing does. What was shredded in the store is removed from the
    backup too: a deletion reaches it at the next run.
    """
    store, copy = data / "store", to / "store"
    facts = [path for room in ROOMS for path in _files(store / room) if not _is_blob(path, store)]
    copied = [_copy(path, copy / path.relative_to(store)) for path in facts]
    blobs = [path for room in ROOMS for path in _files(store / room / "blobs")]
    copied += [_copy(path, copy / path.relative_to(store)) for path in blobs]
    removed = 0
    for path in [path for room in ROOMS for path in _files(copy / room)]:
        if not (store / path.relative_to(copy)).exists():
            path.unlink()
            removed += 1
    if secrets_to is not None:
        secrets_to.mkdir(mode=0o700, parents=True, exist_ok=True)
        for name in SECRETS:
            _copy(data / name, secrets_to / name)
    os.sync()
    return Copied(sum(size is not None for size in copied), sum(size or 0 for size in copied), removed)


def _files(folder: Path) -> Iterator[Path]:
    for parent, _, names in os.walk(folder):
        yield from (Path(parent, name) for name in names if _DRAFT not in name)


def _is_blob(path: Path, store: Path) -> bool:
    return path.relative_to(store).parts[1] == "blobs"


def _copy(path: Path, to: Path) -> int | None:
    """Copy a file whole or not at all; return its size, or None where there was nothing to do."""
    try:
        size, written = path.stat().st_size, path.stat().st_mtime_ns
        if to.exists() and (to.stat().st_size, to.stat().st_mtime_ns) == (size, written):
            return None
        to.parent.mkdir(parents=True, exist_ok=True)
        draft = to.with_name(to.name + _DRAFT)
        shutil.copy2(path, draft)
        draft.replace(to)
    except FileNotFoundError:  # shredded while we looked
        return None
    return size
