"""Callers: who a request comes from, by an API key or a token, and how often it may come."""

import hashlib
from collections import OrderedDict
from typing import Final

from fastapi import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pratique_privacy.http.rates import Rates, Share, peer_name, too_many
from pratique_privacy.identity.tokens import Tokens, is_token
from pratique_privacy.keys import Caller, KeyRoom
from pratique_shared.contracts.problems import Unauthorized

MOST_REMEMBERED: Final = 10_000
_SHARE: Final = "share"


class Reception:
    """Finds out who calls. Whoever fails too often from one address waits, but for those who were let in before."""

    def __init__(self, keys: KeyRoom, tokens: Tokens | None = None, rates: Rates | None = None) -> None:
        self._keys, self._tokens, self._rates = keys, tokens, rates or Rates()
        self._let_in: OrderedDict[bytes, None] = OrderedDict()  # digests of what was good once

    async def caller(self, request: Request, bearer: str) -> Caller:
        """Return who holds this key or token; raises `Unauthorized`, and `TooManyRequests` beyond a share."""
        digest = hashlib.sha256(bearer.encode()).digest()
        # A proxy that nobody told us of makes many callers one address: those who are known go on.
        if digest not in self._let_in:
            self.check_patience(request)
        try:
            caller = await self.known(bearer)
        except Unauthorized:
            self._let_in.pop(digest, None)
            self.note_failure(request)
            raise
        self._remember(digest)
        return self.counted(request, caller)

    def check_patience(self, request: Request) -> None:
        """Raise `TooManyRequests` where too much that was not good came from the address of a request."""
        if (share := self._rates.failures.empty(_peer(request))) is not None:
            _tell(request, share)
            raise too_many(share, "Too many keys or tokens from this address were not good: wait, then try again.")

    def note_failure(self, request: Request) -> None:
        """Count a key or token that was not good."""
        self._rates.failures.take(_peer(request))

    def counted(self, request: Request, caller: Caller) -> Caller:
        """Count a request of a caller that is known; raises `TooManyRequests`."""
        share = self._rates.callers.take(f"{caller.tenant} {caller.key_id}")
        if share is not None:
            _tell(request, share)
            if not share.taken:
                raise too_many(share, "This caller asks more often than its share: wait as `Retry-After` says.")
        return caller

    async def known(self, bearer: str) -> Caller:
        """Return who holds this key or token, and count nothing; raises `Unauthorized`."""
        if not is_token(bearer):
            return await self._keys.caller(bearer)
        if self._tokens is None:
            raise Unauthorized("token-not-taken", "This service takes API keys only: send one as the bearer.")
        return await self._tokens.caller(bearer)

    def _remember(self, digest: bytes) -> None:
        self._let_in[digest] = None
        self._let_in.move_to_end(digest)
        if len(self._let_in) > MOST_REMEMBERED:
            self._let_in.popitem(last=False)


def _peer(request: Request) -> str:
    return peer_name(request.scope["state"].get("peer", ""))


def _tell(request: Request, share: Share) -> None:
    request.scope["state"][_SHARE] = share


class Rating:
    """Middleware: tells callers what is left of their share."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""

        async def told(message: Message) -> None:
            share: Share | None = scope["state"].get(_SHARE)
            if message["type"] == "http.response.start" and share is not None:
                added = [(name.lower().encode(), value.encode()) for name, value in share.headers().items()]
                message["headers"] = [*message.get("headers", []), *added]
            await send(message)

        await self._app(scope, receive, told if scope["type"] == "http" else send)
