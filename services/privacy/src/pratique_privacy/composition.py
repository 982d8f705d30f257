"""Composition: what the releases of one recipient say together (Ganta, Kasiviswanathan and Smith 2008)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import polars as pl

from pratique_privacy.metrics.singling import singling
from pratique_shared.contracts.attributes import MAX_QUASI_IDENTIFIERS
from pratique_shared.contracts.facts import FIRST_EPOCH
from pratique_shared.contracts.policy import (
    ClassSupport,
    CryptoPan,
    Hmac,
    Ipv4Shaped,
    Mondrian,
    Policy,
    Threshold,
)
from pratique_shared.frames.partition import Codes, class_labels, class_sizes, coded, column_codes, with_dropped

MOST_ROWS = 2**40  # of one source table

Ids = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Part:
    """One release: its table, its quasi-identifiers, the source row of each of its rows, its lasting pseudonyms.

    `rows` are numbers that name the same source row in every part of one composition; `pseudonyms` gives for each
    column of tokens what they were made by: equal makers give equal tokens (see `lasting_pseudonyms`).
    """

    table: pl.DataFrame = field(repr=False)
    quasi_identifiers: tuple[str, ...]
    rows: Ids = field(repr=False)
    pseudonyms: Mapping[str, str] = field(repr=False)


@dataclass(frozen=True)
class Said:
    """What a join reads of a release beside its table: what that was made of, and what its tokens come from."""

    table_sha256: str
    read: tuple[str, ...]
    source_rows: tuple[int, ...]
    quasi_identifiers: tuple[str, ...]
    policy_sha256: str
    key_epoch: int
    policy: Policy = field(compare=False)  # its digest compares faster


@dataclass(frozen=True)
class Joined:
    """How an earlier release meets this one.

    `shared` rows of this release were made of source rows that stand there too; `linked` rows have a pseudonym that
    stands there, which the recipient sees without any knowledge.
    """

    shared: int
    linked: int


@dataclass(frozen=True)
class Composition:
    """The figures of this release's rows once all parts are known; without a row all are None."""

    joined: tuple[Joined, ...]
    rows: int
    classes: int | None
    k: int | None
    uniques: int | None
    exact_qi: float | None
    partial_qi: float | None


def lasting_pseudonyms(policy: Policy, epoch: int = FIRST_EPOCH) -> dict[str, str]:
    """Return the columns whose tokens come back in other releases, with what makes them: form, scope, domain, epoch.

    Tokens of `per_run` keys, fresh tokens and fresh salts never do. A later step that rewrites the column ends it.
    """
    # The first epoch is not said: ledgers from before there were others do not say it.
    by_key = "" if epoch == FIRST_EPOCH else f"|{epoch}"
    found: dict[str, str] = {}
    for step in policy.steps:
        match step:
            case Hmac() | Ipv4Shaped() | CryptoPan() if step.scope != "per_run" and step.column not in found:
                found[step.column] = f"{step.op}|{step.scope}|{step.domain or step.column}{by_key}"
            case ClassSupport() | Mondrian() | Threshold():
                continue
            case _:
                found.pop(step.column, None)
    return found


def source_ids(kept: Ids, read: Sequence[str], source_rows: Sequence[int], places: dict[tuple[str, int], int]) -> Ids:
    """Number the source rows of a release so that equal numbers mean the same row of the same source table.

    `kept` counts through the tables in `read` one after the other, which have `source_rows` rows each; `places` holds
    the number of every table met so far and is added to. A table that stands there twice is two tables.
    """
    seen: dict[str, int] = {}
    tables = []
    for digest in read:
        seen[digest] = seen.get(digest, -1) + 1
        tables.append(places.setdefault((digest, seen[digest]), len(places)))
    ends = np.cumsum(source_rows[:-1] if len(read) > 1 else [])
    table = np.searchsorted(ends, kept, side="right")
    starts = np.concatenate([[0], ends]).astype(np.int64)
    return np.asarray(tables, np.int64)[table] * MOST_ROWS + kept - starts[table]


def compose(own: Part, others: Sequence[Part], forget: float) -> Composition:
    """Return what this release risks beside the others of its recipient.

    The recipient is taken to know, for every field of a target, all forms in which the releases publish it, and which
    releases hold the target: rows of this release are alike when they agree on all of that. That is the finest
    partition which any way of linking the releases could reach, so the figures bound every such join. Releases of
    other sources meet this one where pseudonyms are equal: a row there stands for all rows of its pseudonym.
    Columns that are no quasi-identifiers do not refine it: `all_columns` says what those would do.
    `partial_qi` forgets a field in all its forms at once (Kekatos et al. 2026, §V-A); it is None beyond twelve fields.
    """
    fields: dict[str, list[Codes]] = {}
    _add(fields, own.quasi_identifiers, _codes_of(own))
    joined = []
    for other in others:
        views = list(_views(own, other))
        for view in views:
            _add(fields, other.quasi_identifiers, view.codes)
        shared = sum(int(view.met.sum()) for view in views if view.by_source)
        linked = np.zeros(own.table.height, np.bool_)
        for view in views:
            linked |= view.met & (not view.by_source)
        joined.append(Joined(shared, int(linked.sum())))
    return _figures(np.column_stack([class_labels(np.column_stack(f)) for f in fields.values()]), tuple(joined), forget)


def _figures(codes: Codes, joined: tuple[Joined, ...], forget: float) -> Composition:
    rows, width = codes.shape
    if not rows:
        return Composition(joined, 0, None, None, None, None, None)
    sizes = class_sizes(class_labels(codes))
    partial = _partial(codes, forget) if width <= MAX_QUASI_IDENTIFIERS else None
    k, uniques = int(sizes.min()), int((sizes == 1).sum())
    return Composition(joined, rows, sizes.size, k, uniques, sizes.size / rows, partial)


def _partial(codes: Codes, forget: float) -> float | None:
    """Return the sum over subsets S of (1-p)^|S| p^(d-|S|) D_S / N; None where the subsets are too many to count."""
    width = codes.shape[1]
    found = singling(codes)
    if found.largest < width:
        return None
    known = 1 - forget
    weights = (known ** len(e.subset) * forget ** (width - len(e.subset)) for e in found.exposures)
    nothing = forget**width / codes.shape[0]
    return float(nothing + sum(weight * e.share for weight, e in zip(weights, found.exposures, strict=True)))


@dataclass(frozen=True)
class _View:
    """The quasi-identifiers of another release at the rows of this one; code 0 where `met` is false."""

    codes: Codes = field(repr=False)
    met: npt.NDArray[np.bool_] = field(repr=False)
    by_source: bool


def _views(own: Part, other: Part) -> Iterator[_View]:
    theirs = _codes_of(other)
    order = np.argsort(other.rows, kind="stable")
    place = np.searchsorted(other.rows, own.rows, sorter=order).clip(max=max(order.size - 1, 0))
    if order.size:
        at = order[place]
        met = other.rows[at] == own.rows
        if met.any():
            yield _View(np.where(met[:, None], theirs[at] + 1, 0).astype(np.int32), met, by_source=True)
    for name, maker in own.pseudonyms.items():
        for column, same in other.pseudonyms.items():
            if maker == same and name in own.table.columns and column in other.table.columns:
                view = _linked(own.table[name], other.table[column], theirs)
                if view.met.any():
                    yield view


def _linked(own: pl.Series, other: pl.Series, theirs: Codes) -> _View:
    """Meet rows by equal tokens; a token stands for the set of what its rows hold, column by column."""
    mine, them = _tokens(own), _tokens(other)
    length = min(_length(mine), _length(them))  # hex of fewer bits is the beginning of hex of more
    cut = pl.col("token").str.head(length) if length else pl.col("token")
    columns = [f"c{place}" for place in range(theirs.shape[1])]
    held = pl.DataFrame({name: theirs[:, place] for place, name in enumerate(columns)}).with_row_index("row")
    by_token = _sets(them.with_columns(cut).join(held, on="row"), "token", columns)
    by_row = _sets(mine.with_columns(cut).join(by_token, on="token"), "row", columns)
    codes = np.zeros((len(own), len(columns)), np.int32)
    met = np.zeros(len(own), np.bool_)
    at = by_row["row"].to_numpy()
    met[at] = True
    for place, name in enumerate(columns):
        codes[at, place] = by_row[name].to_numpy() + 1
    return _View(codes, met, by_source=False)


def _sets(frame: pl.DataFrame, by: str, columns: Sequence[str]) -> pl.DataFrame:
    """Group by a key and give each column's set of codes a number."""
    grouped = frame.group_by(by).agg(pl.col(name).unique().sort() for name in columns)
    texts = [pl.col(name).cast(pl.List(pl.String)).list.join(",") for name in columns]
    named = grouped.with_columns(texts)
    return named.with_columns(pl.Series(name, coded(named[name]).codes) for name in columns)


def _tokens(column: pl.Series) -> pl.DataFrame:
    frame = column.alias("token").to_frame().with_row_index("row")
    if isinstance(column.dtype, pl.List):
        frame = frame.explode("token")
    return frame.with_columns(pl.col("token").cast(pl.String)).filter(
        pl.col("token").is_not_null() & (pl.col("token") != "*")
    )


def _length(tokens: pl.DataFrame) -> int:
    """Return the length of hex tokens; 0 for those that are shaped like addresses, which are compared whole."""
    if not tokens.height or tokens["token"].str.contains(r"[.:]").any():
        return 0
    longest = tokens["token"].str.len_chars().max()
    return longest if isinstance(longest, int) else 0


def _codes_of(part: Part) -> Codes:
    names = list(part.quasi_identifiers)
    return column_codes(with_dropped(part.table, names), names)


def _add(fields: dict[str, list[Codes]], names: Sequence[str], codes: Codes) -> None:
    for place, name in enumerate(names):
        fields.setdefault(name, []).append(codes[:, place])
