"""Words: how figures, steps and flags are written for people, in the datasheet and the report."""

from collections.abc import Mapping
from typing import Final

UNITS: Final = {
    "host": "Records are hosts: figures count machines, not subscribers.",
    "session": "Records are sessions: one subscriber at one gNB in five minutes.",
    "row": "Records are rows of a table.",
}
FLAGS: Final = {
    "empty_release": "nothing is left after suppression, so that no figure can be given",
    "few_classes": "fewer than 30 records or 3 classes: every figure rests on little",
    "formulas_neutralised": "cells that a spreadsheet would have run as formulas begin with an apostrophe",
    "identifying_insensitive": "a column called insensitive tells most records apart, whatever k says",
    "no_gate": "no bound was asked for: the verdict says nothing about the figures",
    "rare_labels_lost": "the rarest labels left with suppression: a model will not learn them",
    "suppressed_sa": "sensitive values were suppressed, and `*` counts as a value of its own",
    "trivial_t": "t is 0 only because the sensitive value is constant or there is one class",
}
NONE: Final = "–"


def figure(value: object) -> str:
    """Return a figure with four significant digits; what was not computed is a dash."""
    match value:
        case None:
            return NONE
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}".replace(",", "\u202f")
        case float():
            return figure(int(value)) if value.is_integer() and abs(value) < 1e15 else f"{value:.4g}"
        case _:
            return str(value)


def percent(share: float | None) -> str:
    """Return a share as a percentage."""
    return NONE if share is None else f"{100 * share:.1f} %"


def step_text(step: Mapping[str, object]) -> str:
    """Return a step of a policy in a line: the operation, its column, its parameters."""
    told = {name: value for name, value in step.items() if name not in ("op", "column", "table") and value is not None}
    column = f" {step['column']}" if "column" in step else ""
    parameters = ", ".join(f"{name} {_parameter(value)}" for name, value in told.items())
    return f"{step['op']}{column}" + (f" ({parameters})" if parameters else "")


def _parameter(value: object) -> str:
    if isinstance(value, Mapping):
        return " ".join(f"{name} {part}" for name, part in value.items())
    return figure(value) if isinstance(value, int | float) else str(value)
