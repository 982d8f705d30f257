"""The verb: a call that is written once as a plan, and blocks or is awaited by the client that it is called on."""

import functools
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from pratique.errors import Unreachable
from pratique.exchange import Ask, Json, Params, json_object
from pratique.plan import Plan, call

PAGE = 500
P = ParamSpec("P")
T = TypeVar("T")


class Blocking:
    """A client whose calls return when they are done."""

    def perform(self, plan: Plan[T]) -> T:
        """Perform a plan."""
        raise NotImplementedError


class Awaiting:
    """A client whose calls are awaited."""

    async def perform(self, plan: Plan[T]) -> T:
        """Perform a plan."""
        raise NotImplementedError


class Verb(Generic[P, T]):
    """A method of both clients that returns what its plan returns."""

    def __init__(self, plan: Callable[Concatenate[Any, P], Plan[T]]) -> None:
        self.plan = plan
        self.__doc__ = plan.__doc__

    @overload
    def __get__(self, client: None, kind: type) -> Callable[Concatenate[Any, P], Plan[T]]: ...
    @overload
    def __get__(self, client: Blocking, kind: type) -> Callable[P, T]: ...
    @overload
    def __get__(self, client: Awaiting, kind: type) -> Callable[P, Coroutine[Any, Any, T]]: ...
    def __get__(self, client: Blocking | Awaiting | None, kind: type) -> Callable[..., Any]:
        """Return the call as this client makes it; of the class, the plan with its signature."""
        if client is None:
            return self.plan

        @functools.wraps(self.plan)
        def made(*args: P.args, **kwargs: P.kwargs) -> T | Coroutine[Any, Any, T]:
            return client.perform(self.plan(client, *args, **kwargs))

        made.__wrapped__ = functools.partial(self.plan, client)  # help() shows no self
        return made


class Listing(Generic[P]):
    """A method of both clients that walks a list of the service page by page, newest first."""

    def __init__(self, place: Callable[Concatenate[Any, P], tuple[str, Params]]) -> None:
        self.place = place
        self.__doc__ = place.__doc__

    @overload
    def __get__(self, client: None, kind: type) -> Callable[Concatenate[Any, P], tuple[str, Params]]: ...
    @overload
    def __get__(self, client: Blocking, kind: type) -> Callable[P, Iterator[Json]]: ...
    @overload
    def __get__(self, client: Awaiting, kind: type) -> Callable[P, AsyncIterator[Json]]: ...
    def __get__(self, client: Blocking | Awaiting | None, kind: type) -> Callable[..., Any]:
        """Return the walk as this client makes it."""
        if client is None:
            return self.place

        @functools.wraps(self.place)
        def walked(*args: P.args, **kwargs: P.kwargs) -> Iterator[Json] | AsyncIterator[Json]:
            walk = Walk(*self.place(client, *args, **kwargs))
            return _walk(client, walk) if isinstance(client, Blocking) else _walk_async(client, walk)

        walked.__wrapped__ = functools.partial(self.place, client)  # help() shows no self
        return walked


class Walk:
    """How far a list was read."""

    def __init__(self, path: str, params: Params) -> None:
        self._path, self._params = path, params
        self._after: str | None = None
        self._seen: set[str] = set()
        self.over = False

    def page(self) -> Plan[list[Json]]:
        """Read the next page; raises Unreachable for pages that go round in a circle."""
        asked = Ask("GET", self._path, {**self._params, "limit": PAGE, "after": self._after})
        page = yield from call(json_object(asked))
        self._after = page.get("next")
        self.over = not self._after
        if self._after in self._seen:
            raise Unreachable("not-pratique", "The pages of a list go round in a circle.")
        if self._after:
            self._seen.add(self._after)
        rows: list[Json] = page.get("data", [])
        return rows


def _walk(client: Blocking, walk: Walk) -> Iterator[Json]:
    while not walk.over:
        yield from client.perform(walk.page())


async def _walk_async(client: Awaiting, walk: Walk) -> AsyncIterator[Json]:
    while not walk.over:
        for row in await client.perform(walk.page()):
            yield row
