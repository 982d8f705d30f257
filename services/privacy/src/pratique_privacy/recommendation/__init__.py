"""Which policy passes a gate at the least cost: levels of generalisation times thresholds of suppression."""

from pratique_privacy.recommendation.recommend import Wish, recommend, wish_of

__all__ = ["Wish", "recommend", "wish_of"]
