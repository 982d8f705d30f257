"""Applicability: which operation can act on which kind of column, and the kind that it leaves."""

from typing import assert_never

from pratique_shared.contracts.captures import ColumnKind
from pratique_shared.contracts.policy import (
    Bin,
    Cell,
    ClassSupport,
    CryptoPan,
    DropColumn,
    Hierarchy,
    Hmac,
    IpPrefix,
    Ipv4Shaped,
    Mondrian,
    OptimalGeneralise,
    ProtocolFamily,
    Quantile,
    Round,
    SaltedHash,
    Step,
    TextPrefix,
    Threshold,
    TimeBucket,
    Token,
    TopBottom,
)

_EVERY: frozenset[ColumnKind] = frozenset({"text", "integer", "number", "boolean", "list"})
_TEXTS: frozenset[ColumnKind] = frozenset({"text", "list"})
_NUMBERS: frozenset[ColumnKind] = frozenset({"text", "integer", "number", "list"})


def kinds_of(step: Step) -> frozenset[ColumnKind]:
    """Return the kinds of column that an operation acts on.

    Text may hold numbers (a numeric column with a `*` is text), and what does not becomes `*`. Only text and integers
    have one spelling, so that only they have pseudonyms. A list has no quantile or percentile of its own.
    """
    match step:
        case Hmac() | SaltedHash() | Token() | TextPrefix():
            return _TEXTS | {"integer"}
        case Ipv4Shaped() | CryptoPan() | IpPrefix() | ProtocolFamily():
            return _TEXTS
        case OptimalGeneralise():
            return frozenset({"text"})
        case Bin() | TimeBucket() | Round():
            return _NUMBERS
        case TopBottom():
            return _NUMBERS if step.percentile is None else _NUMBERS - {"list"}
        case Quantile():
            return _NUMBERS - {"list"}
        case Hierarchy() | Cell() | Threshold() | DropColumn() | ClassSupport() | Mondrian():
            return _EVERY
        case _:
            assert_never(step)


def kind_after(step: Step, kind: ColumnKind) -> ColumnKind:
    """Return the kind of a column after an operation, as far as it does not hang on the values."""
    if kind == "list" or isinstance(step, Round | TopBottom | Threshold | DropColumn | ClassSupport):
        return kind
    return "text"
