"""Studies: sweeps, utility, recommendations, and profiles generalised; nothing of them is published."""

from pratique.exchange import Json, Params
from pratique.plan import Plan
from pratique.verb import Listing, Verb
from pratique.verbs.requests import create, get, post, segment
from pratique.waiting import Notice, Patience, wait


class Studies:
    """The verbs of studies."""

    @Verb
    def create_sweep(self, body: Json, idempotency_key: str | None = None) -> Plan[Json]:
        """Measure `{sources, configurations}`: every source under every configuration; nothing is published."""
        return create("/sweeps", body, idempotency_key)

    @Verb
    def sweep(self, sweep: str) -> Plan[Json]:
        """Return a sweep: its state, and once completed its averages, correlations, findings and releases."""
        return get(f"/sweeps/{segment(sweep)}")

    @Listing
    def sweeps(self) -> tuple[str, Params]:
        """All sweeps, newest first, without their answers."""
        return "/sweeps", {}

    @Verb
    def wait_sweep(self, sweep: str, timeout: float = 3600.0, notice: Notice | None = None) -> Plan[Json]:
        """Return a sweep once it is completed. Raises RunFailed, StillRunning."""
        return wait(lambda: get(f"/sweeps/{segment(sweep)}"), Patience(timeout), notice)

    @Verb
    def cancel_sweep(self, sweep: str) -> Plan[Json]:
        """Stop a sweep and its releases."""
        return post(f"/sweeps/{segment(sweep)}/cancel")

    @Verb
    def create_utility(self, body: Json, idempotency_key: str | None = None) -> Plan[Json]:
        """Measure what a classifier of `{sources, label, features}` still learns after suppression."""
        return create("/utility", body, idempotency_key)

    @Verb
    def utility(self, utility: str) -> Plan[Json]:
        """Return a utility study: its state, and once completed its `rows`, one a threshold."""
        return get(f"/utility/{segment(utility)}")

    @Verb
    def wait_utility(self, utility: str, timeout: float = 3600.0, notice: Notice | None = None) -> Plan[Json]:
        """Return a utility study once it is completed. Raises RunFailed, StillRunning."""
        return wait(lambda: get(f"/utility/{segment(utility)}"), Patience(timeout), notice)

    @Verb
    def create_recommendation(self, body: Json, idempotency_key: str | None = None) -> Plan[Json]:
        """Ask which policy passes the gate of `{source, attributes, gate}` at the least loss."""
        return create("/recommendations", body, idempotency_key)

    @Verb
    def recommendation(self, recommendation: str) -> Plan[Json]:
        """Return a recommendation: its state, and once completed `recommended` and the `front`."""
        return get(f"/recommendations/{segment(recommendation)}")

    @Verb
    def wait_recommendation(
        self, recommendation: str, timeout: float = 1800.0, notice: Notice | None = None
    ) -> Plan[Json]:
        """Return a recommendation once it is completed. Raises RunFailed, StillRunning."""
        return wait(lambda: get(f"/recommendations/{segment(recommendation)}"), Patience(timeout), notice)

    @Verb
    def generalise(self, body: Json) -> Plan[list[Json]]:
        """Return profiles generalised optimally, in the order profile, gamma."""
        return _results(body)


def _results(body: Json) -> Plan[list[Json]]:
    answer = yield from post("/profiles/generalise", body)
    found: list[Json] = answer["results"]
    return found
