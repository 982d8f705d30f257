"""The exchange of a file for another in one step, which puts nothing where nothing is any more."""

import ctypes
import errno
import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

from pratique_shared.contracts.problems import Unavailable
from pratique_shared.runtime.secret_files import flush_folder

RENAME_EXCHANGE = 2  # renameat2(2)
AT_FDCWD = -100


def exchange(path: Path, old: bytes, new: bytes) -> bool:
    """Put new bytes at a path where the old ones stand; False where they do not. Durable when this returns.

    A rename would bring back a file that was deleted in between; the exchange of two names fails then. The draft has
    a name that no listing of the store shows, and the file's mode: other users of its group read it too. Raises
    `Unavailable` where the file system cannot exchange names.
    """
    draft = path.with_name(f"{path.name}#{10_000 + secrets.randbelow(10**9)}")
    try:
        if path.read_bytes() != old:
            return False
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            os.fchmod(descriptor, stat.S_IMODE(path.stat().st_mode))
            file.write(new)
            file.flush()
            os.fsync(descriptor)
        _swap(draft, path)
        return True
    except FileNotFoundError:
        return False
    finally:
        draft.unlink(missing_ok=True)
        with suppress(FileNotFoundError):
            flush_folder(path.parent)


def _swap(one: Path, other: Path) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    renamed = -1
    if hasattr(libc, "renameat2"):
        renamed = libc.renameat2(AT_FDCWD, os.fsencode(one), AT_FDCWD, os.fsencode(other), RENAME_EXCHANGE)
    if renamed == 0:
        return
    number = ctypes.get_errno()
    if number == errno.ENOENT:
        raise FileNotFoundError(number, "gone")
    text = "The file system of the store cannot exchange two names: move the store to one that can (ext4, xfs, btrfs)."
    raise Unavailable("store-cannot-exchange", text)
