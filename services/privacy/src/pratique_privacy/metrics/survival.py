"""Survival: which share of the records with each label is still there. A figure of its own, apart from risk."""

import json

import numpy as np
import numpy.typing as npt
import polars as pl

from pratique_shared.contracts.attributes import Attributes
from pratique_shared.contracts.utility import RARE_LABEL
from pratique_shared.frames.partition import coded

ROLE = "role"  # the label of host and session records
MAX_LABELS = 200  # beyond this a column holds values, not labels, and naming them would publish it


def label_columns(attributes: Attributes) -> list[str]:
    """Return the columns whose labels may be followed, the one that counts first: the role, else a sensitive one."""
    return list(dict.fromkeys((*(name for name in attributes.shown if name == ROLE), *attributes.sensitive)))


def survival_by_label(labels_before: pl.Series, kept: npt.NDArray[np.bool_]) -> dict[str, float]:
    """Return rows out / rows in for each label of the input, by name; `kept` says which input rows were released.

    Null, "" and [] share the label "". A column of more than 200 labels gives nothing.
    """
    found = coded(labels_before)
    if len(found.first_rows) > MAX_LABELS:
        return {}
    before = np.bincount(found.codes, minlength=len(found.first_rows))
    after = np.bincount(found.codes[kept], minlength=len(found.first_rows))
    counts: dict[str, tuple[int, int]] = {}
    for code, value in enumerate(labels_before.gather(found.first_rows).to_list()):
        name = label_text(value)
        ins, outs = counts.get(name, (0, 0))
        counts[name] = (ins + int(before[code]), outs + int(after[code]))
    return {name: outs / ins for name, (ins, outs) in sorted(counts.items())}


def labels_lost(labels_before: pl.Series, kept: npt.NDArray[np.bool_]) -> bool:
    """Tell whether a label had enough rows to be learnt and has not any more (Kekatos et al. 2026, §V-G).

    Six rows are enough there: roles of fewer are no class of their own. Columns of more than 200 labels hold values.
    """
    found = coded(labels_before)
    if len(found.first_rows) > MAX_LABELS:
        return False
    before = np.bincount(found.codes, minlength=len(found.first_rows))
    after = np.bincount(found.codes[kept], minlength=len(found.first_rows))
    named = np.array([label_text(value) != "" for value in labels_before.gather(found.first_rows).to_list()], np.bool_)
    return bool((named & (before >= RARE_LABEL) & (after < RARE_LABEL)).any())


def label_text(value: object) -> str:
    """Return the name of a label: text as it is, numbers in decimal, a set as JSON text, and "" for what is empty."""
    if value is None or value == []:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
