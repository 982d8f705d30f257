"""Auditing: which requests leave a trace, and the refusal of those whose trace cannot be written.

A change is written down before it is made and again before its answer leaves; a reading of records before the
first byte. Where the log cannot be written, the answer is 503 or 507.
"""

import hashlib
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from fastapi import Request
from fastapi.routing import APIRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pratique_privacy.audit import AuditLog
from pratique_privacy.evidence.chain import Event
from pratique_privacy.http.problems import problem_response
from pratique_shared.contracts.ids import ID
from pratique_shared.contracts.problems import Problem

# Readings of raw records and identifiers, of what is not released, and of what is. Whatever is no GET is audited too.
READINGS: Final = frozenset(
    {
        "getCaptureRecords",
        "getCaptureIdentifiers",
        "getReleasePreview",
        "getRisk",
        "getReleaseRecords",
        "getBundle",
    }
)
_TRAIL: Final = "trail"
_ID: Final = re.compile(f"[a-z]{{3}}_{ID}")


@dataclass(frozen=True)
class Trail:
    """What is known of an audited request before it is answered."""

    tenant: str
    event: Event


def is_audited(route: APIRoute) -> bool:
    """Whether an operation leaves a trace."""
    return changes(route) or route.operation_id in READINGS


def changes(route: APIRoute) -> bool:
    """Whether an operation may change something, and is therefore written down before it is begun."""
    return not (route.methods or set()) <= {"GET", "HEAD"}


def begin(request: Request, tenant: str, role: str, key: str | None = None) -> Trail:
    """Let a request leave its trace when it is answered, whatever the answer."""
    route: APIRoute = request.scope["route"]
    event = Event(
        phase="asked",
        key=key,
        role=role,
        operation=route.operation_id,
        object=_object(request.path_params),
        request=request.scope["state"].get("request_id"),
    )
    trail = Trail(tenant, event)
    request.scope["state"][_TRAIL] = trail
    return trail


def about(request: Request, identity: str) -> None:
    """Name the object of a request that neither its path nor the `Location` of its answer names."""
    trail: Trail | None = request.scope["state"].get(_TRAIL)
    if trail is not None:
        request.scope["state"][_TRAIL] = replace(trail, event=replace(trail.event, object=identity))


def _object(parameters: Mapping[str, str]) -> str | None:
    """Name the object of a path. What is no id of ours may be anything, an identifier too: of it a digest is kept."""
    given = list(parameters.values())
    if not given:
        return None
    ids = [text for text in given if _ID.fullmatch(text)]
    return ids[-1] if ids else f"sha256:{hashlib.sha256(given[-1].encode(errors='replace')).hexdigest()[:16]}"


class Auditing:
    """Middleware: holds an answer back until its entry is written."""

    def __init__(self, app: ASGIApp, log: AuditLog) -> None:
        self._app, self._log = app, log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        written = refused = False

        async def held(message: Message) -> None:
            nonlocal written, refused
            trail: Trail | None = scope["state"].get(_TRAIL)
            if message["type"] == "http.response.start" and trail is not None and not written:
                written = True
                try:
                    await self._log.record(trail.tenant, _answered(trail, message))
                except Problem as problem:
                    refused = True
                    await problem_response(Request(scope), problem)(scope, receive, send)
            if not refused:
                await send(message)

        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            await self._app(scope, receive, held)
        finally:
            trail: Trail | None = scope["state"].get(_TRAIL)
            if trail is not None and not written:  # a defect, or a caller that went away
                with suppress(Problem):
                    await self._log.record(trail.tenant, replace(trail.event, phase="answered"))


def _answered(trail: Trail, start: Message) -> Event:
    """Return the entry of an answer; what it made is named by its `Location`."""
    headers = dict(start.get("headers", []))
    made = headers.get(b"location", b"").decode("latin-1").rsplit("/", 1)[-1].removesuffix(".pem")
    named = made if _ID.fullmatch(made) else trail.event.object
    return replace(trail.event, phase="answered", status=start["status"], object=named)
