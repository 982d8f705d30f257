"""Releases: asked for, waited for, required, downloaded, taken back."""

from pratique.exchange import Ask, Json, Params, json_values
from pratique.plan import Plan, call
from pratique.verb import Listing, Verb
from pratique.verbs.requests import create, delete, get, post, segment
from pratique.waiting import Notice, Patience, wait


class Releases:
    """The verbs of a release, but for its files and the requiring of its gate."""

    @Verb
    def create_release(self, body: Json, idempotency_key: str | None = None) -> Plan[Json]:
        """Ask for a release and return its state at once, queued.

        Without a key of your own each call is a release of its own; with one, asking again gives the same release.
        """
        return create("/releases", body, idempotency_key)

    @Verb
    def release(self, release: str) -> Plan[Json]:
        """Return the state of a release."""
        return get(f"/releases/{segment(release)}")

    @Listing
    def releases(self) -> tuple[str, Params]:
        """All releases, newest first."""
        return "/releases", {}

    @Verb
    def wait_release(self, release: str, timeout: float = 600.0, notice: Notice | None = None) -> Plan[Json]:
        """Return a release once it is completed, whatever its verdict. Raises RunFailed, StillRunning."""
        return wait(lambda: get(f"/releases/{segment(release)}"), Patience(timeout), notice)

    @Verb
    def posture(self, release: str) -> Plan[Json]:
        """Return the posture; of a running release, what is measured so far."""
        return get(f"/releases/{segment(release)}/posture")

    @Verb
    def gate(self, release: str) -> Plan[Json]:
        """Return `{verdict, checks: [{metric, op, bound, value, status}]}`."""
        return get(f"/releases/{segment(release)}/gate")

    @Verb
    def risk(self, release: str, by: str | None = None) -> Plan[Json]:
        """Return where the risk sits, by any of `class,subset,attribute,record` (default all that one may see)."""
        return get(f"/releases/{segment(release)}/risk", {"by": by})

    @Verb
    def suggestions(self, release: str) -> Plan[list[Json]]:
        """Return the changes of policy that would help, `[{rule, reason, patch, predicted}]`."""
        return call(json_values(Ask("GET", f"/releases/{segment(release)}/suggestions")))

    @Verb
    def release_preview(self, release: str, rows: int = 20) -> Plan[Json]:
        """Return rows before and after with class sizes (operator): raw values, and no part of what is released."""
        return get(f"/releases/{segment(release)}/preview", {"n": rows})

    @Verb
    def cancel(self, release: str) -> Plan[Json]:
        """Stop a release that is not finished; without effect on one that is."""
        return post(f"/releases/{segment(release)}/cancel")

    @Verb
    def withdraw(self, release: str) -> Plan[None]:
        """Take a release back: its records and posture are gone for everybody from then on."""
        return delete(f"/releases/{segment(release)}")

    @Verb
    def create_attack(self, release: str, body: Json, idempotency_key: str | None = None) -> Plan[Json]:
        """Try adversaries with other parameters on a release; they never alter its posture, gate or files."""
        return create(f"/releases/{segment(release)}/attacks", body, idempotency_key)

    @Verb
    def wait_attack(
        self, release: str, attack: str, timeout: float = 600.0, notice: Notice | None = None
    ) -> Plan[Json]:
        """Return further adversaries with `attacks` as in a posture. Raises RunFailed, StillRunning."""
        path = f"/releases/{segment(release)}/attacks/{segment(attack)}"
        return wait(lambda: get(path), Patience(timeout), notice)
