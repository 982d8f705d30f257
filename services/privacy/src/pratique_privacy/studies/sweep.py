"""Sweeps: every source under every configuration, each a release of its own (Kekatos et al. 2026, §V-E)."""

import asyncio
from collections.abc import Iterator
from typing import Any

from pratique_privacy.admission import SourceDigest, digest_of
from pratique_privacy.archive import Archive
from pratique_privacy.policy.digest import policy_sha256
from pratique_shared.contracts.facts import Membership, Published, ReleaseFailed, ReleaseRequested, Withheld, epoch_of
from pratique_shared.contracts.releases import Source
from pratique_shared.contracts.studies import Configuration, Members, StudyRequested, SweepSource, SweepWork
from pratique_shared.runtime.clock import new_id, stamp

AT_ONCE = 32  # releases that are read or written together


def plan(work: SweepWork) -> Members:
    """Give every source under every configuration the id of its release."""
    count = len(work.sources) * len(work.configurations)
    return Members(releases=tuple(new_id("rel") for _ in range(count)), at=stamp())


async def add_members(archive: Archive, requested: StudyRequested, work: SweepWork, members: Members) -> None:
    """Take the releases in that are not there yet."""
    asked = list(requests(requested, work, members))
    for start in range(0, len(asked), AT_ONCE):
        await asyncio.gather(*(archive.add_release(one) for one in asked[start : start + AT_ONCE]))


def _pairs(work: SweepWork) -> Iterator[tuple[SweepSource, Configuration]]:
    return ((source, configuration) for source in work.sources for configuration in work.configurations)


def requests(requested: StudyRequested, work: SweepWork, members: Members) -> Iterator[ReleaseRequested]:
    """Yield what is asked of each member: no recipient, no gate, nothing that could leave."""
    for number, (identity, (source, configuration)) in enumerate(zip(members.releases, _pairs(work), strict=True)):
        named = {"capture": source.id} if source.id.startswith("cap_") else {"dataset": source.id}
        yield ReleaseRequested(
            id=identity,
            tenant=requested.tenant,
            name=configuration.name,
            recipient=None,
            purpose=None,
            pilot=work.pilot,
            source=Source(**named, unit=work.unit),
            inline=None,
            attributes=configuration.attributes,
            built_in=configuration.built_in,
            policy=configuration.policy,
            policy_sha256=policy_sha256(configuration.policy),
            ppi=work.ppi,
            attacks=work.attacks,
            gate={},
            digest=digest_of(
                pilot=work.pilot,
                unit=work.unit,
                sources=[SourceDigest(source.sha256, source.pilot)],
                attributes=configuration.attributes,
                built_in=configuration.built_in,
                policy=configuration.policy,
                attacks=work.attacks,
                ppi=work.ppi,
                key_epoch=epoch_of(requested.key),
            ),
            key=requested.key,
            member_of=Membership(study=requested.id, number=number),
            created_at=stamp(),
            traceparent=requested.traceparent,
        )


async def figures(archive: Archive, work: SweepWork, members: Members) -> list[dict[str, Any]]:
    """Return one row a release: source, group, configuration, its figures, or the code of what went wrong."""
    pairs = list(_pairs(work))
    rows: list[dict[str, Any]] = []
    for start in range(0, len(pairs), AT_ONCE):
        some = slice(start, start + AT_ONCE)
        rows += await asyncio.gather(
            *(
                _row(archive, *pair, identity)
                for pair, identity in zip(pairs[some], members.releases[some], strict=True)
            )
        )
    return rows


async def _row(archive: Archive, source: SweepSource, configuration: Configuration, release: str) -> dict[str, Any]:
    facts = await archive.any_release(release)
    row = {"source": source.id, "group": source.group, "configuration": configuration.name, "release": release}
    outcome = None if facts is None else facts.outcome
    if facts is None or facts.measured is None or not isinstance(outcome, Published | Withheld):
        return {**row, "error": outcome.error.code if isinstance(outcome, ReleaseFailed) else "release-cancelled"}
    after, attacks = facts.measured.after, outcome.attacks
    found = {name: getattr(after, name) for name in ("rows", "classes", "k", "l", "t", "k_rw", "ppi", "ppi_prime")}
    reid: dict[str, float | None] = {"exact": None if attacks is None else attacks.exact_qi}
    for name in ("partial_qi", "linkage"):
        result = None if attacks is None else getattr(attacks, name)
        reid[name] = None if result is None else result.estimate
        reid[f"{name}_exact"] = None if result is None else result.exact
    return {**row, **found, **reid, "survival": facts.measured.records.survival, "error": None}
