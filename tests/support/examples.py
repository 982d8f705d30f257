"""The examples of the OpenAPI document: sent as they stand, and the answers that it shows, made anew.

`python -m tests.support.examples` writes the answers into the document's file after a change of what is answered.
"""

import asyncio
import json
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import httpx

from tests.support.contract import KEY, furnished
from tests.unit.privacy.http.world import PCAP

JSON: Final = "application/json"
EVENTS: Final = "text/event-stream"
LONGEST: Final = 160  # characters of a text; of a list that has more than four entries two are shown
SECRET: Final = frozenset({"key", "secret", "ticket"})
NOBODYS: Final = "key_..."  # a key, where an example has to show one
MADE_UP: Final = "shown this once"


@dataclass(frozen=True)
class Ask:
    """A request that the document shows."""

    operation: str
    method: str
    path: str
    media: str | None = None
    content: bytes | None = None
    example: str = ""

    @property
    def headers(self) -> dict[str, str]:
        """The headers that it is sent with."""
        return {"Accept": JSON} | ({} if self.media is None else {"Content-Type": self.media})


def asks(document: dict[str, Any]) -> Iterator[Ask]:
    """Yield a request for each example of each operation; one whose body is a capture has none, and sends one."""
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            given = {one["name"]: one["example"] for one in operation.get("parameters", ()) if one["in"] == "path"}
            here = operation["operationId"], method.upper(), path.format_map(given)
            if "requestBody" not in operation:
                yield Ask(*here)
                continue
            for media, described in operation["requestBody"]["content"].items():
                if media == JSON or "examples" in described:
                    for name, example in described["examples"].items():
                        yield Ask(*here, media, _bytes(example["value"]), name)
                else:
                    yield Ask(*here, media, PCAP + media.encode(), media)


def _bytes(value: object) -> bytes:
    """Return a body as it is sent: with a key that is in force for one that is nobody's."""
    return value.encode() if isinstance(value, str) else json.dumps(value).replace(NOBODYS, KEY).encode()


def cut(value: Any, name: str = "") -> Any:  # noqa: ANN401 - JSON
    """Return an answer as it is shown: no secret, and of what is long the beginning."""
    match value:
        case str():
            longest = None if name == "data" else LONGEST
            return MADE_UP if name in SECRET and "_" in value and len(value) > LONGEST // 4 else value[:longest]
        case list():
            return [cut(entry) for entry in (value[:2] if len(value) > 4 else value)]
        case dict():
            return {key: cut(entry, key) for key, entry in value.items()}
        case _:
            return value


async def answers(folder: Path) -> dict[str, dict[str, dict[str, Any]]]:
    """Ask for the first example of every operation; return what is answered in JSON, by operation and status."""
    world = await furnished(folder)
    found: dict[str, dict[str, dict[str, Any]]] = {}
    async with world.anonymous({"Authorization": f"Bearer {KEY}"}) as client:
        for ask in asks(world.app.openapi()):
            if ask.operation not in found and (shown := await _shown(client, ask)) is not None:
                found[ask.operation] = shown
    return found


async def _shown(client: httpx.AsyncClient, ask: Ask) -> dict[str, dict[str, Any]] | None:
    answer = await client.request(ask.method, ask.path, content=ask.content, headers=ask.headers)
    client.cookies.clear()  # a session is asked for, and not used
    media = answer.headers.get("content-type", "").partition(";")[0]
    if not answer.is_success or media not in (JSON, EVENTS):
        return None
    shown = answer.json() if media == JSON else _event(answer.text)
    return {str(answer.status_code): {media: cut(shown)}}


def _event(text: str) -> dict[str, str]:
    """Return the first event of a stream."""
    lines = text.partition("\n\n")[0].splitlines()
    return dict(line.split(": ", 1) for line in lines)


def main() -> None:
    """Write the file."""
    target = Path(str(files("pratique_privacy.http").joinpath("shown.json")))
    with tempfile.TemporaryDirectory() as folder:
        found = asyncio.run(answers(Path(folder)))
    target.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
