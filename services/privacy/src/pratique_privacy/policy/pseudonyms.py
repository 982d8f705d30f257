"""Pseudonyms of a column: a token for each subject, under the key of its scope and pilot, and no two alike."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address
from itertools import islice
from typing import TypeAlias, assert_never

import numpy as np
import numpy.typing as npt
import polars as pl

from pratique_privacy.policy.addresses import address_of
from pratique_privacy.policy.cells import Cell, Rewritten, Scalar, column_of, distinct_cells, text_of
from pratique_privacy.policy.crypto_pan import crypto_pan
from pratique_privacy.policy.forms import (
    SALT_BYTES,
    hmac_hex,
    injective,
    ipv4_shaped,
    length_without_collision,
    random_tokens,
    salted_hex,
)
from pratique_privacy.policy.keys import Keys
from pratique_shared.contracts.policy import STAR, CryptoPan, Hmac, Ipv4Shaped, SaltedHash, Token
from pratique_shared.contracts.problems import FieldError, PolicyRefused
from pratique_shared.frames.partition import Codes, class_labels, column_codes
from pratique_shared.frames.records import set_of

PseudonymStep: TypeAlias = Hmac | SaltedHash | Token | Ipv4Shaped | CryptoPan
# What one token stands for: the pilot whose key applies, and the text, or the canonical text of the address.
Subject: TypeAlias = tuple[str | None, str]

# Beside the numbers of subjects: a value that stays `*`, and one that becomes it because the form cannot read it.
_STARRED, _UNREADABLE = -2, -1


PILOT_MISSING = "Scope per_pilot needs the pilot of every row, or that of the release."
PILOT_ADVICE = "name a pilot, or choose another scope"


@dataclass(frozen=True)
class Secrets:
    """What pseudonyms are made from: keys, and fresh chance by the number of bytes."""

    keys: Keys = field(repr=False)
    entropy: Callable[[int], bytes] = field(repr=False)


@dataclass(frozen=True)
class Pseudonymised:
    """A column of pseudonyms, and the bits of its tokens where a collision made them longer."""

    rewritten: Rewritten
    lengthened: int | None = None


def pseudonymise(
    column: pl.Series, step: PseudonymStep, pilots: pl.Series, secrets: Secrets, pointer: str
) -> Pseudonymised:
    """Replace every value by its pseudonym (Kekatos et al. 2026, §IV-C); null and `*` stay, lists go by element.

    `pilots` stands beside the column and is null where no pilot is known. Two subjects with one token would merge and
    show as a false privacy gain: such a column is refused, unless the step lengthens its tokens.
    Raises `PolicyRefused`: `pilot-missing`, `pseudonym-collision`.
    """
    owned = _owned_values(column, pilots if _by_pilot(step) else None)
    subjects, numbers = _numbered(owned, step)
    if not isinstance(step, SaltedHash | Token) and step.scope == "per_pilot" and any(p is None for p, _ in subjects):
        raise PolicyRefused("pilot-missing", PILOT_MISSING, [FieldError("/pilot", PILOT_ADVICE)])
    tokens, bits = _distinct_tokens(step, subjects, secrets, pointer)
    tokens += [STAR, STAR]  # what _STARRED and _UNREADABLE point to
    values = [None if number is None else tokens[number] for number in numbers]
    unread = np.array([number == _UNREADABLE for number in numbers], dtype=np.int64)
    rewritten = Rewritten(owned.column_of(values), int((unread * owned.rows()).sum()))
    return Pseudonymised(rewritten, bits if isinstance(step, Hmac) and bits != step.bits else None)


def _by_pilot(step: PseudonymStep) -> bool:
    return not isinstance(step, SaltedHash | Token) and step.scope != "deterministic"


@dataclass(frozen=True)
class _OwnedValues:
    """The values in the distinct (cell, pilot) pairs of a column, each with its pilot; a list gives its elements."""

    column: pl.Series = field(repr=False)
    cells: Sequence[Cell] = field(repr=False)
    codes: Codes = field(repr=False)
    values: Sequence[Scalar | None] = field(repr=False)
    pilots: Sequence[str | None] = field(repr=False)

    def column_of(self, values: Sequence[str | None]) -> pl.Series:
        """Return the column with `values` in place of its own."""
        if not isinstance(self.column.dtype, pl.List):
            return column_of(values, self.column).gather(self.codes)
        rest = iter(values)
        sets: list[Cell] = [
            set_of(text for text in islice(rest, len(cell)) if text is not None) if isinstance(cell, list) else None
            for cell in self.cells
        ]
        return column_of(sets, self.column).gather(self.codes)

    def rows(self) -> npt.NDArray[np.int64]:
        """Return in how many rows each of the values stands."""
        rows = np.bincount(self.codes, minlength=len(self.cells))
        if not isinstance(self.column.dtype, pl.List):
            return rows
        return np.repeat(rows, [len(cell) if isinstance(cell, list) else 0 for cell in self.cells])


def _owned_values(column: pl.Series, pilots: pl.Series | None) -> _OwnedValues:
    owners: list[str | None]
    if pilots is None or pilots.n_unique() <= 1:
        cells, codes = distinct_cells(column)
        owners = [None if pilots is None else next(iter(pilots), None)] * len(cells)
    else:
        pairs = pl.DataFrame({"cell": column, "pilot": pilots})
        codes = class_labels(column_codes(pairs, pairs.columns))
        distinct = pairs.select(pl.all().gather(np.unique(codes, return_index=True)[1]))
        cells, owners = distinct["cell"].to_list(), distinct["pilot"].to_list()
    if not isinstance(column.dtype, pl.List):
        return _OwnedValues(column, cells, codes, [cell for cell in cells if not isinstance(cell, list)], owners)
    lists = [cell if isinstance(cell, list) else [] for cell in cells]
    repeated = [owner for owner, cell in zip(owners, lists, strict=True) for _ in cell]
    return _OwnedValues(column, cells, codes, [value for cell in lists for value in cell], repeated)


def _numbered(owned: _OwnedValues, step: PseudonymStep) -> tuple[list[Subject], list[int | None]]:
    """Return the distinct subjects, and for each value the number of its subject, None for a null."""
    numbers: dict[Subject, int] = {}
    found: list[int | None] = []
    for pilot, value in zip(owned.pilots, owned.values, strict=True):
        if value is None or value == STAR:
            found.append(None if value is None else _STARRED)
            continue
        # The message is the value alone, integers in decimal.
        text = _canonical(step, text_of(value))
        found.append(_UNREADABLE if text is None else numbers.setdefault((pilot, text), len(numbers)))
    return list(numbers), found


def _canonical(step: PseudonymStep, text: str) -> str | None:
    """Return the text that stands for the subject: two spellings of one address are one; None if it is no address."""
    match step:
        case Hmac() | SaltedHash() | Token():
            return text
        case Ipv4Shaped() | CryptoPan():
            address = address_of(text)
            readable = address is not None and (address.version == 4 or isinstance(step, CryptoPan))
            return str(address) if readable else None
        case _:
            assert_never(step)


def _distinct_tokens(
    step: PseudonymStep, subjects: Sequence[Subject], secrets: Secrets, pointer: str
) -> tuple[list[str], int | None]:
    """Return a token for each subject, all different, and the bits of an `hmac`."""
    tokens, bits = _tokens(step, subjects, secrets), None
    if isinstance(step, Hmac):
        bits = length_without_collision(tokens, step.bits, step.on_collision)
        tokens = [token[: (bits or step.bits) // 4] for token in tokens]
    if not injective(tokens):
        detail = "Two values of a column would share a pseudonym, which merges two subjects."
        advice = "ask for more bits, let an hmac lengthen, or choose a form with more room"
        raise PolicyRefused("pseudonym-collision", detail, [FieldError(pointer, advice)])
    return tokens, bits


def _tokens(step: PseudonymStep, subjects: Sequence[Subject], secrets: Secrets) -> list[str]:
    match step:
        case SaltedHash():
            # A fresh salt for each column and run: equal values in two releases say nothing of each other.
            salt = secrets.entropy(SALT_BYTES)
            return [salted_hex(salt, text) for _, text in subjects]
        case Token():
            return random_tokens(secrets.entropy, len(subjects))
        case Hmac() | Ipv4Shaped() | CryptoPan():
            return _keyed_tokens(step, subjects, secrets.keys)
        case _:
            assert_never(step)


def _keyed_tokens(step: Hmac | Ipv4Shaped | CryptoPan, subjects: Sequence[Subject], keys: Keys) -> list[str]:
    texts: dict[str | None, list[str]] = {}
    for pilot, text in subjects:
        texts.setdefault(pilot, []).append(text)
    tokens = {
        pilot: iter(_tokens_under(step, keys.derive(step.scope, pilot, step.domain or step.column, step.op), own))
        for pilot, own in texts.items()
    }
    return [next(tokens[pilot]) for pilot, _ in subjects]


def _tokens_under(step: Hmac | Ipv4Shaped | CryptoPan, key: bytes, texts: Sequence[str]) -> list[str]:
    match step:
        case Hmac():
            return hmac_hex(key, texts)
        case Ipv4Shaped():
            return ipv4_shaped(key, texts)
        case CryptoPan():
            return crypto_pan(key, [ip_address(text) for text in texts])
        case _:
            assert_never(step)
