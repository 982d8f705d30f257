"""Hash chains of the audit log: entries that name the one before, and the check that none was altered or taken out.

A chain begins with an entry that names the heads of the chains before it, so that a tail cut off an earlier one
shows as soon as a later one was begun.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from pratique_shared.contracts.canonical import sha256_of_json
from pratique_shared.contracts.model import Contract

Phase = Literal["opened", "asked", "answered"]
Fault = Literal["altered", "missing", "unlinked", "doubled", "cut-off", "damaged"]


class AuditEntry(Contract):
    """One entry: who did what to which object, and with what outcome; never a value or an identifier of a record.

    `asked` stands before a change is made, `answered` before its answer leaves; `status` is null where none did.
    """

    chain: str
    number: int
    at: str
    phase: Phase
    key: str | None = None
    role: str | None = None
    operation: str | None = None
    object: str | None = None
    status: int | None = None
    request: str | None = None
    heads: dict[str, str] = {}
    previous: str
    hash: str

    def computed(self) -> str:
        """Return the SHA-256 over everything else in this entry, as canonical JSON."""
        return sha256_of_json(self.model_dump(mode="json", exclude={"hash"}))


@dataclass(frozen=True)
class Event:
    """What an entry tells beside its place in the chain."""

    phase: Phase
    key: str | None = None
    role: str | None = None
    operation: str | None = None
    object: str | None = None
    status: int | None = None
    request: str | None = None
    heads: tuple[tuple[str, str], ...] = ()


class Break(Contract):
    """A place where a chain does not hold; `damaged`: a block that cannot be read, whose name stands for the chain."""

    chain: str
    number: int
    fault: Fault


def linked(chain: str, last: tuple[int, str], events: Sequence[Event], at: str) -> list[AuditEntry]:
    """Return entries that continue a chain whose last one had this number and hash (-1 and no text: a new chain)."""
    number, previous = last
    found = []
    for event in events:
        number += 1
        told = {**event.__dict__, "heads": dict(event.heads)}
        entry = AuditEntry(chain=chain, number=number, at=at, previous=previous, hash="", **told)
        entry = entry.model_copy(update={"hash": entry.computed()})
        previous = entry.hash
        found.append(entry)
    return found


def breaks(entries: Iterable[AuditEntry]) -> list[Break]:
    """Return every place where whole chains do not hold; none is what an auditor wants to see."""
    chains: dict[str, list[AuditEntry]] = defaultdict(list)
    for entry in entries:
        chains[entry.chain].append(entry)
    found = [fault for chain in chains.values() for fault in _of_chain(sorted(chain, key=lambda one: one.number))]
    hashes = {name: {entry.hash for entry in chain} for name, chain in chains.items()}
    for chain in chains.values():
        for entry in chain:
            for name, head in entry.heads.items():
                if head not in hashes.get(name, ()):
                    found.append(Break(chain=name, number=len(chains.get(name, ())), fault="cut-off"))
    return found


def _of_chain(chain: list[AuditEntry]) -> Iterable[Break]:
    previous, expected = "", 0
    for entry in chain:
        if entry.hash != entry.computed():
            yield Break(chain=entry.chain, number=entry.number, fault="altered")
        if entry.number > expected:
            yield Break(chain=entry.chain, number=expected, fault="missing")
        elif entry.number < expected:
            yield Break(chain=entry.chain, number=entry.number, fault="doubled")
        elif entry.previous != previous:
            yield Break(chain=entry.chain, number=entry.number, fault="unlinked")
        previous, expected = entry.hash, entry.number + 1
