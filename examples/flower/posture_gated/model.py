"""The model: a softmax regression of a host's role on four counts, by gradient descent in numpy."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]

FEATURES = ("packets", "bytes", "peer_count", "protocol_count")
# Fixed beforehand: nodes that made up their own lists would average unlike weights.
ROLES = ("ue", "gnb", "amf", "smf", "upf", "ausf", "udm", "nrf", "ric", "server", "other")
RATE = 0.5


def initial() -> Floats:
    """Return weights that know nothing, shape (features + 1, roles)."""
    return np.zeros((len(FEATURES) + 1, len(ROLES)))


def features(columns: dict[str, list[float]]) -> Floats:
    """Return one row a host: logarithms of counts, about 0 to 1, and a constant."""
    counts = np.array([columns[name] for name in FEATURES], dtype=float).T
    return np.hstack([np.log1p(counts) / 10, np.ones((len(counts), 1))])


def labels(roles: list[str]) -> Ints:
    """Return the place of each role; one that is not in the list counts as other."""
    known = {role: place for place, role in enumerate(ROLES)}
    return np.array([known.get(role.lower(), known["other"]) for role in roles])


def train(weights: Floats, x: Floats, y: Ints, steps: int) -> Floats:
    """Return the weights after some steps of gradient descent on the cross-entropy."""
    wanted = np.eye(len(ROLES))[y]
    for _ in range(steps):
        weights = weights - RATE * x.T @ (_chances(weights, x) - wanted) / len(x)
    return weights


def accuracy(weights: Floats, x: Floats, y: Ints) -> float:
    """Return the share of hosts whose role is told."""
    return float((_chances(weights, x).argmax(axis=1) == y).mean())


def loss(weights: Floats, x: Floats, y: Ints) -> float:
    """Return the mean cross-entropy."""
    return float(-np.log(_chances(weights, x)[np.arange(len(y)), y] + 1e-12).mean())


def _chances(weights: Floats, x: Floats) -> Floats:
    scores = x @ weights
    grown = np.exp(scores - scores.max(axis=1, keepdims=True))
    return grown / grown.sum(axis=1, keepdims=True)
