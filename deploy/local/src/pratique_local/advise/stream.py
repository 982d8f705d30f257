"""The stream: items as NDJSON in, advice as NDJSON out; the user may have the last word on each."""

import json
from collections.abc import Iterable, Iterator
from typing import TextIO

from pratique_local.advise.adviser import Adviser, Answer

Line = dict[str, object]


def advised(
    lines: Iterable[str], adviser: Adviser, asking: TextIO | None = None, answers: TextIO | None = None
) -> Iterator[Line]:
    """Answer each line, `{"item": ..}` or the item as a JSON text; other keys come back with it.

    With `asking` and `answers` the user is asked about everything that is to be generalised, and decides. A line that
    holds no item is answered with an error and the stream goes on.
    """
    for line in lines:
        if not line.strip():
            continue
        given = _given(line)
        if given is None:
            yield {"error": 'give {"item": "..."} on a line'}
            continue
        item = str(given["item"])
        found = adviser.answer(item)
        told = {**given, **_told(found)}
        if asking is not None and answers is not None and found.advice == "generalise":
            told |= _decided(found, asking, answers)
        yield told


def _given(line: str) -> Line | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    given = {"item": value} if isinstance(value, str) else value
    return given if isinstance(given, dict) and isinstance(given.get("item"), str) else None


def _told(found: Answer) -> Line:
    told: Line = {"leaf": found.leaf, "advice": found.advice}
    match found.advice:
        case "generalise":
            told |= {"level": found.level, "as": found.as_, "chance": round(found.chance, 9)}
        case "publish":
            told |= {"training": True} if found.training else {"chance": round(found.chance, 9)}
        case "unknown":
            pass
    return told


def _decided(found: Answer, asking: TextIO, answers: TextIO) -> Line:
    """Ask; an empty answer, or none, follows the advice."""
    print(f"{found.item}: publish as {found.as_}? [Y/n] ", end="", file=asking, flush=True)
    word = answers.readline().strip().lower()
    kept = word not in ("n", "no")
    return {"decision": "generalise" if kept else "publish"}
