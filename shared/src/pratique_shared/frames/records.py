"""Records: rows of plain values as a typed table, and back.

A column has one type. Numbers compare by value, text by code points, lists as sets; null is what is missing.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NoReturn, TypeAlias

import polars as pl

from pratique_shared.contracts.attributes import LONGEST_NAME, MAX_COLUMNS
from pratique_shared.contracts.canonical import canonical_json
from pratique_shared.contracts.captures import ColumnKind
from pratique_shared.contracts.problems import FieldError, Unprocessable, pointer

Kind: TypeAlias = ColumnKind | Literal["object"]

KINDS: dict[type, Kind] = {
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "text",
    list: "list",
    tuple: "list",
    dict: "object",
}
INT64 = range(-(2**63), 2**63)
LIST = pl.List(pl.String)


def table_of(rows: Sequence[Mapping[str, object]], at: str = "") -> pl.DataFrame:
    """Return the rows as a table: the union of their keys in order of first appearance, a missing key is null.

    5 and 5.0 are one value, NaN is null, -0.0 is 0; a list becomes the sorted set of its elements; an object becomes
    its canonical JSON text. `at` is the JSON pointer under which a refused column is named.

    Raises `Unprocessable`: `mixed-types`, `integer-too-large`, `integer-not-exact`, `number-not-finite`,
    `text-not-unicode`, `column-name`, `too-many-columns`, `list-element`, `value-type`, `no-columns`.
    """
    names = list(dict.fromkeys(name for row in rows for name in row))
    if rows and not names:
        raise Unprocessable("no-columns", "No row has a column: give every row at least one key.")
    if len(names) > MAX_COLUMNS:
        raise Unprocessable("too-many-columns", f"The rows have more than {MAX_COLUMNS} columns: leave some out.")
    return pl.DataFrame([_series(name, [row.get(name) for row in rows], at + pointer(name)) for name in names])


def rows_of(table: pl.DataFrame) -> list[dict[str, object]]:
    """Return the table as rows of plain JSON values."""
    return table.to_dicts()


def column_types(table: pl.DataFrame) -> list[tuple[str, ColumnKind]]:
    """Return name and type of every column, in order."""
    return [(name, type_word(dtype)) for name, dtype in table.schema.items()]


def type_word(dtype: pl.DataType) -> ColumnKind:
    """Return the word for a column's type; a column of nothing but nulls is text."""
    if dtype.is_integer():
        return "integer"
    if dtype.is_float():
        return "number"
    if dtype == pl.Boolean:
        return "boolean"
    return "list" if isinstance(dtype, pl.List) else "text"


def set_of(elements: Iterable[str]) -> list[str]:
    """Return the canonical form of a list, which stands for a set: sorted by code points, without duplicates."""
    return sorted(set(elements))


def set_series(name: str, cells: Iterable[Iterable[str] | None]) -> pl.Series:
    """Return a column of sets. Only distinct cells are built from Python lists, which cost ten times a code."""
    codes: dict[tuple[str, ...] | None, int] = {}
    rows = [codes.setdefault(None if cell is None else tuple(cell), len(codes)) for cell in cells]
    distinct = [None if cell is None else set_of(cell) for cell in codes]
    return pl.Series(name, distinct, dtype=LIST).gather(rows)


def check_name(name: str, where: str) -> None:
    """Refuse the name of a column that a file format or a pattern would read as something else.

    Raises `Unprocessable` (`column-name`, `text-not-unicode`).
    """
    _check_unicode([name], where)
    pattern = name == "*" or (name.startswith("^") and name.endswith("$"))
    if not 0 < len(name) <= LONGEST_NAME or pattern or '"' in name or not name.isprintable():
        advice = f"use 1 to {LONGEST_NAME} printable characters, no double quote, not `*` and not `^..$`"
        _refuse("column-name", "A column has a name that cannot be published.", where, advice)


def _series(name: str, values: list[object], where: str) -> pl.Series:
    check_name(name, where)
    kinds = _kinds(values, where)
    if kinds == {"integer", "number"}:
        kinds = {"number"}
    if len(kinds) > 1:
        found = " and ".join(sorted(kinds))
        _refuse("mixed-types", "A column has one type.", where, f"holds {found}: give all its values one type")
    match next(iter(kinds), "text"):
        case "integer":
            return pl.Series(name, _integers(values, where), dtype=pl.Int64)
        case "number":
            return pl.Series(name, _numbers(values, where), dtype=pl.Float64)
        case "boolean":
            return pl.Series(name, values, dtype=pl.Boolean)
        case "list":
            return set_series(name, _sets(values, where))
        case "object":
            values = [value if value is None else _object_text(value, where) for value in values]
        case "text":
            pass
    _check_unicode(values, where)
    return pl.Series(name, values, dtype=pl.String)


def _kinds(values: list[object], where: str) -> set[Kind]:
    types = set(map(type, values)) - {type(None)}
    if not types <= KINDS.keys():
        _refuse("value-type", "A value is of a type that JSON does not have.", where, "give plain JSON values")
    return {KINDS[found] for found in types}


def _integers(values: list[object], where: str) -> list[object]:
    if any(value is not None and value not in INT64 for value in values):
        _refuse("integer-too-large", "An integer needs more than 64 bits.", where, "give such numbers as text")
    return values


def _numbers(values: list[object], where: str) -> list[float | None]:
    numbers: list[float | None] = []
    _integers([value for value in values if isinstance(value, int)], where)
    for value in values:
        if not isinstance(value, int | float) or value != value:  # NaN alone differs from itself
            numbers.append(None)
            continue
        number = float(value) + 0.0  # turns -0.0 into 0.0
        if number in (float("inf"), float("-inf")):
            _refuse("number-not-finite", "A number is infinite.", where, "give a finite number or null")
        # Two large integers that share one float would become one value, and two subjects one.
        if number != value:
            _refuse("integer-not-exact", "An integer does not fit a column of floats.", where, "give text or integers")
        numbers.append(number)
    return numbers


def _sets(values: list[object], where: str) -> list[list[str] | None]:
    cells = [value for value in values if isinstance(value, list | tuple)]
    if not {type(element) for cell in cells for element in cell} <= {str, int}:
        _refuse("list-element", "A list holds something else than text and integers.", where, "give texts or integers")
    _check_unicode([element for cell in cells for element in cell], where)
    return [[str(element) for element in cell] if isinstance(cell, list | tuple) else None for cell in values]


def _object_text(value: object, where: str) -> str:
    try:
        return canonical_json(value)
    except (TypeError, ValueError, RecursionError):
        _refuse("value-type", "An object holds something that JSON does not have.", where, "give plain JSON values")


def _check_unicode(texts: Sequence[object], where: str) -> None:
    try:
        "".join(text for text in texts if isinstance(text, str)).encode()
    except UnicodeEncodeError:
        _refuse("text-not-unicode", "A text holds half a surrogate pair.", where, "give well-formed Unicode")


def _refuse(code: str, detail: str, where: str, advice: str) -> NoReturn:
    # `from None`: the cause of a refusal may quote the value.
    raise Unprocessable(code, detail, [FieldError(where, advice)]) from None
