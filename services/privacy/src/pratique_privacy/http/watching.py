"""Watching: Server-Sent Events of whatever changes until it is done, each a whole snapshot."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable
from dataclasses import dataclass
from typing import Any, Final

from fastapi import Request, Response
from fastapi.responses import StreamingResponse

from pratique_privacy.http.access import is_let_in
from pratique_privacy.http.answers import UNKEPT
from pratique_privacy.http.heads import is_head

MEDIA: Final = "text/event-stream"
_TEXT: Final = {"type": "string"}
_EVENT: Final = {
    "type": "object",
    "description": "One event of the stream; `data` is the resource as JSON.",
    "properties": {"event": _TEXT, "data": {**_TEXT, "contentMediaType": "application/json"}},
    "required": ["event", "data"],
}
EVENTS: Final[dict[int | str, dict[str, Any]]] = {
    200: {"description": "Snapshots, one an event.", "content": {MEDIA: {"schema": _EVENT}}}
}
_HEADERS: Final = {**UNKEPT, "X-Accel-Buffering": "no"}

# Seconds: between two looks, at first and where nothing changes; between two signs of life; until it is asked again
# whether the watcher may; until a watch ends.
FIRST_LOOK, LAST_LOOK, HEARTBEAT, AGAIN, LONGEST = 0.25, 2.0, 15.0, 5.0, 3600.0


@dataclass(frozen=True)
class Watched:
    """What is watched: the name of its events, what it follows from, and how it stands (as JSON, and whether done).

    `marks` must be cheap: it is looked at again and again, `shown` only when it has changed.
    """

    event: str
    marks: Callable[[], Awaitable[Hashable]]
    shown: Callable[[], Awaitable[tuple[str, bool]]]


def watching(request: Request, watched: Watched) -> Response:
    """Answer with the events of something; whoever asks for the head alone is kept waiting for none."""
    if is_head(request):
        return Response(None, 200, _HEADERS, media_type=MEDIA)
    return StreamingResponse(_events(request, watched), headers=_HEADERS, media_type=MEDIA)


async def _events(request: Request, watched: Watched) -> AsyncIterator[str]:
    """Yield what is new, as long as who asked may see it.

    Whoever reads on after the longest watch asks again, and is sent the present state.
    """
    clock = asyncio.get_running_loop().time
    until, told, pause, asked = clock() + LONGEST, clock(), FIRST_LOOK, clock()
    seen: Hashable = None
    shown = ""
    while clock() < until:
        if clock() - asked >= AGAIN:
            asked = clock()
            if not await is_let_in(request):
                return
        # Marks come before the state: what is written in between is a new mark at the next look.
        if (marks := await watched.marks()) != seen:
            seen, pause = marks, FIRST_LOOK
            text, done = await watched.shown()
            if text != shown:
                shown, told = text, clock()
                yield f"event: {watched.event}\ndata: {text}\n\n"
            if done:
                return
        if clock() - told >= HEARTBEAT:
            told = clock()
            yield ": still here\n\n"
        await asyncio.sleep(pause)
        pause = min(2 * pause, LAST_LOOK)
