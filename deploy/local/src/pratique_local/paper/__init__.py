"""The paper report: what Kekatos et al. 2026 found, computed anew on captures of one's own."""

from pratique_local.paper.report import Studied, write_report

__all__ = ["Studied", "write_report"]
