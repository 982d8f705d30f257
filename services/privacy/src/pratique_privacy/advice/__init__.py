"""Advice: a class for each column to start from, and changes of a policy that would help; the reader decides."""

from pratique_privacy.advice.columns import ColumnAdvice, classify
from pratique_privacy.advice.situation import Predicted
from pratique_privacy.advice.suggestions import Suggestion, suggest

__all__ = ["ColumnAdvice", "Predicted", "Suggestion", "classify", "suggest"]
