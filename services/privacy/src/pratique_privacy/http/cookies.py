"""Cookies: the session of a browser, and what a page of another origin may not do with it."""

from typing import Final
from urllib.parse import urlsplit

from fastapi import Request, Response

from pratique_privacy.keys import Caller, KeyRoom
from pratique_privacy.sessions import SESSION_LIFE
from pratique_shared.contracts.problems import Forbidden

COOKIE: Final = "pratique_session"
_SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})


def session_of(request: Request) -> str | None:
    """Return the text of the session that a browser sends along, None without one."""
    return request.cookies.get(COOKIE) or None


async def caller_of(request: Request, keys: KeyRoom) -> Caller | None:
    """Return for whom a browser asks, None without a session; raises `Unauthorized`, `Forbidden`."""
    session = session_of(request)
    if session is None:
        return None
    if request.method not in _SAFE:
        check_origin(request)
    return await keys.caller_of_session(session)


def check_origin(request: Request) -> None:
    """Refuse a request that does not come from a page of ours; raises `Forbidden` (`cross-origin`).

    A browser says so by `Sec-Fetch-Site` (W3C Fetch Metadata) or by `Origin` (RFC 6454); one that says neither is
    refused. The cookie is SameSite=Strict besides: each holds where the other is missing.
    """
    site, origin = request.headers.get("sec-fetch-site"), urlsplit(request.headers.get("origin", "")).netloc
    # An opaque origin (`null`) has no host, and a request may name none: that makes them no two of a kind.
    ours = site == "same-origin" if site else bool(origin) and origin == request.headers.get("host")
    if not ours:
        raise Forbidden("cross-origin", "A session acts for pages of this service only: elsewhere, send an API key.")


def hand_out(request: Request, response: Response, session: str) -> None:
    """Give a browser its session; scripts cannot read it."""
    response.set_cookie(
        COOKIE,
        session,
        max_age=int(SESSION_LIFE.total_seconds()),
        path="/",
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="strict",
    )


def take_back(request: Request, response: Response) -> None:
    """Let a browser forget its session."""
    response.delete_cookie(COOKIE, path="/", secure=request.url.scheme == "https", httponly=True, samesite="strict")
