"""Trace: an id for every request, and the last resort for what nobody caught."""

import logging
import secrets

from fastapi import Request
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pratique_privacy.http.problems import internal_error

_log = logging.getLogger("pratique.http")


class CutShort(Exception):
    """An answer that had begun could not be finished; the connection is dropped so that nobody takes it for whole."""


class Trace:
    """Outermost middleware: `X-Request-Id` on every answer; of a defect only its type and place are logged."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id, begun = secrets.token_hex(8), False
        scope.setdefault("state", {})["request_id"] = request_id

        async def traced(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                message["headers"] = [*message.get("headers", []), (b"x-request-id", request_id.encode())]
            await send(message)

        try:
            await self._app(scope, receive, traced)
        except ClientDisconnect:
            return  # nobody is there to be answered
        except Exception as error:  # noqa: BLE001 - the outermost loop of the API
            _log.error("a request ended in a defect", exc_info=error, extra={"request_id": request_id})
            if begun:
                raise CutShort from None
            await internal_error(Request(scope))(scope, receive, traced)
