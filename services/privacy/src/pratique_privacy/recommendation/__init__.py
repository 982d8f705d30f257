"""Which policy passes a gate at the least cost: levels of generalisation times thresholds of suppression."""

from pratique_privacy.recommendation.recommend import TAUS, Wish, recommend

__all__ = ["TAUS", "Wish", "recommend"]
