"""From a source table to a measured one: the policy applied, every figure before and after, the code matrix."""

import hashlib
import hmac
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import polars as pl

from pratique_privacy.metrics.flags import flags
from pratique_privacy.metrics.measure import all_columns, measure
from pratique_privacy.metrics.sensitive import FixedBins, fix_bins
from pratique_privacy.metrics.survival import label_columns, labels_lost, survival_by_label
from pratique_privacy.policy.apply import Transformed, apply_policy
from pratique_privacy.policy.formulas import neutral, neutralised
from pratique_privacy.policy.keys import Keys
from pratique_shared.contracts.attributes import Attributes
from pratique_shared.contracts.policy import Policy, TableStep
from pratique_shared.contracts.posture import AllColumns, Finding, Metrics, PpiParameters, RecordsSummary
from pratique_shared.contracts.problems import Unprocessable
from pratique_shared.frames.partition import Codes, column_codes, with_dropped


@dataclass(frozen=True)
class Request:
    """What is to be done to a source, with every default filled in.

    `pilot` is that of rows that name none.
    """

    attributes: Attributes
    policy: Policy
    ppi: PpiParameters
    pilot: str | None
    no_gate: bool = False


@dataclass(frozen=True)
class Measurement:
    """A transformed table with its figures. `table` holds what may leave, in the order of the source."""

    table: pl.DataFrame = field(repr=False)
    transformed: Transformed = field(repr=False)
    records: RecordsSummary
    before: Metrics
    after: Metrics
    all_columns: AllColumns
    flags: tuple[str, ...]
    findings: tuple[Finding, ...]


def run(source: pl.DataFrame, request: Request, keys: Keys, entropy: Callable[[int], bytes]) -> Measurement:
    """Apply the policy to a source and measure it before and after, on the same quasi-identifiers by name.

    Raises `Unprocessable`: `source-empty`, and whatever `apply_policy` refuses.
    """
    if not source.height:
        raise Unprocessable("source-empty", "The source holds no record: there is nothing to release.")
    attributes = request.attributes
    bins = fixed_bins(source, attributes)
    transformed = apply_policy(
        source,
        request.policy,
        attributes,
        keys=keys,
        pilot=request.pilot,
        entropy=entropy,
        sensitive={name: fixed.of for name, fixed in bins.items()},
    )
    plain = neutralised(transformed.table)
    transformed = replace(transformed, table=plain.table)
    after = released_figures(transformed.table, request, bins)
    label = next(iter(label_columns(attributes)), None)
    kept = rows_kept(source, transformed)
    survival = {} if label is None else survival_by_label(source[label], kept)
    # Labels are values: they are named only where the release publishes that column as it is.
    untouched = all(isinstance(step, TableStep) or step.column != label for step in request.policy.steps)
    rows_in, rows_out = source.height, transformed.table.height
    return Measurement(
        table=transformed.table,
        transformed=transformed,
        records=RecordsSummary(
            rows_in=rows_in,
            rows_out=rows_out,
            survival=rows_out / rows_in if rows_out else None,
            cells_suppressed=dict(transformed.cells_suppressed),
            unreadable=dict(transformed.unreadable),
            survival_by_label=survival if untouched else {},
            formulas_neutralised=dict(plain.cells),
        ),
        before=figures(source, request, bins),
        after=after,
        all_columns=released_columns(transformed.table, attributes),
        flags=flags(
            transformed.table,
            after,
            attributes,
            bins=bins,
            survival_by_label=survival,
            labels_lost=label is not None and labels_lost(source[label], kept),
            no_gate=request.no_gate,
            formulas=bool(plain.cells),
        ),
        findings=transformed.findings,
    )


def figures(table: pl.DataFrame, request: Request, bins: Mapping[str, FixedBins]) -> Metrics:
    """Return the metrics of a table as it came."""
    attributes = request.attributes
    return measure(
        table,
        attributes.quasi_identifiers,
        attributes.sensitive,
        ppi=request.ppi,
        ordered=attributes.ordered,
        bins=bins,
    )


def released_figures(table: pl.DataFrame, request: Request, bins: Mapping[str, FixedBins]) -> Metrics:
    """Return the metrics of a table as it is released, or as it was read back from a file.

    The order of a sensitive attribute names values of the source: here they stand as they are released.
    """
    ordered = {
        name: tuple(neutral(value) if isinstance(value, str) else value for value in values)
        for name, values in request.attributes.ordered.items()
    }
    attributes = request.attributes.model_copy(update={"ordered": ordered})
    return figures(table, replace(request, attributes=attributes), bins)


def fixed_bins(source: pl.DataFrame, attributes: Attributes) -> dict[str, FixedBins]:
    """Fix the bins of numeric sensitive attributes on the input."""
    return {name: fix_bins(source[name], bins) for name, bins in attributes.sensitive_bins.items()}


def released_columns(table: pl.DataFrame, attributes: Attributes) -> AllColumns:
    """Measure what a recipient who knows every column could single out; pseudonyms are no knowledge of anyone's."""
    return all_columns(table, [name for name in table.columns if name not in attributes.identifiers])


def rows_kept(source: pl.DataFrame, transformed: Transformed) -> npt.NDArray[np.bool_]:
    """Return which rows of the source were kept."""
    kept = np.zeros(source.height, np.bool_)
    kept[transformed.kept] = True
    return kept


def code_matrix(table: pl.DataFrame, attributes: Attributes, key: bytes, digest: str) -> Codes:
    """Return the quasi-identifiers as integer codes, shape (rows, columns), from which not even an order leaves.

    Codes count values by first appearance; codes and rows are then permuted by a stream that HMAC(key, digest) keys,
    so that the same request gives the same matrix and nobody without the key can undo it.
    """
    # Dropped ones last: the draws of a simulation go column by column, and a published seed names them.
    names = sorted(attributes.quasi_identifiers, key=lambda name: name not in table.columns)
    codes = column_codes(with_dropped(table, names), names)
    secret = hmac.new(key, b"code-matrix|" + digest.encode(), hashlib.sha256).digest()
    chance = np.random.Generator(np.random.PCG64(np.random.SeedSequence(int.from_bytes(secret, "big"))))
    shuffled = np.empty_like(codes)
    for position in range(codes.shape[1]):
        domain = int(codes[:, position].max(initial=-1)) + 1
        shuffled[:, position] = chance.permutation(domain).astype(np.int32)[codes[:, position]]
    return shuffled[chance.permutation(codes.shape[0])]
