"""Trace: an id, a line in the log, a span and the meters for every request, and the last resort for what nobody caught.

Of a request only its operation is told, never its path, query, headers or content: they are the caller's words.
"""

import logging
import re
import secrets
import time
from collections.abc import Iterable
from http import HTTPMethod
from typing import Any, Final

from fastapi import Request
from fastapi.routing import APIRoute
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pratique_privacy.http.problems import internal_error
from pratique_shared.contracts.ids import ID
from pratique_shared.runtime.meters import IN_FLIGHT, OTHER, REQUEST_DURATION, REQUESTS
from pratique_shared.runtime.traces import span, trace_id

QUIET: Final = frozenset({"livez", "readyz", "getMetrics"})  # asked every few seconds
UNROUTED: Final = "none"  # no operation of ours: the dashboard, or a path that is not there
_ID: Final = re.compile(f"[a-z]{{3}}_{ID}")
_log = logging.getLogger("pratique.http")


class CutShort(Exception):
    """An answer that had begun could not be finished; the connection is dropped so that nobody takes it for whole."""


class Routed:
    """Innermost middleware: notes which operation a request came to, and which object of ours its path names."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        try:
            await self._app(scope, receive, send)
        finally:
            route = scope.get("route")
            if isinstance(route, APIRoute):
                named = [text for text in scope.get("path_params", {}).values() if _ID.fullmatch(str(text))]
                scope["state"]["operation"] = route.operation_id
                scope["state"]["object"] = named[-1] if named else None


class Trace:
    """Outermost middleware: `X-Request-Id` on every answer; of a defect only its type and place are logged."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        state: dict[str, Any] = scope.setdefault("state", {})
        state["request_id"] = secrets.token_hex(8)
        began = time.monotonic()
        with IN_FLIGHT.track_inprogress(), span("request", begins=True, request_id=state["request_id"]) as mark:
            try:
                await self._serve(scope, receive, send)
            finally:
                operation = state.get("operation") or UNROUTED
                mark.name(operation)
                mark.note(status=state.get("status", 0))
                _tell(scope["method"], operation, state, time.monotonic() - began)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        state, begun = scope["state"], False

        async def traced(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                headers = message.get("headers", [])
                state["status"], state["made"] = message["status"], _made(headers)
                message["headers"] = [*headers, (b"x-request-id", state["request_id"].encode())]
            await send(message)

        try:
            await self._app(scope, receive, traced)
        except ClientDisconnect:
            return  # nobody is there to be answered
        except Exception as error:  # noqa: BLE001 - the outermost loop of the API
            extra = {"request_id": state["request_id"], **trace_id()}
            _log.error("a request ended in a defect", exc_info=error, extra=extra)
            if begun:
                raise CutShort from None
            await internal_error(Request(scope))(scope, receive, traced)


def begin_at_none(operations: Iterable[APIRoute]) -> None:
    """Let the count of defects of every operation begin at 0: a rate does not see a series come up with its first."""
    for route in operations:
        for method in route.methods or ():
            REQUESTS.labels(route.operation_id or route.path, method, "5xx")


def _made(headers: list[tuple[bytes, bytes]]) -> str | None:
    """Return the id of what an answer says that it made."""
    location = dict(headers).get(b"location", b"").decode("latin-1").rpartition("/")[2]
    return location if _ID.fullmatch(location) else None


def _tell(method: str, operation: str, state: dict[str, Any], seconds: float) -> None:
    """Write the line of a request and move the meters. A client that went away before the answer has status 0."""
    status: int = state.get("status", 0)
    method = method if method in HTTPMethod.__members__ else OTHER
    REQUESTS.labels(operation, method, f"{status // 100}xx").inc()
    REQUEST_DURATION.labels(operation).observe(seconds)
    told = {"request_id": state["request_id"], "operation": operation, "method": method, "status": status}
    # An id that found nothing may be anything that a caller made up.
    named = (state.get("made") or state.get("object")) if 0 < status < 400 else None
    told |= {"object": named} if named else {}
    told |= {"code": state["code"]} if "code" in state else {}
    level = logging.DEBUG if operation in QUIET else logging.INFO
    _log.log(level, "a request was answered", extra={**told, "milliseconds": round(seconds * 1000), **trace_id()})
