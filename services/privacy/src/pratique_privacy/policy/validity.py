"""Validity: attributes and a policy held against the columns of a source before anything runs."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import polars as pl

from pratique_privacy.policy.applicability import kind_after, kinds_of
from pratique_privacy.policy.enumerable import enumerable
from pratique_privacy.policy.formulas import holds_formula
from pratique_shared.contracts.attributes import LIST_OF, MAX_QUASI_IDENTIFIERS, Attributes
from pratique_shared.contracts.captures import HOST_COLUMNS, SESSION_COLUMNS, SUBSCRIBER_COLUMNS, ColumnKind
from pratique_shared.contracts.policy import (
    Cell,
    ClassSupport,
    CryptoPan,
    DropColumn,
    Hmac,
    Ipv4Shaped,
    Mondrian,
    OptimalGeneralise,
    Policy,
    SaltedHash,
    TableStep,
    Threshold,
    Token,
)
from pratique_shared.contracts.problems import FieldError, PolicyRefused, pointer

# What a refusal says, by its code; pointers say where. Names of columns are the caller's words and are not repeated.
DETAILS = {
    "attribute-unlisted": "Every column of the source stands in exactly one of the five lists of attributes.",
    "attribute-unknown": "The attributes name a column that the source does not have.",
    "attribute-duplicate": "A column stands in one list of attributes, and there once.",
    "quasi-identifier-missing": "A release needs at least one quasi-identifier.",
    "too-many-quasi-identifiers": f"A release has at most {MAX_QUASI_IDENTIFIERS} quasi-identifiers.",
    "not-sensitive": "Bins and orders are for columns listed as sensitive.",
    "bins-not-numeric": "Only a numeric sensitive attribute can be binned.",
    "column-unknown": "A step names a column that the source does not have.",
    "column-dropped": "A step names a column that is no longer there when it runs.",
    "op-not-applicable": "An operation cannot act on a column of this type.",
    "enumerable-domain": "A salted hash does not hide values that can be enumerated.",
    "identifier-in-clear": "A direct identifier must be pseudonymised, suppressed or dropped.",
    "sensitive-missing": "A constraint on sensitive values needs a sensitive column.",
    "formula-name": "A spreadsheet would run the name of a column: it cannot be released under this name.",
    "nothing-released": "The policy leaves no column to release.",
}


@dataclass(frozen=True)
class _Complaint:
    code: str
    error: FieldError


def check_policy(
    attributes: Attributes,
    policy: Policy,
    columns: Mapping[str, ColumnKind],
    *,
    sample: pl.DataFrame | None = None,
) -> None:
    """Refuse attributes and a policy that cannot stand on these columns; `sample` gives values to judge domains by.

    Raises `PolicyRefused` with the code of the first complaint (a key of `DETAILS`) and a field error for each.
    """
    complaints = [
        *_listing(attributes, columns),
        *_extras(attributes, columns, sample),
        *_steps(attributes, policy, columns, sample),
        *_outcome(attributes, policy),
    ]
    if complaints:
        code = complaints[0].code
        raise PolicyRefused(code, DETAILS[code], [complaint.error for complaint in complaints])


def _listing(attributes: Attributes, columns: Mapping[str, ColumnKind]) -> Iterator[_Complaint]:
    """Complain about columns that stand in no list, in two, or in none of the source."""
    seen: set[str] = set()
    for field in LIST_OF.values():
        for place, name in enumerate(getattr(attributes, field)):
            where = pointer("attributes", field, str(place))
            if name in seen:
                yield _complaint("attribute-duplicate", where, "stands in a list already: leave it in one")
            elif name not in columns:
                yield _complaint("attribute-unknown", where, "no record has this column")
            seen.add(name)
    for place, name in enumerate(columns, start=1):
        if name not in seen:
            # The names of our own records are known; those of a table may be its first record, sent without a header.
            known = name in HOST_COLUMNS or name in SESSION_COLUMNS
            advice = (
                f"{name if known else f'column {place} of the source'} stands in no list: name it in one, or in drop"
            )
            yield _complaint("attribute-unlisted", "/attributes", advice)
    where, count = "/attributes/quasi_identifiers", len(attributes.quasi_identifiers)
    if count == 0:
        yield _complaint("quasi-identifier-missing", where, "name at least one column")
    if count > MAX_QUASI_IDENTIFIERS:
        yield _complaint("too-many-quasi-identifiers", where, f"name at most {MAX_QUASI_IDENTIFIERS} columns")


def _extras(
    attributes: Attributes, columns: Mapping[str, ColumnKind], sample: pl.DataFrame | None
) -> Iterator[_Complaint]:
    for field in ("sensitive_bins", "ordered"):
        for name in getattr(attributes, field):
            if name not in attributes.sensitive:
                yield _complaint("not-sensitive", pointer("attributes", field, name), "list the column as sensitive")
    for name in attributes.sensitive_bins:
        empty = sample is not None and name in sample.columns and sample[name].null_count() == sample.height
        if columns.get(name, "number") not in ("integer", "number") and not empty:
            where = pointer("attributes", "sensitive_bins", name)
            yield _complaint("bins-not-numeric", where, "leave out the bins, or give numbers")


def _steps(
    attributes: Attributes, policy: Policy, columns: Mapping[str, ColumnKind], sample: pl.DataFrame | None
) -> Iterator[_Complaint]:
    """Complain about steps in the order in which they would run; `kinds` are the columns that each of them finds."""
    kinds = {name: kind for name, kind in columns.items() if name not in attributes.drop}
    for place, step in enumerate(policy.steps):
        at = ("policy", "steps", str(place))
        if isinstance(step, ClassSupport):
            if step.exempt is not None and step.exempt.column not in kinds:
                yield _absent(step.exempt.column, columns, pointer(*at, "exempt", "column"))
            continue
        if isinstance(step, Mondrian):
            yield from _mondrian(step, attributes, kinds, at)
            continue
        name, where = step.column, pointer(*at, "column")
        if name not in kinds:
            yield _absent(name, columns, where)
            continue
        if kinds[name] not in kinds_of(step):
            advice = f"this operation does not act on a column of type {kinds[name]}"
            yield _complaint("op-not-applicable", where, advice)
        if isinstance(step, SaltedHash) and not step.acknowledge_enumerable and enumerable(name, _values(name, sample)):
            yield _complaint("enumerable-domain", where, "use hmac, or set acknowledge_enumerable")
        if isinstance(step, OptimalGeneralise) and step.target == "role" and "role" not in columns:
            yield _complaint("column-unknown", pointer(*at, "target"), "no record has a role: take the uniform target")
        kinds[name] = kind_after(step, kinds[name])
        if isinstance(step, DropColumn):
            del kinds[name]


def _mondrian(
    step: Mondrian, attributes: Attributes, kinds: dict[str, ColumnKind], at: tuple[str, ...]
) -> Iterator[_Complaint]:
    """Complain about constraints on nothing; note that what is cut is text from here on."""
    if not any(name in kinds for name in attributes.quasi_identifiers):
        yield _complaint("column-dropped", pointer(*at), "no quasi-identifier is left to cut")
    for field in ("l", "t"):
        if getattr(step, field) is not None and not any(name in kinds for name in attributes.sensitive):
            yield _complaint("sensitive-missing", pointer(*at, field), "name a sensitive column, or leave this out")
    for name in attributes.quasi_identifiers:
        if name in kinds:
            kinds[name] = kind_after(step, kinds[name])


def _values(name: str, sample: pl.DataFrame | None) -> pl.Series | None:
    return sample[name] if sample is not None and name in sample.columns else None


def _absent(name: str, columns: Mapping[str, ColumnKind], where: str) -> _Complaint:
    if name in columns:
        return _complaint("column-dropped", where, "the column has been dropped: take this step out, or move it up")
    return _complaint("column-unknown", where, "no record has this column")


def _outcome(attributes: Attributes, policy: Policy) -> Iterator[_Complaint]:
    """Complain about identifiers that would leave in clear, and about a release without a column."""
    hiding = Hmac | SaltedHash | Token | Ipv4Shaped | CryptoPan | Cell | DropColumn
    hidden = {step.column for step in policy.steps if isinstance(step, hiding)}
    for place, name in enumerate(attributes.identifiers):
        if name not in hidden:
            where = pointer("attributes", "identifiers", str(place))
            yield _complaint("identifier-in-clear", where, "pseudonymise it, suppress its cells, or drop it")
    treated = {step.column for step in policy.steps if not isinstance(step, TableStep | Threshold)}
    for field in ("quasi_identifiers", "sensitive", "insensitive"):
        for place, name in enumerate(getattr(attributes, field)):
            if name in SUBSCRIBER_COLUMNS and name not in treated:
                where = pointer("attributes", field, str(place))
                yield _complaint(
                    "identifier-in-clear", where, "this column names subscribers: list it in identifiers or drop"
                )
    listed = set(attributes.published)
    dropped = {step.column for step in policy.steps if isinstance(step, DropColumn)}
    for name in sorted(listed - dropped):
        if holds_formula(name):
            yield _complaint("formula-name", "/attributes", "drop the column, or send it under another name")
    if listed and listed <= dropped:
        yield _complaint("nothing-released", "/policy/steps", "keep at least one column")


def _complaint(code: str, where: str, advice: str) -> _Complaint:
    return _Complaint(code, FieldError(where, advice))
