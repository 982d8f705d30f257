"""Gains: whether predicted figures are an improvement worth telling, and which of several comes first."""

from fractions import Fraction

from pratique_privacy.advice.situation import Predicted
from pratique_privacy.metrics.index import posture_index
from pratique_shared.contracts.posture import PpiParameters

DEFAULTS = PpiParameters()
_T_STEP = 0.01
_SURVIVAL_STEP = 0.05
_UNIQUES_STEP = 0.2  # a fifth of the records that are alone
_LEAST_SURVIVAL = 0.1


def never(now: Predicted, then: Predicted, rows: int) -> bool:  # noqa: ARG001 - one form for all judges
    """Say no."""
    return False


def standing(now: Predicted, then: Predicted, rows: int) -> bool:  # noqa: ARG001 - one form for all judges
    """Say whether there is still a release: enough for a change whose gain k, l and t do not show."""
    return then.k is not None or now.k is None


def harmless(now: Predicted, then: Predicted, rows: int) -> bool:
    """Say whether no figure gets worse: enough for a coarser column, which alone tells fewer records apart."""
    if then.k is None or one_class(then, rows):
        return False
    return then.k >= min(now.k or 0, DEFAULTS.k_target) and (then.survival or 0.0) >= (now.survival or 0.0)


def gathering(now: Predicted, then: Predicted, rows: int) -> bool:  # noqa: ARG001 - one form for all judges
    """Say whether nobody is alone any more, if only because all records stand in one class."""
    return then.k is not None and (now.k or 0) <= 1 < then.k


def better(now: Predicted, then: Predicted, rows: int) -> bool:
    """Say whether a change improves a figure and costs neither k below its target nor nearly all records.

    `rows` are those of the source. One class for all is no help: it tells nothing apart, and its t is 0 by definition.
    """
    if then.k is None or one_class(then, rows):
        return False
    if now.k is None:
        return True
    lost = (now.survival or 0.0) - (then.survival or 0.0)
    if then.k < min(now.k, DEFAULTS.k_target) or (lost > _SURVIVAL_STEP and (then.survival or 0.0) < _LEAST_SURVIVAL):
        return False
    return (
        now.k < min(then.k, DEFAULTS.k_target)
        or (now.l is not None and then.l is not None and then.l > now.l)
        or (now.t is not None and then.t is not None and then.t <= now.t - _T_STEP)
        or (now.uniques is not None and then.uniques is not None and _fewer_alone(now.uniques, then.uniques))
        or -lost >= _SURVIVAL_STEP
    )


def fuller(now: Predicted, then: Predicted, rows: int) -> bool:  # noqa: ARG001 - one form for all judges
    """Say whether a change brings records or classes back: more survive, or k falls to no less than 2."""
    if then.k is None or now.k is None:
        return then.k is not None
    if (then.survival or 0.0) > (now.survival or 0.0):
        return True
    return then.survival == now.survival and 2 <= then.k < now.k


def worth(figures: Predicted, rows: int) -> float:
    """Return a number by which suggestions are put in order, and nothing else: higher comes first.

    The index of k, l and t (Kekatos et al. 2026, §IV-D) with its default targets, half a point for survival, and half
    a point off for records that are alone. An attribute that is not measured counts as its worst.
    """
    if figures.k is None:
        return -1.0
    closeness = Fraction(1) if figures.t is None else Fraction(figures.t)
    index = posture_index(Fraction(figures.k), figures.l or 0, closeness, DEFAULTS)
    alone = (figures.uniques or 0) / rows if rows else 0.0
    return float(index) + ((figures.survival or 0.0) - alone) / 2


def one_class(figures: Predicted, rows: int) -> bool:
    """Say whether all records that are left, of `rows` in the source, stand in one class."""
    return figures.k is not None and figures.k >= round((figures.survival or 0.0) * rows)


def _fewer_alone(now: int, then: int) -> bool:
    return then < now and now - then >= _UNIQUES_STEP * now
