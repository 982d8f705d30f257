"""The extractor: which leaf of a taxonomy an item belongs to, by a table of names and patterns."""

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from pratique_privacy.generalisation.taxonomy import Floats, Taxonomy, taxonomy_of


class BadTable(Exception):
    """The table of a taxonomy cannot be used; the text says why and what to do."""


@dataclass(frozen=True)
class Leaves:
    """Leaves with their ancestors, finest first, and the patterns that lead to them in the order of the table.

    `declared` and `population` are profiles by leaf that the table may bring.
    """

    names: tuple[str, ...]
    ancestors: tuple[tuple[str, ...], ...]
    items: Mapping[str, str] = field(repr=False)
    declared: Mapping[str, float] | None = field(default=None, repr=False)
    population: Mapping[str, float] | None = field(default=None, repr=False)

    @property
    def levels(self) -> int:
        """The number of levels above the leaves."""
        return len(self.ancestors[0])

    def leaf_of(self, item: str) -> int | None:
        """Return the leaf of an item: a name that is spelt out goes before patterns, the first of which counts."""
        found = self.items.get(item)
        if found is None:
            found = next((leaf for pattern, leaf in self.items.items() if fnmatchcase(item, pattern)), None)
        return None if found is None else self.names.index(found)

    def taxonomy(self, weights: Floats | None = None) -> Taxonomy:
        """Return the tree, for an observer who spreads evenly or by these weights."""
        levels: list[list[list[int]]] = []
        for depth in range(self.levels):
            groups: dict[str, list[int]] = {}
            for leaf, path in enumerate(self.ancestors):
                groups.setdefault("/".join(reversed(path[depth:])), []).append(leaf)
            levels.append(list(groups.values()))
        return taxonomy_of(levels, len(self.names), weights=None if weights is None else weights.tolist())


def read_leaves(path: Path) -> Leaves:
    """Read a table in TOML or JSON: `[taxonomy]` leaf = [ancestors], `[items]` name or pattern = leaf.

    `[profile]` leaf = share declares the user's profile, `[population]` that of everybody. Raises BadTable, OSError.
    """
    try:
        text = path.read_text(encoding="utf-8")
        document = json.loads(text) if path.suffix.lower() == ".json" else tomllib.loads(text)
    except ValueError:
        raise BadTable(f"{path} is neither TOML nor, by the name .json, JSON") from None
    if not isinstance(document, dict) or not isinstance(document.get("taxonomy"), dict) or not document["taxonomy"]:
        raise BadTable('the table needs [taxonomy]: leaf = ["family", ..]')
    paths = {leaf: _path(leaf, path_) for leaf, path_ in document["taxonomy"].items()}
    if len({len(path_) for path_ in paths.values()}) > 1:
        raise BadTable("every leaf of [taxonomy] needs the same number of ancestors, finest first")
    items = document.get("items", {})
    if not isinstance(items, dict) or (lost := [i for i in items.values() if i not in paths]):
        raise BadTable(f"[items] leads to leaves that [taxonomy] does not have: {', '.join(map(str, lost[:3]))}")
    return Leaves(
        names=tuple(paths),
        ancestors=tuple(paths.values()),
        items={**{leaf: leaf for leaf in paths}, **items},
        declared=_shares(document, "profile", paths),
        population=_shares(document, "population", paths),
    )


def _path(leaf: str, given: object) -> tuple[str, ...]:
    path = [given] if isinstance(given, str) else given
    if not isinstance(path, list) or not path or not all(isinstance(name, str) and name for name in path):
        raise BadTable(f"the ancestors of {leaf} must be one or more names, finest first")
    return tuple(path)


def _shares(document: Mapping[str, Any], name: str, leaves: Mapping[str, Sequence[str]]) -> Mapping[str, float] | None:
    given = document.get(name)
    if given is None:
        return None
    sound = isinstance(given, dict) and set(given) <= set(leaves)
    numbers = sound and all(type(share) in (int, float) and 0 <= share < float("inf") for share in given.values())
    if not numbers or sum(given.values()) <= 0:
        raise BadTable(f"[{name}] needs leaf = number, from 0, and one above it")
    shares: Mapping[str, float] = given
    return shares
