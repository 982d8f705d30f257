"""Transformation policies: the steps of Kekatos et al. 2026, §IV-C, as a closed union.

A policy is a list of steps, run in the order in which it stands. Every step but `class_support` and `mondrian` names
a column.
"""

from itertools import pairwise
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import Field, StringConstraints, model_validator

from pratique_shared.contracts.attributes import Column
from pratique_shared.contracts.model import Contract

Scope = Literal["per_pilot", "deterministic", "per_run"]
OnCollision = Literal["fail", "lengthen"]
MAX_STEPS = 200
STAR = "*"  # what a suppressed cell holds
PROTOCOL_LEVELS = 2  # families, and signalling apart from traffic


class ColumnStep(Contract):
    """A step on one column."""

    column: Column


class Hmac(ColumnStep):
    """HMAC-SHA-256 over the UTF-8 text, its leading `bits` as hex."""

    op: Literal["hmac"]
    bits: int = Field(default=128, ge=48, le=256, multiple_of=4)
    scope: Scope = "per_pilot"
    domain: str | None = Field(default=None, min_length=1, max_length=200)
    on_collision: OnCollision = "fail"


class SaltedHash(ColumnStep):
    """Salted SHA-256, 128 bits as hex; anyone who learns the salt can test guesses."""

    op: Literal["salted_hash"]
    acknowledge_enumerable: bool = False


class Token(ColumnStep):
    """Fresh random tokens; the map lives in memory for the one run."""

    op: Literal["token"]


class Ipv4Shaped(ColumnStep):
    """The first octet kept, three octets from the HMAC: a valid IPv4 text, not injective."""

    op: Literal["ipv4_shaped"]
    scope: Scope = "per_pilot"
    domain: str | None = Field(default=None, min_length=1, max_length=200)


class CryptoPan(ColumnStep):
    """Prefix-preserving pseudonyms of IPv4 and IPv6 addresses (Xu et al. 2002)."""

    op: Literal["crypto_pan"]
    scope: Scope = "per_pilot"
    domain: str | None = Field(default=None, min_length=1, max_length=200)


class IpPrefix(ColumnStep):
    """The network of an address: `v4` and `v6` leading bits."""

    op: Literal["ip_prefix"]
    v4: int = Field(default=24, ge=0, le=32)
    v6: int = Field(default=64, ge=0, le=128)


class Bin(ColumnStep):
    """Half-open bins [lo, hi) of one width, anchored at 0."""

    op: Literal["bin"]
    width: float = Field(gt=0, allow_inf_nan=False)


class Quantile(ColumnStep):
    """Buckets of about equal count: floor(buckets * (values strictly smaller) / N)."""

    op: Literal["quantile"]
    buckets: int = Field(ge=2, le=1000)


class TimeBucket(ColumnStep):
    """A time cut to its minute .. day, or to its hour of the day with the date dropped."""

    op: Literal["time_bucket"]
    unit: Literal["minute", "5_minutes", "15_minutes", "hour", "day", "hour_of_day"]


class TextPrefix(ColumnStep):
    """The first `n` code points and one `*`."""

    op: Literal["text_prefix"]
    n: int = Field(ge=0, le=1000)


class ProtocolFamily(ColumnStep):
    """SCTP, TCP, UDP, SERVICE_DISCOVERY or OTHER."""

    op: Literal["protocol_family"]


class Hierarchy(ColumnStep):
    """A value replaced by its ancestor in a table; `level` 1 is the parent."""

    op: Literal["hierarchy"]
    table: dict[str, tuple[str, ...]] = Field(min_length=1, max_length=100_000)
    level: int = Field(default=1, ge=1, le=20)
    name: str = Field(default="table", min_length=1, max_length=100)


class Round(ColumnStep):
    """A number rounded half to even at `digits` decimals; negative digits round to tens, hundreds, .."""

    op: Literal["round"]
    digits: int = Field(default=0, ge=-12, le=12)


class TopBottom(ColumnStep):
    """A number held between `low` and `high`, or capped at a percentile of the input."""

    op: Literal["top_bottom"]
    low: float | None = Field(default=None, allow_inf_nan=False)
    high: float | None = Field(default=None, allow_inf_nan=False)
    percentile: float | None = Field(default=None, gt=0, lt=100)

    @model_validator(mode="after")
    def _some_bound(self) -> Self:
        if self.low is None and self.high is None and self.percentile is None:
            raise ValueError("give low, high or percentile")
        if self.percentile is not None and self.high is not None:
            raise ValueError("give either high or percentile")
        if self.low is not None and self.high is not None and self.low > self.high:
            raise ValueError("low must not exceed high")
        return self


class OptimalGeneralise(ColumnStep):
    """Profiles (objects of counts) of which a part, `gamma`, is published for families (Gil et al. 2025).

    `taxonomy` names the ancestors of each leaf, finest first; absent, that of the protocols this product names. `cost`
    is the price of each level; `target` the profile to come near to, uniform or the mean of the row's role.
    """

    op: Literal["optimal_generalise"]
    gamma: float = Field(ge=0, allow_inf_nan=False)
    taxonomy: dict[str, tuple[str, ...]] | None = Field(default=None, min_length=1, max_length=10_000)
    cost: tuple[Annotated[float, Field(ge=0, le=1e6)], ...] | None = Field(default=None, max_length=8)
    target: Literal["uniform", "role"] = "uniform"

    @property
    def levels(self) -> int:
        """The number of levels above the leaves."""
        return PROTOCOL_LEVELS if self.taxonomy is None else len(next(iter(self.taxonomy.values())))

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.taxonomy is not None:
            _check_tree(self.taxonomy)
        if self.cost is not None and len(self.cost) != self.levels:
            raise ValueError("give one cost a level of the taxonomy")
        if self.gamma > max(self.cost or (1.0,)):
            raise ValueError("gamma must not exceed what all mass costs at its dearest level (1 without cost)")
        return self


def _check_tree(taxonomy: dict[str, tuple[str, ...]]) -> None:
    """Refuse ancestors that make no tree, or under whose names a count could be of two groups."""
    depths = {len(ancestors) for ancestors in taxonomy.values()}
    if len(depths) > 1 or not 1 <= max(depths) <= 8:
        raise ValueError("every leaf of the taxonomy has the same number of ancestors, 1 to 8")
    leaves_of: dict[tuple[int, str], set[str]] = {}
    for leaf, ancestors in taxonomy.items():
        for depth, name in enumerate(ancestors):
            leaves_of.setdefault((depth, name), set()).add(leaf)
    if any(name in taxonomy or name in ("", STAR) for _, name in leaves_of):
        raise ValueError("a group of the taxonomy bears the name of a leaf, `*` or none")
    by_name: dict[str, set[str]] = {}
    for (_, name), leaves in leaves_of.items():
        if by_name.setdefault(name, leaves) != leaves:
            raise ValueError("a name of the taxonomy stands for two different groups")
    for ancestors in taxonomy.values():
        for lower, upper in pairwise(enumerate(ancestors)):
            if not leaves_of[lower] <= leaves_of[upper]:
                raise ValueError("the taxonomy is no tree: leaves of one group have different ancestors above it")


class Cell(ColumnStep):
    """Every cell of the column becomes `*`."""

    op: Literal["cell"]


class Threshold(ColumnStep):
    """Values that fewer than `tau` rows have become `*`."""

    op: Literal["threshold"]
    tau: int = Field(ge=1, le=1_000_000_000)


class DropColumn(ColumnStep):
    """The column leaves the release."""

    op: Literal["drop_column"]


class Exemption(Contract):
    """Rows that carry one of the `rarest` rarest labels of `column` stay (ties by name)."""

    column: Column
    rarest: int = Field(ge=1, le=1000)


class ClassSupport(Contract):
    """Rows whose equivalence class is smaller than `tau` leave the release."""

    op: Literal["class_support"]
    tau: int = Field(ge=1, le=1_000_000_000)
    exempt: Exemption | None = None


class Mondrian(Contract):
    """The quasi-identifiers cut at medians while parts keep `k` rows, `l` sensitive values and closeness `t`."""

    op: Literal["mondrian"]
    k: int = Field(ge=2, le=1_000_000_000)
    l: int | None = Field(default=None, ge=2, le=1_000_000)  # noqa: E741 - its name
    t: float | None = Field(default=None, ge=0, le=1, allow_inf_nan=False)


TableStep: TypeAlias = ClassSupport | Mondrian  # the steps that name no column

Step = Annotated[
    Hmac
    | SaltedHash
    | Token
    | Ipv4Shaped
    | CryptoPan
    | IpPrefix
    | Bin
    | Quantile
    | TimeBucket
    | TextPrefix
    | ProtocolFamily
    | Hierarchy
    | Round
    | TopBottom
    | OptimalGeneralise
    | Cell
    | Threshold
    | DropColumn
    | ClassSupport
    | Mondrian,
    Field(discriminator="op"),
]


class Policy(Contract):
    """Steps in the order in which they run; an empty list publishes what is classified, untouched."""

    steps: tuple[Step, ...] = Field(default=(), max_length=MAX_STEPS)


# A name, or the digest of a stored version.
PolicyName = Annotated[str, StringConstraints(pattern=r"^(sha256:[0-9a-f]{64}|[A-Za-z0-9][A-Za-z0-9._-]{0,99})$")]
