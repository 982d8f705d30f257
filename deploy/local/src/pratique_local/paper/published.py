"""Published figures: what Kekatos et al. 2026 print, to stand beside ours."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from pratique_privacy.sweeps.figures import Index, Measure

# Tables II and IV: mean exact-QI re-identification in percent, internal captures and 5GAD.
EXACT: Final[Mapping[str, tuple[float, float]]] = MappingProxyType(
    {
        "C0": (100.0, 100.0),
        "C1": (100.0, 100.0),
        "C2": (59.5, 64.9),
        "C3": (57.7, 51.8),
        "C4": (28.0, 11.4),
        "C5": (74.8, 30.5),
        "C6": (25.3, 5.0),
        "C7": (41.6, 10.0),
    }
)

# Table III, 144 releases of both corpora.
CORRELATIONS: Final[Mapping[tuple[Index, Measure], tuple[float, float, float]]] = MappingProxyType(
    {
        ("ppi", "exact"): (0.30, 0.19, 0.41),
        ("ppi_prime", "exact"): (0.79, 0.74, 0.84),
        ("ppi", "partial"): (0.08, -0.04, 0.19),
        ("ppi_prime", "partial"): (0.63, 0.56, 0.71),
        ("ppi", "linkage"): (0.24, 0.12, 0.35),
        ("ppi_prime", "linkage"): (0.75, 0.70, 0.81),
    }
)

# Table V: tau to survival, macro-F1, accuracy, recall on the two rarest roles, F1 retained.
UTILITY: Final[Mapping[int, tuple[float, float, float, float, float]]] = MappingProxyType(
    {
        1: (1.00, 0.69, 0.83, 0.92, 1.00),
        2: (0.52, 0.36, 0.74, 0.42, 0.53),
        3: (0.38, 0.35, 0.77, 0.42, 0.51),
        5: (0.24, 0.31, 0.75, 0.42, 0.45),
        8: (0.19, 0.26, 0.76, 0.42, 0.37),
        12: (0.14, 0.03, 0.12, 0.00, 0.04),
    }
)
