"""Patches: changes to the attributes and the policy of a request, as operations of JSON Patch (RFC 6902).

They stand on the document `{"attributes": .., "policy": {"steps": [..]}}` with names of built-in and stored policies
already resolved.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from pydantic import JsonValue

from pratique_shared.contracts.attributes import LIST_OF, Attributes, ColumnClass
from pratique_shared.contracts.policy import Policy, Step, TableStep, Threshold
from pratique_shared.contracts.problems import pointer


@dataclass(frozen=True)
class Change:
    """One operation of a patch; `value` means nothing to `remove`."""

    op: Literal["add", "replace", "remove"]
    path: str
    value: JsonValue = None

    def document(self) -> dict[str, JsonValue]:
        """Return the operation as JSON."""
        told: dict[str, JsonValue] = {"op": self.op, "path": self.path}
        return told if self.op == "remove" else {**told, "value": self.value}


Patch: TypeAlias = tuple[Change, ...]


def step_document(step: Step) -> JsonValue:
    """Return a step as it stands in a request."""
    document: JsonValue = step.model_dump(mode="json", exclude_none=True)
    return document


def appended(step: Step) -> Change:
    """Add a step behind all others."""
    return Change("add", pointer("policy", "steps", "-"), step_document(step))


def inserted(step: Step, place: int) -> Change:
    """Add a step so that it stands at `place`."""
    return Change("add", pointer("policy", "steps", str(place)), step_document(step))


def exchanged(step: Step, place: int) -> Change:
    """Put a step in the place of another."""
    return Change("replace", pointer("policy", "steps", str(place)), step_document(step))


def withdrawn(places: Collection[int]) -> Patch:
    """Take steps out, the last first, so that no place shifts before its turn."""
    return tuple(Change("remove", pointer("policy", "steps", str(place))) for place in sorted(places, reverse=True))


def before_suppression(policy: Policy, column: str, step: Step) -> Change:
    """Add a generalisation where suppression finds its result: before thresholds on the column and class support."""
    for place, other in enumerate(policy.steps):
        if isinstance(other, TableStep) or (isinstance(other, Threshold) and other.column == column):
            return inserted(step, place)
    return appended(step)


def reclassed(attributes: Attributes, columns: Sequence[str], target: ColumnClass) -> Patch:
    """Move columns into another class; bins and orders of one that is sensitive no more go with it.

    The lists are given whole: `add` on a member replaces it (RFC 6902, 4.1), and a request may have left one out.
    """
    changed = []
    for field in LIST_OF.values():
        names: tuple[str, ...] = getattr(attributes, field)
        others = [name for name in names if name not in columns]
        new = [*others, *columns] if field == LIST_OF[target] else others
        if new != list(names):
            changed.append(Change("add", pointer("attributes", field), list[JsonValue](new)))
    for extra in ("sensitive_bins", "ordered"):
        extras = [name for name in columns if name in getattr(attributes, extra) and target != "sensitive"]
        changed += [Change("remove", pointer("attributes", extra, name)) for name in extras]
    return tuple(changed)


def apply_patch(attributes: Attributes, policy: Policy, patch: Patch) -> tuple[Attributes, Policy]:
    """Return attributes and policy with a patch applied to their document; what comes out is validated anew."""
    document: JsonValue = {
        "attributes": attributes.model_dump(mode="json"),
        "policy": {"steps": [step_document(step) for step in policy.steps]},
    }
    for change in patch:
        document = _patched(document, _tokens(change.path), change)
    assert isinstance(document, dict)
    return Attributes.model_validate(document["attributes"]), Policy.model_validate(document["policy"])


def _tokens(path: str) -> list[str]:
    return [token.replace("~1", "/").replace("~0", "~") for token in path.split("/")[1:]]


def _patched(node: JsonValue, tokens: Sequence[str], change: Change) -> JsonValue:
    """Return a copy of a node with the member or element changed that `tokens` lead to."""
    token, deeper = tokens[0], tokens[1:]
    match node:
        case dict():
            members = dict(node)
            if change.op != "add" and token not in node:
                raise LookupError("a patch leads nowhere")
            if deeper:
                members[token] = _patched(node[token], deeper, change)
            elif change.op == "remove":
                del members[token]
            else:
                members[token] = change.value
            return members
        case list():
            return _patched_list(node, token, deeper, change)
        case _:
            raise LookupError("a patch leads nowhere")


def _patched_list(elements: list[JsonValue], name: str, deeper: Sequence[str], change: Change) -> list[JsonValue]:
    place = len(elements) if name == "-" else int(name)
    if not 0 <= place < len(elements) + (change.op == "add" and not deeper):
        raise LookupError("a patch leads nowhere")
    head, tail = elements[:place], elements[place + 1 :]
    if deeper:
        return [*head, _patched(elements[place], deeper, change), *tail]
    match change.op:
        case "add":
            return [*head, change.value, *elements[place:]]
        case "replace":
            return [*head, change.value, *tail]
        case "remove":
            return [*head, *tail]
