"""The exact-QI adversary: knows every quasi-identifier of the target, and knows them right."""

from pratique_attack_sim.adversaries.subsets import Exposure


def exact_qi(exposed: Exposure, rows: int) -> float | None:
    """Return classes / rows, the full-QI disclosure bound (Kekatos et al. 2026, §IV-B); None for an empty release."""
    if rows == 0:
        return None
    return exposed[max(exposed, key=len)] / rows
