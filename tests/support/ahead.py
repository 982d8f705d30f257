"""A clock that a test moves."""

from datetime import datetime, timedelta

from pratique_shared.runtime.clock import now


class Ahead:
    """The present moment, and `by` more."""

    def __init__(self) -> None:
        self.by = timedelta()

    def __call__(self) -> datetime:
        return now() + self.by
