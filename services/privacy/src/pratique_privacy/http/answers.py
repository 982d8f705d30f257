"""Answers: models as JSON, lists by page, results that wait, and what OpenAPI says of them."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from hashlib import sha256
from typing import Annotated, Any, Final, TypeVar

from fastapi import Header, Query, Request, Response
from pydantic import BaseModel

from pratique_privacy.http.digests import digest_header
from pratique_privacy.http.problems import MEDIA, RETRY_AFTER, ProblemDocument
from pratique_shared.contracts.ids import ID
from pratique_shared.contracts.problems import FieldError, Unprocessable

Item = TypeVar("Item")
UNKEPT: Final = {"Cache-Control": "private, no-store"}  # raw records and secrets stay in no cache
FIRST_LOOK, LAST_LOOK = 0.05, 0.25  # seconds between two looks at a result that is waited for

Limit = Annotated[int, Query(ge=1, le=1000, description="How many entries a page holds.")]
Prefer = Annotated[str | None, Header(description="`wait=N`: hold the answer back for at most N seconds, 30 at most.")]
_PLACE: Final = "(0|[1-9][0-9]{0,10})"


def cursor(pattern: str) -> Any:  # noqa: ANN401 - what FastAPI's `Query` is, too
    """Return what is said of `after`: its form is checked where it is used, with a code of its own."""
    described = "`next` of the page before, unchanged."
    return Query(description=described, json_schema_extra={"pattern": f"^{pattern}$", "maxLength": 200})


def after_id(kind: str) -> Any:  # noqa: ANN401
    """Return what is said of `after` in a list of ids of this kind."""
    return cursor(f"{kind}_{ID}")


After = Annotated[str | None, cursor(_PLACE)]  # of a list by place

_MEANINGS: Final = {
    400: "The body is no JSON, or its bytes are not those of its digest.",
    401: "No API key, or one that is not in force.",
    403: "The role of the key may not do this, or the gate did not pass.",
    404: "Not there, or not yours to see.",
    406: "In none of the forms that `Accept` names: the answer lists those that there are.",
    409: "Not in a state that allows this.",
    410: "Withdrawn or deleted.",
    413: "Larger than the service takes.",
    415: "Of a kind that the service does not read.",
    416: "No byte of the range is there.",
    422: "Well formed, and wrong: `errors` name the fields.",
    429: "More requests than the caller's share: `Retry-After` says when to come back.",
    503: "A part of the service is missing for now.",
    507: "The store is full.",
}
Answered = dict[int | str, dict[str, Any]]


def answers(*statuses: int, anonymous: bool = False) -> Answered:
    """Return the problem documents that an operation may answer with, for OpenAPI."""
    always = {422, 503} if anonymous else {401, 403, 422, 429, 503}
    return {
        status: {"description": _MEANINGS[status], "content": {MEDIA: {"schema": {"$ref": _ref(ProblemDocument)}}}}
        for status in sorted(always | set(statuses))
    }


def begun(model: type[BaseModel]) -> Answered:
    """Return what an operation answers with that takes something in and goes on working: its 201, and its refusals."""
    finished: Answered = {201: {"model": model, "description": "Finished within the time of `Prefer: wait`."}}
    return finished | answers(400, 404, 409, 410, 413, 415, 507)


# Of a result that does not change. Its tag is strong.
UNCHANGED: Final[Answered] = {304: {"description": "Still what `If-None-Match` names."}}


def _ref(kind: type[BaseModel]) -> str:
    return f"#/components/schemas/{kind.__name__}"


def takes(*kinds: type[BaseModel], **examples: object) -> dict[str, Any]:
    """Return the JSON body that an operation takes, one of these kinds, for OpenAPI."""
    each = [{"$ref": _ref(kind)} for kind in kinds]
    media: dict[str, Any] = {"schema": each[0] if len(each) == 1 else {"oneOf": each}}
    if examples:
        media["examples"] = {name: {"value": value} for name, value in examples.items()}
    return {"requestBody": {"required": True, "content": {"application/json": media}}}


def takes_bytes(*media: str, examples: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the raw body that an operation takes, for OpenAPI; `examples` are by media type."""
    schema: dict[str, Any] = {"schema": {"type": "string", "format": "binary"}}
    shown = {name: {"examples": {"table": {"value": value}}} for name, value in (examples or {}).items()}
    return {"requestBody": {"required": True, "content": {name: schema | shown.get(name, {}) for name in media}}}


def files(*media: str) -> Answered:
    """Return the files that an operation may answer with, for OpenAPI."""
    schema = {"schema": {"type": "string", "format": "binary"}}
    content = {name: schema for name in media if name != "application/json"}  # a page has a schema of its own
    return {
        200: {"description": "The file.", "content": content},
        206: {"description": "A part of the file, as `Range` asks for.", "content": content},
        **UNCHANGED,
    }


def answer(model: BaseModel, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """Answer with a model as JSON."""
    return Response(model.model_dump_json(by_alias=True), status, headers, media_type="application/json")


def unchanging(request: Request, body: str) -> Response:
    """Answer with JSON that never changes: a strong ETag, its digest, and 304 to whoever has it."""
    return tagged(request, body.encode(), "application/json")


def tagged(request: Request, body: bytes, media: str, keep: dict[str, str] | None = None) -> Response:
    """Answer with bytes under a tag and a digest that follow from them; `keep` replaces what is said of caches."""
    digest = sha256(body).hexdigest()
    headers = {**private(f'"{digest}"'), **(keep or {})}
    if is_known(request, headers["ETag"]):
        return Response(None, 304, headers)
    return Response(body, 200, {**headers, "Repr-Digest": digest_header(digest)}, media_type=media)


def private(tag: str) -> dict[str, str]:
    """Return the headers of a result that only its reader may keep."""
    return {"ETag": tag, "Vary": "Authorization, Cookie, Accept", "Cache-Control": "private, no-cache"}


def is_known(request: Request, tag: str) -> bool:
    """Whether `If-None-Match` names this tag (RFC 9110, 13.1.2: compared weakly)."""
    known = [entry.strip().removeprefix("W/") for entry in request.headers.get("if-none-match", "").split(",")]
    return tag in known or "*" in known


def accepted(location: str, status: int, *, replayed: bool = False, waited: bool = False) -> dict[str, str]:
    """Return the headers of something that was taken in."""
    headers = {"Location": location}
    headers |= RETRY_AFTER if status == 202 else {}
    headers |= {"Idempotent-Replayed": "true"} if replayed else {}
    headers |= {"Preference-Applied": "wait"} if waited else {}
    return headers


def asked_to_wait(prefer: str | None, most: float) -> float:
    """Return the seconds of `Prefer: wait=N` (RFC 7240), at most `most`; 0 without one."""
    found = re.search(r"(?:^|[,;\s])wait\s*=\s*\"?(\d{1,6})", prefer or "", re.IGNORECASE)
    return min(float(found[1]), most) if found else 0.0


async def finished(look: Callable[[], Awaitable[bool]], seconds: float) -> bool:
    """Look until it is done or the time is over; return whether it is done."""
    loop, pause = asyncio.get_running_loop(), FIRST_LOOK
    until = loop.time() + seconds
    while seconds > 0:
        if await look():
            return True
        if (left := until - loop.time()) <= 0:
            return False
        await asyncio.sleep(min(pause, left))
        pause = min(2 * pause, LAST_LOOK)
    return False


def id_cursor(kind: str, after: str | None) -> str | None:
    """Return the cursor of a list of ids; raises `Unprocessable` for one that no page gave."""
    if after is None:
        return None
    if re.fullmatch(f"{kind}_{ID}", after) is None:
        raise bad_cursor()
    return after


def offset_cursor(after: str | None) -> int:
    """Return the row that a page of records begins with."""
    if after is None:
        return 0
    if re.fullmatch(_PLACE, after) is None:
        raise bad_cursor()
    return int(after)


def one_page(found: Sequence[Item], after: str | None, limit: int) -> tuple[Sequence[Item], str | None]:
    """Return what a page shows of a list that is there as a whole, and its `next`."""
    first = offset_cursor(after)
    last = first + limit
    return found[first:last], str(last) if last < len(found) else None


def bad_cursor() -> Unprocessable:
    """Return the refusal of a cursor that no page gave."""
    error = FieldError("/after", "must be `next` of an earlier page")
    return Unprocessable("cursor-invalid", "Send `next` of an earlier page as `after`, unchanged.", [error])
