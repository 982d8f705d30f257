"""The primal-dual interior point of the mechanism (Mehrotra's predictor and corrector), for a batch of profiles."""

from dataclasses import dataclass, field, fields, replace

import numpy as np

from pratique_privacy.generalisation.programme import Flags, Programme
from pratique_privacy.generalisation.taxonomy import Floats, over_levels
from pratique_privacy.generalisation.tree_system import TreeSystem

GAP = 1e-9  # nats; 1e-7 is promised, and two more digits cost one iteration
MOST_ITERATIONS = 150
_TO_THE_WALL = 0.995
# A part can drift freely where moving it changes nothing: noise is multiplied by g/z there. The step is held back a
# little (a proximal term), in proportion to the mass that is there and to the room that the cost leaves.
_BRAKE = 1e-6


@dataclass(frozen=True)
class Solved:
    """Strategies (batch, leaves, levels), the price of cost and the certified gap of each, in nats."""

    strategy: Floats = field(repr=False)
    multipliers: Floats
    gap: Floats


@dataclass(frozen=True)
class _Point:
    """Where the iteration stands; also a direction. The slack is what a leaf keeps."""

    strategy: Floats
    slack: Floats
    duals: Floats
    slack_duals: Floats
    multipliers: Floats

    def part(self, which: Flags) -> "_Point":
        return _Point(*(getattr(self, each.name)[which] for each in fields(self)))


def solve(programme: Programme, start: Floats, tolerance: float = GAP) -> Solved:
    """Return optimal strategies from strictly feasible ones: inside every bound, of the cost asked for.

    A profile leaves the batch once its gap is certified. Where rounding stops the iteration, the best strategy seen is
    returned with the gap that it has.
    """
    best = Solved(start.copy(), np.zeros(len(start)), np.full(len(start), np.inf))
    running = np.arange(len(start))
    point = _first(programme, start)
    for _ in range(MOST_ITERATIONS):
        apparent = programme.apparent(point.strategy)
        gradient = programme.gradient(apparent)
        gap = programme.gap(point.strategy, gradient, point.multipliers)
        better = gap < best.gap[running]
        best.strategy[running[better]] = point.strategy[better]
        best.multipliers[running[better]] = point.multipliers[better]
        best.gap[running[better]] = gap[better]
        open_ = np.isfinite(gap) & (gap > tolerance)
        if not open_.all():
            running, point, programme = running[open_], point.part(open_), programme.part(open_)
            apparent, gradient = apparent[open_], gradient[open_]
        if not running.size:
            break
        point = _next(programme, point, apparent, gradient)
    return replace(best, gap=np.maximum(best.gap, 0))


def _first(programme: Programme, start: Floats) -> _Point:
    """Return a perfectly centred point: every product of a bound and its dual is the same."""
    slack = np.where(programme.keeps, programme.masses - over_levels(start), 0)
    bounds = programme.movable.sum(axis=(1, 2)) + programme.keeps.sum(axis=1)
    centre = (start.sum(axis=(1, 2)) + slack.sum(axis=1)) / bounds
    duals = np.where(programme.movable, centre[:, None, None] / np.where(programme.movable, start, 1), 0)
    slack_duals = np.where(programme.keeps, centre[:, None] / np.where(programme.keeps, slack, 1), 0)
    return _Point(start, slack, duals, slack_duals, np.zeros(len(start)))


def _next(programme: Programme, point: _Point, apparent: Floats, gradient: Floats) -> _Point:
    iteration = _Iteration(programme, point, apparent, gradient)
    products, slack_products = point.strategy * point.duals, point.slack * point.slack_duals
    predictor = iteration.direction(-products, -slack_products)
    reach = np.minimum(1, iteration.room(predictor))
    ahead = iteration.moved(predictor, reach)
    now, then = iteration.centre(point), iteration.centre(ahead)
    aim = np.clip(then / now, 0, 1) ** 3 * now
    # The second-order term is what a full step would leave; a predictor that cannot go far says little about it.
    trust = reach**2
    corrector = iteration.direction(
        aim[:, None, None] - products - trust[:, None, None] * predictor.strategy * predictor.duals,
        aim[:, None] - slack_products - trust[:, None] * predictor.slack * predictor.slack_duals,
    )
    return iteration.moved(corrector, np.minimum(1, _TO_THE_WALL * iteration.room(corrector)))


class _Iteration:
    """One factored Newton system at a point."""

    def __init__(self, programme: Programme, point: _Point, apparent: Floats, gradient: Floats) -> None:
        self._programme, self._point = programme, point
        movable, keeps = programme.movable, programme.keeps
        # A one stands where nothing may move, so that nothing is divided by zero there.
        self._strategy, self._slack = np.where(movable, point.strategy, 1), np.where(keeps, point.slack, 1)
        room = (programme.dearest * programme.costs).sum(axis=(1, 2)) - programme.gammas
        priced = np.where(programme.costs > 0, programme.costs, 1)
        limited = programme.bounded[:, None, None] & (programme.costs > 0)
        masses = np.where(programme.masses > 0, programme.masses, 1)
        natural = np.minimum(masses[..., None], np.where(limited, 10 * room[:, None, None] / priced, np.inf))
        kappa = np.where(movable, 1 / (point.duals / self._strategy + _BRAKE / natural), 0)
        self._kappa0 = np.where(keeps, 1 / (point.slack_duals / self._slack + _BRAKE / masses), 0)
        reached = apparent > 0
        curvature = np.where(reached, 1 / np.where(reached, apparent, 1), 0)
        self._system = TreeSystem(programme.taxonomy, kappa, self._kappa0, curvature, programme.costs)
        priced = programme.reduced_costs(gradient, point.multipliers)
        self._infeasible = priced - point.duals + point.slack_duals[..., None]
        shortfall = programme.gammas - (point.strategy * programme.costs).sum(axis=(1, 2))
        self._shortfall = np.where(programme.bounded, shortfall, np.nan)

    def direction(self, products: Floats, slack_products: Floats) -> _Point:
        """Return the Newton direction that changes the complementary products by these amounts, to first order."""
        point, movable, keeps = self._point, self._programme.movable, self._programme.keeps
        products, slack_products = np.where(movable, products, 0), np.where(keeps, slack_products, 0)
        forces = self._infeasible - products / self._strategy + (slack_products / self._slack)[..., None]
        strategy, multipliers, tension = self._system.solve(np.where(movable, forces, 0), self._shortfall)
        # Not the sum of the parts: they may be large and cancel where the slack is small.
        slack = -tension * self._kappa0
        duals = np.where(movable, (products - point.duals * strategy) / self._strategy, 0)
        # Also for a leaf that keeps nothing, which has an equation in place of a bound.
        slack_duals = np.where(keeps, (slack_products - point.slack_duals * slack) / self._slack, tension)
        return _Point(strategy, slack, duals, slack_duals, multipliers)

    def room(self, way: _Point) -> Floats:
        """Return how far each profile can go before a bound is met; infinity if never."""
        point, movable, keeps = self._point, self._programme.movable, self._programme.keeps
        room: Floats = np.minimum.reduce(
            [
                _room(point.strategy, way.strategy, movable),
                _room(point.duals, way.duals, movable),
                _room(point.slack, way.slack, keeps),
                _room(point.slack_duals, way.slack_duals, keeps),
            ]
        )
        return room

    def moved(self, way: _Point, reach: Floats) -> _Point:
        """Return the point after a step of these lengths."""
        point, far, further = self._point, reach[:, None], reach[:, None, None]
        slack = np.where(self._programme.keeps, point.slack + far * way.slack, 0)
        strategy, slack = self._programme.settled(point.strategy + further * way.strategy, slack)
        return _Point(
            strategy,
            slack,
            point.duals + further * way.duals,
            point.slack_duals + far * way.slack_duals,
            point.multipliers + reach * way.multipliers,
        )

    def centre(self, point: _Point) -> Floats:
        """Return the mean product of a bound and its dual."""
        slack = np.where(self._programme.keeps, point.slack * point.slack_duals, 0).sum(axis=1)
        bounds = self._programme.movable.sum(axis=(1, 2)) + self._programme.keeps.sum(axis=1)
        mean: Floats = ((point.strategy * point.duals).sum(axis=(1, 2)) + slack) / bounds
        return mean


def _room(values: Floats, changes: Floats, bounded: Flags) -> Floats:
    falling = bounded & (changes < 0)
    ratios = np.where(falling, -values / np.where(falling, changes, -1), np.inf)
    room: Floats = ratios.reshape(len(values), -1).min(axis=1)
    return room
