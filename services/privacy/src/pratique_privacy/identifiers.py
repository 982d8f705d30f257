"""Identifiers: the direct identifiers of a source, looked for in what is about to be released."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping

import polars as pl

from pratique_shared.contracts.attributes import Attributes
from pratique_shared.contracts.captures import SUBSCRIBER_COLUMNS
from pratique_shared.contracts.policy import STAR

SHORTEST_NUMBER = 7  # a shorter number stands in other columns by chance
SHORTEST_SUBSTRING = 8  # shorter identifiers stand in longer texts by chance


def identifiers_in(files: Iterable[pl.DataFrame], source: pl.DataFrame, attributes: Attributes) -> int:
    """Count the released cells that hold a direct identifier of the source.

    Those are the declared ones, and a subscriber's whatever the request says of it, but for a column that it publishes
    on purpose under another class. A short number is looked for in its own column only: elsewhere it is any number.
    """
    wanted = {*attributes.identifiers, *SUBSCRIBER_COLUMNS.difference(attributes.shown)}
    files = list(files)
    anywhere: set[str] = set()
    found = 0
    for name in sorted(wanted & set(source.columns)):
        values = _said_by(source[name])
        if source[name].dtype.is_numeric():
            own = [table.select(name) for table in files if name in table.columns]
            found += scan_for_identifiers(own, values)
            values = {value for value in values if len(value) >= SHORTEST_NUMBER}
        anywhere |= values
    return found + scan_for_identifiers(files, anywhere)


def scan_for_identifiers(tables: Iterable[pl.DataFrame], raw: Collection[str]) -> int:
    """Return how many distinct cells hold a raw identifier: the whole of it, or from 8 characters on as a part.

    Linear in the characters of the distinct cells: each window of 8 is looked up among the heads of the identifiers.
    """
    identifiers = frozenset(raw) - {""}
    lengths: dict[str, set[int]] = {}
    for identifier in identifiers:
        if len(identifier) >= SHORTEST_SUBSTRING:
            lengths.setdefault(identifier[:SHORTEST_SUBSTRING], set()).add(len(identifier))
    texts = {text for table in tables for column in table.get_columns() for text in _texts(column)}
    return sum(text in identifiers or _holds(text, identifiers, lengths) for text in texts)


def _holds(text: str, identifiers: frozenset[str], lengths: Mapping[str, set[int]]) -> bool:
    width = SHORTEST_SUBSTRING
    windows = [text[start : start + width] for start in range(len(text) - width + 1)]
    if lengths.keys().isdisjoint(windows):
        return False
    return any(
        text[start : start + length] in identifiers
        for start, window in enumerate(windows)
        for length in lengths.get(window, ())
    )


def _texts(column: pl.Series) -> Iterator[str]:
    """Yield the distinct cells as texts: a whole float as an integer too, a list by its elements."""
    if isinstance(column.dtype, pl.List):
        column = column.explode()
    for value in column.drop_nulls().unique().to_list():
        yield str(value)
        if isinstance(value, float) and value.is_integer():
            yield str(int(value))


def _said_by(column: pl.Series) -> set[str]:
    """Return every text that a column of identifiers says: the cells, and an object's members one by one."""
    found = set(_texts(column))
    for text in [text for text in found if text.startswith("{")]:
        found.update(_members(text))
    return found - {"", STAR}


def _members(text: str) -> Iterator[str]:
    try:
        values = [json.loads(text)]
    except ValueError:
        return
    while values:
        value = values.pop()
        match value:
            case dict():
                values += value.values()
            case list():
                values += value
            case str() | int() | float():
                yield str(value)
