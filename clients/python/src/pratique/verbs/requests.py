"""Requests in the forms that most verbs send."""

import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pratique.errors import LocalFault
from pratique.exchange import Ask, Json, json_content, json_object, nothing
from pratique.plan import Plan, Retry, Work, call, retried
from pratique.upload import Progress, measure


def get(path: str, params: Mapping[str, Any] | None = None) -> Plan[Json]:
    """Read an object."""
    return call(json_object(Ask("GET", path, params or {})))


def post(path: str, body: Json | None = None, headers: Mapping[str, str] | None = None) -> Plan[Json]:
    """Send a body, or none."""
    if body is None:
        return call(json_object(Ask("POST", path)))
    sent = {"Content-Type": "application/json", **(headers or {})}
    return call(json_object(Ask("POST", path, {}, sent, json_content(body))))


def put(path: str, body: Json) -> Plan[Json]:
    """Replace an object."""
    return call(json_object(Ask("PUT", path, {}, {"Content-Type": "application/json"}, json_content(body))))


def create(path: str, body: Json, idempotency_key: str | None) -> Plan[Json]:
    """Make something once, however often the request must be sent."""
    return post(path, body, {"Idempotency-Key": idempotency_key or uuid.uuid4().hex})


def once(where: str, path: str, body: Json) -> Plan[Json]:
    """Make something that a second request would make a second time: sent once, whatever comes of it."""
    sent = {"Content-Type": "application/json"}
    ask = Ask("POST", path, {}, sent, json_content(body))
    return retried(json_object(ask), Retry(attempts=1), lambda: 0.0, where)


def delete(path: str) -> Plan[None]:
    """Delete an object."""
    return call(nothing(Ask("DELETE", path)))


def push(
    path: str, file: str | Path, media_type: str, params: Mapping[str, Any], progress: Progress | None
) -> Plan[Json]:
    """Send a file in pieces, with its digest."""
    upload = yield Work(lambda: measure(file))
    headers = {"Content-Type": media_type, "Idempotency-Key": uuid.uuid4().hex, **upload.headers}
    state: Json = yield from call(json_object(Ask("POST", path, params, headers, lambda: upload.pieces(progress))))
    return state


def segment(value: str) -> str:
    """Quote an id or a name as one step of a path; raises LocalFault for one that would lead elsewhere."""
    if not value or set(value) <= {"."}:
        raise LocalFault("bad-id", "An id or a name is empty or consists of dots.")
    return quote(value, safe="")
