"""The clock, and names that sort by time."""

import re
import secrets
from datetime import UTC, datetime, timedelta
from typing import Literal

from pratique_shared.contracts.ids import ID

Prefix = Literal["rel", "cap", "dst", "atk", "swp", "utl", "prf", "rec", "key", "aud", "whk", "dlv", "ses", "tkt"]
_DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's base 32
_AFTER_PREFIX = re.compile(ID)


def now() -> datetime:
    """Return the present moment in UTC."""
    return datetime.now(UTC)


def text_of(moment: datetime) -> str:
    """Return a UTC moment as RFC 3339 text with microseconds."""
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")


def stamp() -> str:
    """Return the present moment as text."""
    return text_of(now())


def stamp_after(*earlier: str) -> str:
    """Return the present moment as text, no earlier than those: what follows from them is not dated before them.

    Between two facts a clock may be set back, or the second is written by a machine whose clock is behind.
    """
    return max(stamp(), *earlier)


def made_at(identity: str) -> datetime:
    """Return the moment that an id was made at."""
    milliseconds = 0
    for digit in identity.split("_", 1)[1][:10]:
        milliseconds = milliseconds * 32 + _DIGITS.index(digit)
    return datetime.fromtimestamp(milliseconds / 1000, UTC)


def is_id(name: str, *kinds: Prefix) -> bool:
    """Whether a name is an id of one of these kinds; a store may list names that others put there (`.nfs0001`)."""
    prefix, _, rest = name.partition("_")
    return prefix in kinds and _AFTER_PREFIX.fullmatch(rest) is not None


def day_of(identity: str) -> str:
    """Return the UTC day (YYYY-MM-DD) that an id was made on."""
    return made_at(identity).strftime("%Y-%m-%d")


def fresh_name() -> str:
    """Return a name that nobody else uses, for a blob that a fact will name."""
    return secrets.token_hex(12)


def new_id(prefix: Prefix) -> str:
    """Return a fresh id: the prefix, 48 bits of milliseconds, 80 random bits (as in a ULID), in lower case."""
    return id_at(prefix, now(), secrets.randbits(80))


def id_after(prefix: Prefix, last: str) -> str:
    """Return a fresh id that sorts after `last`, in the same millisecond and after the clock was set back, too."""
    fresh = new_id(prefix)
    if fresh > last:
        return fresh
    return id_at(prefix, made_at(last) + timedelta(milliseconds=1), secrets.randbits(80))


def id_at(prefix: Prefix, moment: datetime, bits: int) -> str:
    """Return the id of this moment with these 80 bits."""
    number = int(moment.timestamp() * 1000) << 80 | bits
    digits = []
    for _ in range(26):
        number, rest = divmod(number, 32)
        digits.append(_DIGITS[rest])
    return f"{prefix}_{''.join(reversed(digits))}"
