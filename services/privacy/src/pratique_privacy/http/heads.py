"""HEAD: what GET answers, without its content (RFC 9110, 9.3.2), for every GET at once."""

from typing import Final

from fastapi import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_HEAD: Final = "head"


def is_head(request: Request) -> bool:
    """Whether nothing but the head of the answer will be sent."""
    return bool(request.scope.get("state", {}).get(_HEAD))


class Heads:
    """Middleware: routes HEAD as the GET that it stands for, and keeps the content back.

    Ranges are for GET alone (RFC 9110, 14.2), so that `Range` is not passed on.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return
        scope["state"][_HEAD] = True
        headers = [(name, value) for name, value in scope["headers"] if name != b"range"]

        async def without_content(message: Message) -> None:
            if message["type"] == "http.response.body":
                message = {**message, "body": b""}
            await send(message)

        await self._app({**scope, "method": "GET", "headers": headers}, receive, without_content)
