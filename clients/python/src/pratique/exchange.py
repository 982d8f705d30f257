"""The exchange: one request as data, and what is made of the pieces of its answer. It knows no connection."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

import httpx

from pratique.errors import Unreachable

# An object as the service gave it: a newer service's further fields arrive without a newer client.
Json: TypeAlias = dict[str, Any]
Params: TypeAlias = Mapping[str, str | int | Iterable[str] | None]
Answer = TypeVar("Answer")
Answer_co = TypeVar("Answer_co", covariant=True)


@dataclass(frozen=True)
class Ask:
    """One request, as often as it must be sent: `content` is called anew for each attempt.

    One that is performed as a Call may be repeated: it reads, it replaces, or it carries an Idempotency-Key that stays
    the same.
    """

    method: str
    path: str
    params: Params = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    content: Callable[[], bytes | Iterable[bytes]] | None = None

    @property
    def query(self) -> list[tuple[str, str]]:
        """The parameters as pairs: a list is repeated, None is left out."""
        return [(name, each) for name, value in self.params.items() for each in _spread(value)]


@dataclass(frozen=True)
class Head:
    """Status and headers of an answer whose body is still to come."""

    status: int
    headers: httpx.Headers


class Exchange(Protocol[Answer_co]):
    """A request and the reading of its answer, which may begin anew after a connection that broke off."""

    @property
    def raw(self) -> bool:
        """Whether the body is taken as it travels, or decompressed."""
        ...

    def ask(self) -> Ask:
        """Return the request to send now."""
        ...

    def accepts(self, status: int) -> bool:
        """Whether an answer of this status is read; any other is a refusal."""
        ...

    def begin(self, head: Head) -> None:
        """Take the head of an answer."""
        ...

    def take(self, piece: bytes) -> None:
        """Take a piece of the body."""
        ...

    def end(self) -> Answer_co:
        """Return what the whole answer means."""
        ...

    def close(self) -> None:
        """Drop what is half done; called once, whatever happened."""
        ...


class Reading(Generic[Answer]):
    """An exchange whose answer is small: gathered, then interpreted."""

    raw = False

    def __init__(
        self, ask: Ask, interpret: Callable[[Head, bytes], Answer], further: frozenset[int] = frozenset()
    ) -> None:
        self._ask, self._interpret, self._further = ask, interpret, further
        self._head: Head | None = None
        self._body = bytearray()

    def ask(self) -> Ask:
        """Return the request, the same each time."""
        return self._ask

    def accepts(self, status: int) -> bool:
        """Whether the status says yes, or is one that was named."""
        return HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES or status in self._further

    def begin(self, head: Head) -> None:
        """Forget what an earlier attempt gave."""
        self._head = head
        self._body.clear()

    def take(self, piece: bytes) -> None:
        """Keep a piece."""
        self._body += piece

    def end(self) -> Answer:
        """Interpret the whole."""
        assert self._head is not None
        return self._interpret(self._head, bytes(self._body))

    def close(self) -> None:
        """Hold nothing back: there is nothing but memory."""


def json_object(ask: Ask) -> Reading[Json]:
    """Ask for a JSON object."""
    return Reading(ask, lambda _, body: object_in(body))


def json_values(ask: Ask) -> Reading[list[Json]]:
    """Ask for objects in a bare JSON list or a page of one."""

    def listed(_: Head, body: bytes) -> list[Json]:
        document = decoded(body)
        found = document.get("data") if isinstance(document, dict) else document
        if not isinstance(found, list):
            raise Unreachable("not-pratique", "The answer is not the list that Pratique gives there.")
        return found

    return Reading(ask, listed)


def nothing(ask: Ask) -> Reading[None]:
    """Ask for something to be done whose answer has no body."""
    return Reading(ask, lambda _head, _body: None)


@dataclass(frozen=True)
class Tagged:
    """A JSON object with its ETag; `body` is None where it is still the one that was named."""

    etag: str | None
    body: Json | None


def tagged_object(path: str, known: str | None) -> Reading[Tagged]:
    """Ask for a JSON object unless it is still the one with the ETag `known` (RFC 9110, 13.1.2)."""
    ask = Ask("GET", path, {}, {} if known is None else {"If-None-Match": known})

    def read(head: Head, body: bytes) -> Tagged:
        etag = head.headers.get("etag")
        if head.status == HTTPStatus.NOT_MODIFIED:
            return Tagged(known, None)
        return Tagged(etag, object_in(body))

    return Reading(ask, read, frozenset() if known is None else frozenset({HTTPStatus.NOT_MODIFIED}))


def json_content(body: Json) -> Callable[[], bytes]:
    """Encode a JSON body once; NaN and infinities, which are no JSON (RFC 8259), raise ValueError."""
    encoded = json.dumps(body, allow_nan=False).encode()
    return lambda: encoded


def decoded(body: bytes) -> object:
    """Read JSON; raises Unreachable for what is none."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise Unreachable("not-pratique", "The answer is no JSON: is this the address of Pratique?") from None


def written(text: str) -> object:
    """Read JSON that a person wrote; raises ValueError for what is none, for NaN, and for a name that stands twice.

    Of two members with one name most readers take the last (RFC 8259, 4): a gate written twice would be half a gate.
    """
    try:
        return json.loads(text, object_pairs_hook=_once, parse_constant=_no_number)
    except RecursionError:
        raise ValueError from None


def _once(pairs: list[tuple[str, Any]]) -> Json:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError
    return found


def _no_number(_: str) -> object:
    raise ValueError


def object_in(body: bytes) -> Json:
    """Read a JSON object; raises Unreachable for anything else."""
    document = decoded(body)
    if not isinstance(document, dict):
        raise Unreachable("not-pratique", "The answer is not the JSON object that Pratique gives there.")
    return document


def _spread(value: str | int | Iterable[str] | None) -> list[str]:
    match value:
        case None:
            return []
        case str() | int():
            return [str(value)]
        case _:
            return list(value)
