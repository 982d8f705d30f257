"""Bodies: JSON read within its limits, and held against its contract."""

import asyncio
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, Final, TypeVar

from fastapi import Request
from pydantic import BaseModel, ValidationError

from pratique_privacy.http.digests import promised
from pratique_privacy.http.invalid import field_errors, made_whole
from pratique_privacy.http.services import Limits
from pratique_shared.contracts.problems import BadRequest, FieldError, TooLarge, Unprocessable, Unsupported, pointer

Model = TypeVar("Model", bound=BaseModel)
MAX_DEPTH = 32  # the deepest body that the API describes has nine levels
# What 16 MB of the smallest objects become in memory is a hundred times that: they are counted before they are read.
MOST_OBJECTS, MOST_VALUES = 250_000, 1_000_000
LARGE = 256 << 10  # bytes from which on a body is parsed beside the event loop
_HALF_PAIR: Final = re.compile(rb"\\u[dD][89a-fA-F]")


@dataclass(frozen=True)
class JsonBody:
    """A body as it came, and as it was read."""

    raw: bytes = field(repr=False)
    value: Any = field(repr=False)

    def as_a(self, kind: type[Model]) -> Model:
        """Return the body as a contract; raises `Unprocessable` (`body-invalid`) that points at each wrong field.

        Types are those of JSON: neither `"5"` nor `true` is a number, and 5.0 is an integer.
        """
        try:
            return kind.model_validate_json(self.raw, strict=True)
        except ValidationError as error:
            found = error.errors(include_url=False, include_input=False)
        if made_whole(found, self.value):
            try:
                return kind.model_validate_json(json.dumps(self.value), strict=True)
            except ValidationError as error:
                found = error.errors(include_url=False, include_input=False)
        wrong = field_errors(found, self.value)
        raise Unprocessable("body-invalid", "Fields of the body are wrong: `errors` name them.", wrong)


async def read_bytes(request: Request, limit: int) -> bytes:
    """Return the body, which has the digests that it was announced with.

    Raises `TooLarge` as soon as it is known to be longer than `limit`, `BadRequest` for other bytes than promised.
    """
    too_large = TooLarge("body-too-large", f"The body may have at most {limit} bytes.")
    if request.headers.get("content-encoding", "identity") != "identity":
        raise Unsupported("content-encoding", "Send the body uncompressed.")
    announced = request.headers.get("content-length", "0")
    if announced.isdecimal() and int(announced[:20]) > limit:
        raise too_large
    data, digests = bytearray(), promised(request)
    async for piece in request.stream():
        data += piece
        if len(data) > limit:
            raise too_large
    whole = bytes(data)
    digests.update(whole)
    digests.check()
    return whole


async def read_json(request: Request, limit: int) -> JsonBody:
    """Return the body as JSON; raises `BadRequest` where it is none, `Unprocessable` where JSON says too little.

    Raises `TooLarge` for more values than may be held at once; braces and commas in texts count as well.
    """
    raw = await read_bytes(request, limit)
    if raw.count(b"{") > MOST_OBJECTS or raw.count(b",") > MOST_VALUES:
        counted = f"{MOST_OBJECTS} objects or {MOST_VALUES} values"
        raise TooLarge("body-too-large", f"The body holds more than {counted}: send the records as a dataset.")
    if len(raw) < LARGE:
        return JsonBody(raw, parse(raw))
    return JsonBody(raw, await asyncio.to_thread(parse, raw))


async def read_body(request: Request, kind: type[Model], limit: int) -> Model:
    """Return the body as a contract."""
    return (await read_json(request, limit)).as_a(kind)


async def read_with_records(request: Request, limits: Limits) -> JsonBody:
    """Return a body that may hold records; raises `TooLarge` for one that is large without any."""
    body = await read_json(request, limits.inline_bytes)
    source = body.value.get("source") if isinstance(body.value, dict) else None
    inline = isinstance(source, dict) and source.get("records") is not None
    if len(body.raw) > limits.json_bytes and not inline:
        raise TooLarge("body-too-large", f"A body without records may have at most {limits.json_bytes} bytes.")
    return body


def parse(raw: bytes) -> Any:  # noqa: ANN401 - JSON holds anything
    """Read JSON strictly (RFC 8259, RFC 7493): UTF-8, no NaN, no key twice, no half surrogate pair, no abyss."""
    try:
        value = json.loads(raw.decode(), parse_constant=_no_constant, object_pairs_hook=_object)
    except (ValueError, RecursionError):
        # `from None`: the cause quotes the body.
        raise BadRequest("not-json", "The body is no JSON: send UTF-8, each key once, no NaN.") from None
    _check(value, texts=_HALF_PAIR.search(raw) is not None)
    return value


def _no_constant(_: str) -> None:
    raise ValueError


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError
    return found


def _check(value: object, *, texts: bool) -> None:
    """Raise for what would break further on; without recursion, and with paths only once something is wrong."""
    stack: list[tuple[object, int]] = [(value, 0)]
    wrong = texts or isinstance(value, float)
    while stack and not wrong:
        here, depth = stack.pop()
        entries = here.values() if isinstance(here, dict) else here if isinstance(here, list) else ()
        for entry in entries:
            kind = type(entry)
            if kind is dict or kind is list:
                stack.append((entry, depth + 1))
            elif kind is float and not isfinite(entry):
                wrong = True
        wrong = wrong or depth >= MAX_DEPTH
    if wrong:
        _complain(value)


def _complain(value: object) -> None:
    """Raise for the first value that cannot be taken, with its path."""
    stack: list[tuple[object, tuple[str | int, ...]]] = [(value, ())]
    while stack:
        here, path = stack.pop()
        if isinstance(here, float) and not isfinite(here):
            raise _refused("number-not-finite", path, "must be a finite number")
        if isinstance(here, str) and not _well_formed(here):
            raise _refused("text-not-unicode", path, "must be well-formed Unicode")
        if isinstance(here, dict | list):
            if len(path) >= MAX_DEPTH:
                raise _refused("body-too-deep", path[:8], f"is nested deeper than {MAX_DEPTH} levels")
            if isinstance(here, dict) and not all(map(_well_formed, here)):
                raise _refused("text-not-unicode", path, "has a key that is not well-formed Unicode")
            stack += [(entry, (*path, name)) for name, entry in _entries(here)]


def _entries(here: dict[str, Any] | list[Any]) -> Iterable[tuple[str | int, Any]]:
    return here.items() if isinstance(here, dict) else enumerate(here)


def _well_formed(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _refused(code: str, path: tuple[str | int, ...], advice: str) -> Unprocessable:
    return Unprocessable(
        code, "A value of the body cannot be taken: `errors` say where.", [FieldError(pointer(*path), advice)]
    )
