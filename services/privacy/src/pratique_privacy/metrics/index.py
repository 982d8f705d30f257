"""The Privacy-Posture Index: a summary of k, l and t, not a bound on anything (Kekatos et al. 2026, §IV-D)."""

from fractions import Fraction

from pratique_shared.contracts.posture import PpiParameters


def posture_index(k: Fraction, l: int, t: Fraction, parameters: PpiParameters) -> Fraction:  # noqa: E741 - its name
    """Return w_k min(k/k*, 1) + w_l min(l/l*, 1) + w_t (1 - t); with the typical class size for k this is PPI'.

    Weights are read as the decimals that were written, so that no figure misses a bound by a rounding.
    """
    w_k, w_l, w_t = (Fraction(repr(weight)) for weight in parameters.weights)
    one = Fraction(1)
    return w_k * min(k / parameters.k_target, one) + w_l * min(Fraction(l, parameters.l_target), one) + w_t * (1 - t)
