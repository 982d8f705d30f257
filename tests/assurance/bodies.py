"""Mutated bodies: requests as they are meant, damaged by a seeded stream in their bytes or in what they say."""

import io
import json
from copy import deepcopy
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from tests.assurance.mutations import Chance, cut, flip, lie, repeat, splice
from tests.assurance.traffic import JSON, request_of, rows

BYTES = (flip, flip, cut, lie, repeat, splice)
# What a field may be that is not what it should be.
ODD: tuple[Any, ...] = (
    None, True, 0, -1, 1.5, 2**31, 2**63, 2**64, -(2**63) - 1, 1e308, "", " ", "*", "\0", "\ud800", "\u202e",
    "a" * 5000, 'a,b\n"c', "=1+1", "../../x", "10.0.0.0/8", "::", "9" * 400, "NaN", "2026-13-40",
    [], {}, [[]], [None], {"": None}, [0] * 2000, {"a": {"a": {"a": {}}}},
)  # fmt: skip


class Sent(NamedTuple):
    """A request with its body."""

    path: str
    media: str
    body: bytes


def meant() -> list[Sent]:
    """Return requests that each body-taking operation accepts, small enough to be worked on in milliseconds."""
    release = json.loads(request_of(40, "fuzz", repetitions=1))
    source = {"source": release["source"]}
    trial = {name: release[name] for name in ("source", "attributes", "policy")}
    gate = {"gate": {"k": {"min": 2}}}
    asked: dict[str, Any] = {
        "/releases": release,
        "/preview": trial,
        "/classify": source,
        "/recommendations": source | {"attributes": release["attributes"], "budget": {"seconds": 1}} | gate,
    }
    frame = pl.DataFrame(rows(60))
    parquet, arrow = io.BytesIO(), io.BytesIO()
    frame.write_parquet(parquet)
    frame.write_ipc(arrow)
    csv, lines = frame.write_csv().encode(), frame.write_ndjson().encode()
    return [
        *(Sent(path, JSON, json.dumps(body).encode()) for path, body in asked.items()),
        Sent("/datasets", "text/csv", csv),
        Sent("/datasets", "application/x-ndjson", lines),
        Sent("/datasets", JSON, json.dumps(rows(60)).encode()),
        # The API takes neither of these: sent as what they are, and as what they are not.
        *(
            Sent("/datasets", media, file.getvalue())
            for file, name in ((parquet, "parquet"), (arrow, "arrow.file"))
            for media in (f"application/vnd.apache.{name}", "text/csv", JSON)
        ),
    ]


def mutated(requests: list[Sent], seed: int, number: int) -> Sent:
    """Return the request of this number: the same seed and number give the same bytes."""
    chance = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(number,)))
    sent = requests[chance.integers(len(requests))]
    if sent.media == JSON and sent.body[:1] in b"{[" and chance.integers(3):
        value = json.loads(sent.body)
        for _ in range(chance.integers(1, 4)):
            value = _misstated(value, chance)
        return sent._replace(body=json.dumps(value).encode())
    body = sent.body
    for _ in range(chance.integers(1, 4)):
        body = BYTES[chance.integers(len(BYTES))](body, chance)
    return sent._replace(body=body)


def _misstated(value: Any, chance: Chance) -> Any:  # noqa: ANN401 - JSON holds anything
    """Return a body of which one field, wherever it is, is odd, missing, doubled under another name, or added."""
    changed = deepcopy(value)
    here = changed
    while True:
        names = list(here) if isinstance(here, dict) else list(range(len(here)))
        if not names:
            return changed
        name = names[chance.integers(len(names))]
        below = here[name]
        if isinstance(below, dict | list) and below and chance.integers(4):
            here = below
            continue
        odd = ODD[chance.integers(len(ODD))]
        kind = chance.integers(4)
        if kind == 0:
            del here[name]
        elif kind == 1 and isinstance(here, dict):
            here[f"{name}{'x' * int(chance.integers(2))}"] = odd
        elif kind == 2 and isinstance(here, list):
            here.append(odd)
        else:
            here[name] = odd
        return changed
