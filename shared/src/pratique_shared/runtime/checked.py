"""Checked objects: what is small and lies open in the store has its SHA-256 behind it; a turned bit is no longer read.

It tells damage, not malice: whoever may write there can write the digest too. What is sealed proves itself.
"""

import hashlib
from typing import Final

from pratique_shared.runtime.sealing import BrokenSeal

_MARK: Final = b"\n#sha256:"
_TAIL: Final = len(_MARK) + 2 * hashlib.sha256().digest_size


def checked(data: bytes) -> bytes:
    """Return bytes with their digest behind them."""
    return data + _MARK + hashlib.sha256(data).hexdigest().encode()


def unchecked(stored: bytes, name: str) -> bytes:
    """Return the bytes before their digest; raises `BrokenSeal` where it is another one.

    What has no digest is from before there were any. Where the mark itself is damaged the digest stays with the bytes,
    and no reader takes them for what they should be.
    """
    data, tail = stored[:-_TAIL], stored[-_TAIL:]
    if not tail.startswith(_MARK):
        return stored
    if checked(data) != stored:
        raise BrokenSeal(name)
    return data


def is_checked(stored: bytes) -> bool:
    """Whether bytes have a digest behind them."""
    return stored[-_TAIL:].startswith(_MARK)
