"""Problem documents (RFC 9457): every refusal of the API in one shape."""

import json
import logging
from collections.abc import Mapping
from http import HTTPStatus
from typing import Final

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import Field
from starlette.exceptions import HTTPException
from starlette.routing import Match

from pratique_privacy.http.invalid import field_errors
from pratique_privacy.tables import LIMITS
from pratique_shared.contracts.model import Contract
from pratique_shared.contracts.problems import (
    FieldError,
    Problem,
    RangeNotSatisfiable,
    TooManyRequests,
    Unauthorized,
    Unprocessable,
)
from pratique_shared.runtime.children import ChildDied
from pratique_shared.runtime.meters import CHILD_DEATHS, refused
from pratique_shared.runtime.sealing import BrokenSeal

MEDIA = "application/problem+json"
RETRY_AFTER: Final = {"Retry-After": "1"}  # seconds

_log = logging.getLogger("pratique.http")
MOST_ERRORS = 20


class WrongField(Contract):
    """One wrong field: its JSON pointer in the body, or its name in the query."""

    pointer: str
    detail: str


class ProblemDocument(Contract):
    """Why a request was turned down, and what to do."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    request_id: str
    errors: tuple[WrongField, ...] | None = None
    more_errors: int | None = Field(default=None, description="How many further fields are wrong.")


def problem_response(request: Request, problem: Problem, headers: Mapping[str, str] | None = None) -> Response:
    """Answer with a problem; a 401 names the scheme, what may be retried says when."""
    return _document(request, problem.status, problem.title, problem.code, problem.detail, problem.errors, headers)


def internal_error(request: Request) -> Response:
    """Answer for a defect of ours: nothing of it is told but the id under which the log has it."""
    detail = "The service made a mistake: report it with the request id."
    return _document(request, 500, "Internal error", "internal-error", detail)


def _document(
    request: Request,
    status: int,
    title: str,
    code: str,
    detail: str,
    errors: tuple[FieldError, ...] = (),
    headers: Mapping[str, str] | None = None,
) -> Response:
    refused(code)
    request.scope.setdefault("state", {})["code"] = code
    # Unchecked: a pointer may hold half a surrogate pair, which is no text to pydantic and needs an escape in JSON.
    wrong = tuple(WrongField.model_construct(pointer=e.pointer, detail=e.detail) for e in errors[:MOST_ERRORS])
    body = ProblemDocument.model_construct(
        type="about:blank",
        title=title,
        status=status,
        detail=detail,
        code=code,
        request_id=request.scope.get("state", {}).get("request_id", ""),
        errors=wrong or None,
        more_errors=max(len(errors) - MOST_ERRORS, 0) or None,
    )
    sent = dict(headers or {})
    if status == Unauthorized.status:
        sent["WWW-Authenticate"] = "Bearer"
    if status in (503, 507):
        sent = RETRY_AFTER | sent
    return Response(json.dumps(body.model_dump(exclude_none=True)).encode(), status, sent, media_type=MEDIA)


async def _on_problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, Problem)
    return problem_response(request, error, _headers(error))


def _headers(error: Problem) -> dict[str, str] | None:
    """Return what a refusal says in its headers besides what all of its status do."""
    match error:
        case RangeNotSatisfiable():
            return {"Content-Range": error.content_range}
        case TooManyRequests():
            return {"Retry-After": str(error.retry_after)}
    return None


async def _on_invalid_query(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    detail = "A parameter of the address or a header is wrong: `errors` name it."
    return problem_response(request, Unprocessable("query-invalid", detail, field_errors(error.errors(), {})))


async def _on_http_exception(request: Request, error: Exception) -> Response:
    """Answer for what routing itself turns down: no such path, no such method."""
    assert isinstance(error, HTTPException)
    title = HTTPStatus(error.status_code).phrase
    code = {404: "path-unknown", 405: "method-not-allowed"}.get(error.status_code, "request-refused")
    detail = "See /openapi.json for the paths and methods that there are."
    headers = {"Allow": _methods(request) or "GET, HEAD"} if error.status_code == 405 else error.headers
    return _document(request, error.status_code, title, code, detail, (), headers)


def _methods(request: Request) -> str:
    """Return all methods of a path (RFC 9110, 10.2.1): routing knows of one operation at a time."""
    routes = [route for route in request.app.state.operations if route.matches(request.scope)[0] != Match.NONE]
    # A path that is spelt out is no id in another one: `/profiles/generalise` is no study.
    routes = [route for route in routes if route.path == request.scope["path"]] or routes
    methods = {method for route in routes for method in route.methods}
    return ", ".join(sorted(methods | ({"HEAD"} if "GET" in methods else set())))


async def _on_dead_child(request: Request, error: Exception) -> Response:
    assert isinstance(error, ChildDied)
    CHILD_DEATHS.labels(error.code).inc()
    _log.warning("a table child died under a request", exc_info=error)
    within = f"{LIMITS.memory >> 30} GiB of memory and {LIMITS.seconds / 60:.0f} minutes"
    detail = f"The table could not be worked on within {within}: send fewer rows or columns."
    return problem_response(request, Unprocessable("table-too-heavy", detail))


async def _on_broken_seal(request: Request, error: Exception) -> Response:
    _log.error("stored bytes are not those that a fact names", exc_info=error)
    detail = "What is stored is damaged and is not served: tell the operator of the service."
    return problem_response(request, Problem("stored-bytes-damaged", detail))


def install(app: FastAPI) -> None:
    """Let every refusal of this app be a problem document."""
    app.add_exception_handler(Problem, _on_problem)
    app.add_exception_handler(RequestValidationError, _on_invalid_query)
    app.add_exception_handler(HTTPException, _on_http_exception)
    app.add_exception_handler(ChildDied, _on_dead_child)
    app.add_exception_handler(BrokenSeal, _on_broken_seal)
