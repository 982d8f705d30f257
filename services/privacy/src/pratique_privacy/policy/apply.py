"""The application of a policy: a source table goes in, the columns and rows that may be published come out."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TypeAlias, assert_never

import numpy as np
import numpy.typing as npt
import polars as pl

from pratique_privacy.policy.addresses import ip_prefix
from pratique_privacy.policy.cells import Reading, Rewritten, as_text, distinct_cells, rewrite, texts_of
from pratique_privacy.policy.enumerable import enumerable
from pratique_privacy.policy.families import family_of
from pratique_privacy.policy.generalise import (
    bin_reading,
    hierarchy_reading,
    quantile,
    round_reading,
    text_prefix_reading,
    top_bottom_reading,
)
from pratique_privacy.policy.keys import Keys
from pratique_privacy.policy.mondrian import mondrian
from pratique_privacy.policy.profiles import generalised
from pratique_privacy.policy.pseudonyms import PILOT_ADVICE, PILOT_MISSING, PseudonymStep, Secrets, pseudonymise
from pratique_privacy.policy.suppress import rows_in_large_classes, suppress_cells, suppress_rare, suppressed_share
from pratique_privacy.policy.times import time_reading
from pratique_privacy.policy.validity import check_policy
from pratique_shared.contracts.attributes import Attributes
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
    Policy,
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
from pratique_shared.contracts.posture import Finding
from pratique_shared.contracts.problems import FieldError, PolicyRefused, pointer
from pratique_shared.frames.records import column_types

Rows: TypeAlias = npt.NDArray[np.int64]
ValueStep: TypeAlias = Bin | TimeBucket | TextPrefix | ProtocolFamily | Hierarchy | Round | TopBottom
CoarseningStep: TypeAlias = ValueStep | IpPrefix | Cell | Threshold | Quantile

PILOT = "pilot"


@dataclass(frozen=True)
class Transformed:
    """What a policy left of a table: kept rows in the order of the source, and what it took away.

    `kept` numbers the source row of each row; `unreadable` counts the values that a step could not read, over the rows
    that stood before it; `cells_suppressed` is the share of `*` in each column that has one.
    """

    table: pl.DataFrame = field(repr=False)
    kept: Rows = field(repr=False)
    unreadable: Mapping[str, int]
    cells_suppressed: Mapping[str, float]
    findings: tuple[Finding, ...]


@dataclass(frozen=True)
class _Given:
    """What holds for every step: the source, what its columns are, the pilot of each source row, the secrets."""

    source: pl.DataFrame = field(repr=False)
    attributes: Attributes
    pilots: pl.Series = field(repr=False)
    secrets: Secrets
    sensitive: Mapping[str, Callable[[pl.Series], pl.Series]] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class _Standing:
    """The table as it stands between two steps."""

    table: pl.DataFrame = field(repr=False)
    rows: Rows = field(repr=False)
    unreadable: Mapping[str, int] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()

    def with_column(self, rewritten: Rewritten, *findings: Finding) -> "_Standing":
        name = rewritten.column.name
        unreadable = {**self.unreadable, name: self.unreadable.get(name, 0) + rewritten.unreadable}
        table = self.table.with_columns(rewritten.column)
        return replace(self, table=table, unreadable=unreadable, findings=(*self.findings, *findings))


def apply_policy(
    table: pl.DataFrame,
    policy: Policy,
    attributes: Attributes,
    *,
    keys: Keys,
    pilot: str | None,
    entropy: Callable[[int], bytes],
    sensitive: Mapping[str, Callable[[pl.Series], pl.Series]] = MappingProxyType({}),
) -> Transformed:
    """Run the steps of a policy in order over the published columns of a table (Kekatos et al. 2026, §IV-C).

    `pilot` is that of the release, for rows whose source names none; `entropy` gives fresh random bytes;
    `sensitive` says how a sensitive column is read where it is not by its values, but by bins.
    Raises `PolicyRefused`: whatever `check_policy` finds, `pilot-missing`, `pseudonym-collision`, `hierarchy-gap`,
    `mondrian-infeasible`.
    """
    check_policy(attributes, policy, dict(column_types(table)), sample=table)
    given = _Given(table, attributes, _pilots(table, pilot), Secrets(keys, entropy), sensitive)
    standing = _Standing(table.select(attributes.published), np.arange(table.height, dtype=np.int64))
    for place, step in enumerate(policy.steps):
        standing = _after(standing, step, given, pointer("policy", "steps", str(place)))
    return Transformed(
        table=standing.table,
        kept=standing.rows,
        unreadable={name: count for name, count in standing.unreadable.items() if count},
        cells_suppressed=suppressed_share(standing.table),
        findings=standing.findings,
    )


def check_pilots(table: pl.DataFrame, policy: Policy, pilot: str | None) -> None:
    """Raise `PolicyRefused` (`pilot-missing`) where a step of scope per_pilot would meet a value without a pilot."""
    unknown = _pilots(table, pilot).is_null()
    for place, step in enumerate(policy.steps):
        if isinstance(step, Hmac | Ipv4Shaped | CryptoPan) and step.scope == "per_pilot":
            column = table[step.column]
            there = column.list.len() > 0 if isinstance(column.dtype, pl.List) else column.is_not_null()
            if (there & unknown).any():
                where = pointer("policy", "steps", place, "scope")
                raise PolicyRefused("pilot-missing", PILOT_MISSING, [FieldError(where, PILOT_ADVICE)])


def _pilots(table: pl.DataFrame, pilot: str | None) -> pl.Series:
    """Return the pilot of each row: the source's, whether it is published or not, else the release's, else null."""
    release = pl.repeat(pilot, table.height, dtype=pl.String, eager=True).alias(PILOT)
    if PILOT not in table.columns or isinstance(table[PILOT].dtype, pl.List):
        return release
    own = as_text(table[PILOT])
    return own.zip_with((own != "").fill_null(value=False), release)


def _after(standing: _Standing, step: Step, given: _Given, where: str) -> _Standing:
    match step:
        case ClassSupport():
            names = [name for name in given.attributes.quasi_identifiers if name in standing.table.columns]
            kept = rows_in_large_classes(standing.table, names, step.tau, step.exempt)
            return replace(standing, table=standing.table.filter(kept), rows=standing.rows[kept])
        case Mondrian():
            return replace(standing, table=_cut(standing.table, step, given, where))
        case DropColumn():
            return replace(standing, table=standing.table.drop(step.column))
        case Hmac() | SaltedHash() | Token() | Ipv4Shaped() | CryptoPan():
            return _pseudonymised(standing, step, given, where)
        case OptimalGeneralise():
            return _generalised(standing, step, given, where)
        case _:
            return standing.with_column(_coarser(standing.table[step.column], step, where))


def _cut(table: pl.DataFrame, step: Mondrian, given: _Given, where: str) -> pl.DataFrame:
    names = [name for name in given.attributes.quasi_identifiers if name in table.columns]
    read = {name: given.sensitive.get(name) for name in given.attributes.sensitive if name in table.columns}
    sensitive = [table[name] if reading is None else reading(table[name]) for name, reading in read.items()]
    return table.with_columns(mondrian([table[name] for name in names], sensitive, step, where))


def coarsened(column: pl.Series, steps: Sequence[CoarseningStep]) -> pl.Series:
    """Return a column after steps that look at nothing but its values. Raises `PolicyRefused` (`hierarchy-gap`)."""
    for step in steps:
        column = _coarser(column, step, "/policy/steps").column
    return column


def _coarser(column: pl.Series, step: CoarseningStep, where: str) -> Rewritten:
    match step:
        case IpPrefix():
            return ip_prefix(column, step.v4, step.v6)
        case Cell():
            return Rewritten(suppress_cells(column))
        case Threshold():
            return Rewritten(suppress_rare(column, step.tau))
        case Quantile():
            return quantile(column, step.buckets)
        case Bin() | TimeBucket() | TextPrefix() | ProtocolFamily() | Hierarchy() | Round() | TopBottom():
            return rewrite(column, _reading(step, column, where))
        case _:
            assert_never(step)


def _reading(step: ValueStep, column: pl.Series, where: str) -> Reading:
    match step:
        case Bin():
            return bin_reading(step.width)
        case TimeBucket():
            return time_reading(step.unit)
        case TextPrefix():
            return text_prefix_reading(step.n)
        case ProtocolFamily():
            return family_of
        case Hierarchy():
            _check_hierarchy(step, column, where)
            return hierarchy_reading(step.table, step.level)
        case Round():
            return round_reading(step.digits)
        case TopBottom():
            return top_bottom_reading(column, step)
        case _:
            assert_never(step)


def _check_hierarchy(step: Hierarchy, column: pl.Series, where: str) -> None:
    """Refuse a column with values that the table misses: they count, and are never told."""
    cells, _ = distinct_cells(column)
    missed = sum(not step.table.get(text) for text in {text for cell in cells for text in texts_of(cell)})
    if missed:
        detail = (
            f"{missed} distinct values of the column have no ancestor in the hierarchy named {step.name}: add them to "
            "its table, or suppress rare values before this step."
        )
        raise PolicyRefused("hierarchy-gap", detail, [FieldError(f"{where}/table", "give each value its ancestors")])


def _generalised(standing: _Standing, step: OptimalGeneralise, given: _Given, where: str) -> _Standing:
    roles = given.source["role"].gather(standing.rows) if step.target == "role" else None
    made = generalised(standing.table[step.column], step, roles, given.secrets.entropy, where)
    return standing.with_column(made.rewritten, *made.findings)


def _pseudonymised(standing: _Standing, step: PseudonymStep, given: _Given, where: str) -> _Standing:
    pilots = given.pilots.gather(standing.rows)
    made = pseudonymise(standing.table[step.column], step, pilots, given.secrets, where)
    findings = []
    if made.lengthened is not None:
        detail = f"Two values collided at the length asked for: every token has {made.lengthened} bits."
        findings.append(Finding(code="pseudonym-lengthened", column=step.column, detail=detail))
    if isinstance(step, SaltedHash) and enumerable(step.column, given.source[step.column]):
        detail = "Whoever learns the salt can test every possible value: an hmac cannot be tested without its key."
        findings.append(Finding(code="salted-hash-enumerable", column=step.column, detail=detail))
    if isinstance(step, CryptoPan):
        detail = "Shared prefixes stay visible: who knows some addresses learns the prefix of their neighbours."
        findings.append(Finding(code="prefix-structure-kept", column=step.column, detail=detail))
    return standing.with_column(made.rewritten, *findings)
