"""The mechanism: the strategy of a given cost that hides a profile best (Gil, Parra-Arnau and Forné 2025)."""

from dataclasses import dataclass, field

import numpy as np

from pratique_privacy.generalisation import critical
from pratique_privacy.generalisation.interior_point import solve
from pratique_privacy.generalisation.programme import Flags, Programme
from pratique_privacy.generalisation.taxonomy import Floats, Taxonomy
from pratique_shared.contracts.problems import FieldError, Unprocessable

CERTIFIED = 1e-7  # nats
_SMALLEST = 1e-14  # a share that no sum of shares can tell from none: it stays where it is
_NOTHING, _EVERYTHING = 1e-12, 1 - 1e-8  # shares of the greatest cost that are taken for none and for all of it


@dataclass(frozen=True)
class Task:
    """Profiles to be generalised over one taxonomy, in the order of its leaves.

    `profiles` (batch, leaves), each summing to 1; `gammas` (batch), what each strategy is to cost; `costs` (leaves,
    levels), the price of mass, None for 1 throughout; `target` (batch, leaves), the profile to come near to, None for
    the uniform one. Without `rates` no linear program is solved for the critical rates of tasks with costs.
    """

    taxonomy: Taxonomy
    profiles: Floats = field(repr=False)
    gammas: Floats
    costs: Floats | None = field(default=None, repr=False)
    target: Floats | None = field(default=None, repr=False)
    rates: bool = True


@dataclass(frozen=True)
class Critical:
    """What flattening each top-level group costs at least, the closed form (None with costs), the entropy there.

    All under an even spread; NaN for a rate that was not asked for.
    """

    rate: Floats
    bound: Floats | None
    entropy: Floats


@dataclass(frozen=True)
class Optima:
    """Optimal strategies (batch, leaves, levels), what an observer sees (batch, leaves), and how sure it is.

    `gap` bounds in nats how far each is from the optimum; `active` tells which leaves may have sent mass to which level
    as far as an observer can judge who knows the policy (`publication.recoverable`).
    """

    strategy: Floats = field(repr=False)
    apparent: Floats = field(repr=False)
    gap: Floats
    entropy: Floats
    divergence: Floats | None
    active: Flags = field(repr=False)
    critical: Critical


class Uncertified(ArithmeticError):
    """The iteration ended before its result was certain: a defect, not an answer."""


def entropy(profiles: Floats, copies: Floats | float = 1.0) -> Floats:
    """Return the Shannon entropy of each profile, in nats; a leaf of several copies has its mass in equal parts."""
    there = profiles > 0
    found: Floats = -(profiles * np.log(np.where(there, profiles, 1) / np.where(there, copies, 1))).sum(axis=-1)
    return np.maximum(found, 0)


def divergence(profiles: Floats, target: Floats) -> Floats:
    """Return the Kullback-Leibler divergence of each profile from its target, in nats."""
    cross = -(profiles * np.log(target)).sum(axis=-1)
    gained: Floats = np.maximum(cross - entropy(profiles), 0)
    return gained


def greatest_cost(profiles: Floats, costs: Floats | None) -> Floats:
    """Return what the dearest strategy costs: all mass at its dearest level."""
    dearest: Floats = profiles.sum(axis=-1) if costs is None else (profiles * costs.max(axis=-1)).sum(axis=-1)
    return dearest


def generalise(task: Task) -> Optima:
    """Return the optimal strategies, each certified to 1e-7 nats.

    Raises `Unprocessable` (`gamma-infeasible`) with the limit where no strategy costs as much as is asked.
    """
    _check_feasible(task)
    return _Work(task).optima()


def _check_feasible(task: Task) -> None:
    limits = greatest_cost(task.profiles, task.costs)
    if (task.gammas > limits * (1 + 1e-9)).any() or (task.gammas < 0).any():
        limit = float(limits.min())
        detail = "No strategy costs that much, or less than nothing."
        raise Unprocessable("gamma-infeasible", detail, [FieldError("/gamma", f"give 0 to {limit:.12g}")])


class _Work:
    """The task in tree order."""

    def __init__(self, task: Task) -> None:
        self._taxonomy = task.taxonomy
        order = task.taxonomy.order
        levels = len(task.taxonomy.levels)
        self._rates = task.rates
        self._priced = task.costs is not None
        self._costs = np.ones((len(order), levels)) if task.costs is None else task.costs[order]
        self._unit = float(self._costs.max()) or 1.0  # all is computed with the dearest cost as 1
        self._costs = self._costs / self._unit
        self._one_price = bool((self._costs == self._costs[0, 0]).all())
        self._masses, self._target = task.profiles[:, order], None if task.target is None else task.target[:, order]
        # The order is within 1e-9 of the limit: what is above it is rounding.
        self._limits = (self._masses * self._costs.max(axis=-1)).sum(axis=-1)
        self._gammas = np.minimum(task.gammas / self._unit, self._limits)
        self._strategy = np.zeros((*self._masses.shape, levels))
        self._multipliers = np.zeros(len(self._masses))
        self._gap = np.zeros(len(self._masses))

    def optima(self) -> Optima:
        taxonomy = self._taxonomy
        cheapest, rate = self._cheapest_flat()
        flat = np.zeros(len(rate), dtype=np.bool_)
        if self._target is None and taxonomy.even:
            flat = self._settle_flat(cheapest, rate)
        self._settle_curve(~flat)
        self._lower_equal_levels()
        plain = self._programme(np.ones(len(rate), dtype=np.bool_))
        apparent = plain.apparent(self._strategy)
        if self._gap.max(initial=0) > CERTIFIED:
            raise Uncertified(f"a gap of {self._gap.max():.3g} nats is left")
        back = np.argsort(taxonomy.order)
        whole = critical.flat(taxonomy, self._masses)
        return Optima(
            strategy=self._strategy[:, back],
            apparent=apparent[:, back],
            gap=self._gap,
            entropy=entropy(apparent, taxonomy.copies),
            divergence=None if self._target is None else divergence(apparent, self._target),
            active=self._active(plain, apparent)[:, back],
            critical=Critical(
                rate * self._unit,
                None if self._priced else critical.bound(taxonomy, self._masses),
                entropy(whole * taxonomy.copies, taxonomy.copies),
            ),
        )

    def _cheapest_flat(self) -> tuple[Floats, Floats]:
        """Return the cheapest strategies that flatten every top-level group, and their costs."""
        if self._one_price:
            cheapest = critical.flattening(self._taxonomy, self._masses)
            return cheapest, critical.least_rate(self._taxonomy, self._masses) * self._costs[0, 0]
        if not self._rates:
            return np.zeros_like(self._strategy), np.full(len(self._masses), np.nan)
        made = {each.tobytes(): each for each in self._masses}  # a curve asks for one profile many times
        found = {key: critical.flattening_at(self._taxonomy, each, self._costs) for key, each in made.items()}
        rows = [found[each.tobytes()] for each in self._masses]
        return np.stack([strategy for strategy, _ in rows]), np.array([cost for _, cost in rows])

    def _settle_flat(self, cheapest: Floats, rate: Floats) -> Flags:
        """Settle what costs at least the critical rate: nothing is flatter, so the mean of two flat ones will do."""
        done = np.zeros(len(rate), dtype=np.bool_)
        for place in np.flatnonzero(self._gammas >= rate):
            dearest, most = self._dearest_flat(self._masses[place])
            if self._gammas[place] <= most * (1 + 1e-10):
                part = (self._gammas[place] - rate[place]) / (most - rate[place]) if most > rate[place] else 0.0
                self._strategy[place] = cheapest[place] + min(part, 1.0) * (dearest - cheapest[place])
                done[place] = True
        return done

    def _dearest_flat(self, masses: Floats) -> tuple[Floats, float]:
        if not self._one_price:
            return critical.flattening_at(self._taxonomy, masses, self._costs, most=True)
        at_top = np.zeros_like(self._costs)
        at_top[:, -1] = masses
        return at_top, float(masses.sum() * self._costs[0, 0])

    def _settle_curve(self, which: Flags) -> None:
        """Settle what lies on the curve: by the interior point, or at an end where nothing is left to choose."""
        programme = self._programme(which)
        start = _inside(programme)
        loose: Flags = np.asarray(programme.movable.any(axis=(1, 2)))
        fixed = start.copy()
        if loose.any():
            solved = solve(programme.part(loose), start[loose])
            fixed[loose] = solved.strategy
            places = np.flatnonzero(which)[loose]
            self._multipliers[places], self._gap[places] = solved.multipliers, solved.gap
        # All but all of the greatest cost was taken for all of it: the rest is taken back evenly.
        cost = (fixed * self._costs).sum(axis=(1, 2))
        over = cost > self._gammas[which]
        fixed *= np.divide(self._gammas[which], cost, out=np.ones_like(cost), where=over)[:, None, None]
        self._strategy[which] = fixed
        still = np.flatnonzero(which)[~loose]
        # Nothing could be moved at any price: every leaf is known to have kept what it has.
        self._multipliers[still] = np.where(self._gammas[still] > 0, 0, np.inf)

    def _programme(self, which: Flags) -> Programme:
        masses, gammas, limits = self._masses[which], self._gammas[which], self._limits[which]
        there = (masses > _SMALLEST)[..., None]
        movable = np.broadcast_to(there, (*masses.shape, self._costs.shape[1])).copy()
        keeps = there[..., 0].copy()
        nothing, everything = gammas <= limits * _NOTHING, (gammas >= limits * _EVERYTHING) & (limits > 0)
        movable[nothing] &= self._costs == 0
        dearest = self._costs == self._costs.max(axis=-1, keepdims=True)
        movable[everything & ~nothing] &= dearest
        keeps[everything & ~nothing] &= self._costs.max(axis=-1) == 0
        copies = self._taxonomy.copies
        log_target = np.broadcast_to(np.log(copies / copies.sum()), masses.shape)
        if self._target is not None:
            log_target = np.log(self._target[which])
        return Programme(
            self._taxonomy, masses, movable, keeps, self._costs, gammas, log_target, ~nothing & ~everything
        )

    def _lower_equal_levels(self) -> None:
        """Give a group that is also a group of the level below its mass there, at the same price: one name for it."""
        levels = self._taxonomy.levels
        for depth in range(len(levels) - 1, 0, -1):
            lower, upper = levels[depth - 1], levels[depth]
            same = lower.sizes[lower.group_of] == upper.sizes[upper.group_of]
            same &= self._costs[:, depth] == self._costs[:, depth - 1]
            same = np.minimum.reduceat(same, lower.starts)[lower.group_of]
            self._strategy[..., depth - 1] += np.where(same, self._strategy[..., depth], 0)
            self._strategy[..., depth] = np.where(same, 0, self._strategy[..., depth])

    def _active(self, plain: Programme, apparent: Floats) -> Flags:
        """Tell which parts of a strategy an observer must think possible: those whose reduced cost is zero.

        Of a part and its reduced cost one is zero at the optimum; the greater of the two tells which.
        """
        gradient = plain.gradient(apparent)
        priced = np.full(gradient.shape, np.inf)
        known = np.isfinite(self._multipliers)
        priced[known] = (gradient + np.where(known, self._multipliers, 0)[:, None, None] * self._costs)[known]
        masses = self._masses[..., None]
        share = np.divide(self._strategy, masses, out=np.zeros_like(self._strategy), where=masses > 0)
        found: Flags = share + 1e-8 >= priced
        return found


def _inside(programme: Programme) -> Floats:
    """Return strategies of the cost asked for that touch no bound: even parts, shrunk or drawn to the dearest ones."""
    movable, costs = programme.movable, programme.costs
    parts = movable.sum(axis=-1) + programme.keeps
    even = np.where(movable, (programme.masses / np.maximum(parts, 1))[..., None], 0)
    cost = (even * costs).sum(axis=(1, 2))
    far = programme.dearest
    gammas = programme.gammas
    shrunk = np.divide(gammas, cost, out=np.ones_like(cost), where=cost > 0)
    room = (far * costs).sum(axis=(1, 2)) - cost
    drawn = np.divide(gammas - cost, room, out=np.zeros_like(room), where=room > 0)
    down, up = np.minimum(shrunk, 1)[:, None, None], np.clip(drawn, 0, 1)[:, None, None]
    start: Floats = np.where((gammas <= cost)[:, None, None], even * down, even + up * (far - even))
    return start
