"""Recipients: what else the recipient of a release has, or is about to get."""

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from weakref import WeakValueDictionary

from pratique_privacy.archive import Archive
from pratique_privacy.composition import Composition, Said, lasting_pseudonyms
from pratique_privacy.flow import ReleaseFacts
from pratique_shared.contracts.facts import Blob, Measured, Published, epoch_of
from pratique_shared.contracts.policy import Policy
from pratique_shared.contracts.posture import CompositionFigures, JoinedRelease, PriorRelease
from pratique_shared.runtime.clock import made_at, text_of

MOST_PRIOR = 100  # releases that a posture names
AT_ONCE = 64  # releases whose facts are read at a time: they are large, and little of them is kept
MOST_ENDED = 20_000  # releases that are remembered between two looks, some kB each
MOST_JOINED_ROWS = 5_000_000  # of all earlier tables together: they stand in the memory of one child


@dataclass(frozen=True)
class Met:
    """Another release of the recipient, as much of it as a join asks for: there may be thousands.

    `said` is None where there is nothing to join: it was withdrawn, or its rows cannot be told apart by source table.
    """

    id: str
    published: bool
    table: Blob
    rows: int
    said: Said | None


@dataclass(frozen=True)
class Company:
    """The other releases of one recipient that may be joined to one of its releases, newest first.

    `prior` are those published from the same source; `met` all that were published or still may be, of the same source
    or with the same pseudonyms. A release that was withdrawn after it was published may have been fetched before.
    """

    prior: tuple[PriorRelease, ...]
    met: tuple[Met, ...]

    def joinable(self) -> list[tuple[Met, ...]]:
        """Return those whose tables are there, as many as the memory of a child allows, alike ones together.

        Alike releases say the same: to join one of them is to join all.
        """
        found: dict[Said, list[Met]] = {}
        rows = 0
        for other in self.met:
            if other.said is None:
                continue
            if other.said not in found:
                rows += other.rows
            if other.said in found or rows <= MOST_JOINED_ROWS:
                found.setdefault(other.said, []).append(other)
        return [tuple(alike) for alike in found.values()]

    def figures(self, found: Composition, names: Sequence[Sequence[str]]) -> CompositionFigures:
        """Return the figures of a join with releases of these `names`, alike ones together.

        They are null where one that was met is not among them.
        """
        met = zip(names, found.joined, strict=True)
        joined = {name: meeting for alike, meeting in met for name in alike}
        whole = len(joined) == len(self.met)
        releases = []
        for name in (other.id for other in self.met):
            meeting = joined.get(name)
            shared, linked = (None, None) if meeting is None else (meeting.shared, meeting.linked)
            at = text_of(made_at(name))
            releases.append(JoinedRelease(release=name, created_at=at, shared=shared, linked=linked))
        return CompositionFigures(
            releases=tuple(releases),
            classes=found.classes if whole else None,
            k=found.k if whole else None,
            uniques=found.uniques if whole else None,
            exact_qi=found.exact_qi if whole else None,
            partial_qi=found.partial_qi if whole else None,
        )


ALONE = Company((), ())  # of a release that goes to nobody


class Recipients:
    """The ledgers by recipient: one a source table, one a maker of pseudonyms that come back."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        # What ended stays as it is, unless it is withdrawn: then its table is gone, as the reading of that shows.
        self._ended: dict[str, Met | None] = {}
        self._policies: WeakValueDictionary[str, Policy] = WeakValueDictionary()  # one of each, by its digest

    async def company(self, facts: ReleaseFacts) -> Company:
        """Announce a release that is about to be judged, and return what else its recipient has.

        The announcement comes before the look: of two releases judged at the same time at least one sees the other.
        """
        own = facts.requested.id
        by_source, by_pseudonym = _ledgers(facts)
        await asyncio.gather(*(self._announce(f"{folder}/{own}") for folder in (*by_source, *by_pseudonym)))
        same = await self._named(by_source) - {own}
        alike = await self._named(by_pseudonym) - {own} - same
        met = await self._known(sorted(same | alike, reverse=True))
        published = [other.id for other in met if other.published and other.id in same]
        prior = tuple(PriorRelease(release=name, created_at=text_of(made_at(name))) for name in published[:MOST_PRIOR])
        return Company(prior, met)

    async def _known(self, names: Sequence[str]) -> tuple[Met, ...]:
        unread = [name for name in names if name not in self._ended]
        found: dict[str, Met | None] = {name: self._ended[name] for name in names if name in self._ended}
        for first in range(0, len(unread), AT_ONCE):
            some = unread[first : first + AT_ONCE]
            for name, facts in zip(some, await asyncio.gather(*map(self._archive.any_release, some)), strict=True):
                found[name] = None if facts is None else self._slim(_met(facts))
                if facts is not None and facts.outcome is not None:
                    self._ended[name] = found[name]
        while len(self._ended) > MOST_ENDED:
            del self._ended[next(iter(self._ended))]
        return tuple(met for name in names if (met := found[name]) is not None)

    def _slim(self, met: Met | None) -> Met | None:
        """Let releases of the same policy hold it once: it is most of what is remembered of one."""
        if met is None or met.said is None:
            return met
        policy = self._policies.setdefault(met.said.policy_sha256, met.said.policy)
        return replace(met, said=replace(met.said, policy=policy))

    async def _announce(self, key: str) -> None:
        await self._archive.releases_room.create(key, b"{}")

    async def _named(self, folders: list[str]) -> set[str]:
        listed = await asyncio.gather(*map(self._archive.releases_room.names, folders))
        return {key.rsplit("/", 1)[1] for keys in listed for key in keys}


def _met(facts: ReleaseFacts) -> Met | None:
    """Return what a join asks of a release; None of one that is not with the recipient and will not get there."""
    measured = facts.measured
    if measured is None or not _counts(facts):
        return None
    told_apart = len(measured.read) == 1 or bool(measured.source_rows)
    said = said_of(facts, measured) if told_apart and not facts.withdrawn else None
    return Met(facts.requested.id, isinstance(facts.outcome, Published), measured.table, measured.after.rows, said)


def _counts(facts: ReleaseFacts) -> bool:
    """Whether a release is with the recipient or may still get there."""
    if facts.outcome is None:
        return facts.measured is not None and not facts.withdrawn
    return isinstance(facts.outcome, Published)


def said_of(facts: ReleaseFacts, measured: Measured) -> Said:
    """Return what a join reads of a release."""
    requested = facts.requested
    return Said(
        measured.table.sha256,
        measured.read,
        measured.source_rows,
        measured.attributes.quasi_identifiers,
        requested.policy_sha256,
        epoch_of(requested.key),
        requested.policy,
    )


def _ledgers(facts: ReleaseFacts) -> tuple[list[str], list[str]]:
    """Return the folders that releases share when they share a source table, or pseudonyms, and the recipient."""
    requested = facts.requested
    recipient = _name(requested.recipient or "")
    tables = () if facts.records is None else facts.records.tables
    sources = sorted({table.blob.sha256 for table in tables})
    makers = sorted(set(lasting_pseudonyms(requested.policy, epoch_of(requested.key)).values()))
    return (
        [f"by-source/{requested.tenant}/{digest}/{recipient}" for digest in sources],
        [f"by-pseudonym/{requested.tenant}/{_name(maker)}/{recipient}" for maker in makers],
    )


def _name(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
