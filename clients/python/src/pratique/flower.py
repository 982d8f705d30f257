"""A gate for Flower: a strategy that refuses a round whose data are not cleared (Flower 1.42, message API).

    class Gated(PostureGate, FedAvg): ...

    strategy = Gated(releases="rel_..", profile=Profile(k=5, linkage=0.3), fraction_train=1.0)

Importing this module imports flwr; nothing else of the client does.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from pratique.clearance import Clearance
from pratique.client import Client
from pratique.errors import PratiqueError
from pratique.verbs.requiring import Asked

# ArrayRecord, ConfigRecord, Grid and Message of flwr, which need not be installed to check this file.
Arrays: TypeAlias = Any
Config: TypeAlias = Any
Grid: TypeAlias = Any
Message: TypeAlias = Any

if TYPE_CHECKING:

    class AppExitException(Exception):
        """What ends a ServerApp with an exit code of Flower's own."""

        exit_code: int

    class Strategy:
        """The strategy that comes after the mixin."""

        def __init__(self, *args: object, **kwargs: object) -> None: ...

        def configure_train(self, server_round: int, arrays: Arrays, config: Config, grid: Grid) -> Iterable[Message]:
            """Begin to train."""
            ...

        def configure_evaluate(
            self, server_round: int, arrays: Arrays, config: Config, grid: Grid
        ) -> Iterable[Message]:
            """Begin to evaluate."""
            ...

    PRECONDITION_UNMET: int
else:
    from flwr.app.exception import AppExitException
    from flwr.serverapp.exception import InconsistentMessageReplies

    Strategy = object
    PRECONDITION_UNMET = InconsistentMessageReplies.exit_code  # 200: a precondition of the strategy is not met

# The members of a round's config by which a node can hold its file against what was cleared.
RELEASES, DIGESTS = "pratique-releases", "pratique-records-sha256"


class RoundRefused(AppExitException):
    """A round does not begin: `cause` says why. Flower ends the run with its exit code 200."""

    exit_code = PRECONDITION_UNMET

    def __init__(self, server_round: int, release: str, cause: PratiqueError | OSError) -> None:
        super().__init__(f"Round {server_round} is refused: {cause}")
        self.server_round, self.release, self.cause = server_round, release, cause


class PostureGate(Strategy):
    """A mixin, named before the strategy that it guards, which asks for a clearance before every round.

    Every release must pass its gate and keep to the profile, when a round begins to train and when it begins to
    evaluate; what has not changed since the round before is not sent again (ETag). It fails closed: a release that was
    withdrawn, one whose certificate has expired, and a service that does not answer all refuse the round.
    """

    def __init__(
        self,
        *args: object,
        releases: str | Sequence[str],
        profile: Asked | None = None,
        client: Client | None = None,
        verify: bool = False,
        keys: str | Path | None = None,
        **kwargs: object,
    ) -> None:
        super().__init__(*args, **kwargs)
        self._releases = (releases,) if isinstance(releases, str) else tuple(releases)
        if not self._releases:
            raise ValueError("name the releases that the rounds are trained on")
        self._profile, self._client = profile, client
        self._verify, self._keys = verify, keys
        self._cleared: dict[str, Clearance] = {}

    @property
    def clearances(self) -> Mapping[str, Clearance]:
        """The clearances of the present round, by release."""
        return dict(self._cleared)

    def configure_train(self, server_round: int, arrays: Arrays, config: Config, grid: Grid) -> Iterable[Message]:
        """Begin to train if every release is cleared; raises RoundRefused."""
        self._clear(server_round, config)
        return super().configure_train(server_round, arrays, config, grid)

    def configure_evaluate(self, server_round: int, arrays: Arrays, config: Config, grid: Grid) -> Iterable[Message]:
        """Begin to evaluate if every release is cleared still; raises RoundRefused."""
        self._clear(server_round, config)
        return super().configure_evaluate(server_round, arrays, config, grid)

    def _clear(self, server_round: int, config: Config) -> None:
        for release in self._releases:
            known = self._cleared.pop(release, None)
            try:
                self._cleared[release] = self._require(release, known)
            except (PratiqueError, OSError) as error:
                self._cleared.clear()
                raise RoundRefused(server_round, release, error) from error
        config[RELEASES] = list(self._releases)
        config[DIGESTS] = [self._cleared[release].records_sha256 or "" for release in self._releases]

    def _require(self, release: str, known: Clearance | None) -> Clearance:
        if self._client is None:
            self._client = Client()
        return self._client.require(release, self._profile, verify=self._verify, keys=self._keys, known=known)
