"""The OpenAPI document: what FastAPI finds in the code, with the bodies that are read by hand and our own refusals."""

from typing import Any, Final

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic.json_schema import models_json_schema

from pratique_privacy.http.answers import answers
from pratique_privacy.http.api_keys import KeyRequest
from pratique_privacy.http.auditing import READINGS
from pratique_privacy.http.examples import ENDED, PLACES, shown
from pratique_privacy.http.forwarding import linked
from pratique_privacy.http.problems import ProblemDocument
from pratique_privacy.http.profiles import ProfilesRequest
from pratique_privacy.http.resources import GateFloor
from pratique_privacy.http.session import SessionRequest
from pratique_privacy.http.webhooks import WebhookRequest
from pratique_privacy.ics.bodies import PostedJob
from pratique_shared.contracts.adversary import Attacks
from pratique_shared.contracts.releases import ClassifyRequest, PreviewRequest, ReleaseRequest, StoredPolicy
from pratique_shared.contracts.studies import (
    CaptureProfilesRequest,
    RecommendationRequest,
    SweepRequest,
    UtilityRequest,
)

BODIES = (
    ReleaseRequest,
    PreviewRequest,
    ClassifyRequest,
    Attacks,
    SweepRequest,
    UtilityRequest,
    RecommendationRequest,
    StoredPolicy,
    GateFloor,
    KeyRequest,
    SessionRequest,
    ProfilesRequest,
    CaptureProfilesRequest,
    WebhookRequest,
    PostedJob,
    ProblemDocument,
)
DESCRIPTION = """How identifiable the people and machines in a 5G and O-RAN network profile still are; and a
release of it that leaves only when it is measured and passes its gate.

Every refusal is a problem document (RFC 9457) with a stable `code`. Lists are newest first; send `next` of a page as
`after`. `POST` with an `Idempotency-Key` is made once. HEAD is answered wherever GET is. A parameter that an operation
does not have is refused (422), and a body with another digest than its `Content-Digest` or `Repr-Digest` (400)."""
_TEXT = {"type": "string"}
REQUEST_ID = {"description": "The id of this request in the log.", "schema": _TEXT}
# What an answer of this status carries beside its content.
HEADERS: Final[dict[str, dict[str, Any]]] = {
    "Retry-After": {"description": "Seconds until it is worth asking again.", "schema": {"type": "integer"}},
    "ETag": {"description": "A strong tag of these very bytes.", "schema": _TEXT},
    "Repr-Digest": {"description": "SHA-256 of the whole (RFC 9530).", "schema": _TEXT},
    "Content-Range": {"description": "Which bytes these are, and of how many.", "schema": _TEXT},
    "RateLimit-Policy": {"description": "The quota `q` of a window of `w` seconds.", "schema": _TEXT},
    "RateLimit": {"description": "The `r` requests left, and `t` seconds to more.", "schema": _TEXT},
    "Location": {"description": "Where it is.", "schema": _TEXT},
}
BOUNDS: Final = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"})
CARRIED: Final[dict[str, tuple[str, ...]]] = {
    "202": ("Retry-After",),
    "206": ("ETag", "Repr-Digest", "Content-Range"),
    "304": ("ETag",),
    "416": ("Content-Range",),
    "429": ("Retry-After", "RateLimit-Policy", "RateLimit"),
    "503": ("Retry-After",),
    "507": ("Retry-After",),
}


def document(app: FastAPI) -> dict[str, Any]:
    """Return the OpenAPI document of an app, made once; it names the server where its public address is known."""
    if app.openapi_schema is None:
        app.openapi_schema = _made(app)
    base = linked("")
    return {**app.openapi_schema, "servers": [{"url": base}]} if base else app.openapi_schema


def _made(app: FastAPI) -> dict[str, Any]:
    found = get_openapi(title="Pratique", version=app.version, description=DESCRIPTION, routes=app.routes)
    schemas = found.setdefault("components", {}).setdefault("schemas", {})
    _, bodies = models_json_schema(
        [(kind, "validation") for kind in BODIES], ref_template="#/components/schemas/{model}"
    )
    for name, schema in bodies["$defs"].items():
        schemas.setdefault(name, schema)
    for name in ("HTTPValidationError", "ValidationError"):  # FastAPI's own refusals, which are never sent
        schemas.pop(name, None)
    for operations in found["paths"].values():
        for method, operation in operations.items():
            if "security" in operation and (method != "get" or operation["operationId"] in READINGS):
                operation["responses"].setdefault("507", answers(507)[507])  # its entry in the log may not fit
            _finish(operation, method)
    _sharpen(found)
    return found


def _sharpen(root: dict[str, Any]) -> None:
    """Write the bounds of integers as integers: as floats, which FastAPI makes of them, they differ beyond 2**53."""
    waiting: list[Any] = [root["paths"], root["components"]["schemas"]]
    while waiting:
        here = waiting.pop()
        if isinstance(here, dict):
            for bound in BOUNDS.intersection(here) if here.get("type") == "integer" else ():
                here[bound] = int(here[bound])
            waiting += here.values()
        elif isinstance(here, list):
            waiting += here


def _finish(operation: dict[str, Any], method: str) -> None:
    """Add what FastAPI does not know of an operation: examples, headers, and that a parameter is never null."""
    name, responses = operation["operationId"], operation["responses"]
    for parameter in operation.get("parameters", ()):
        parameter["schema"] = _present(parameter["schema"])
        if parameter["in"] == "path":
            parameter["example"] = {**PLACES, **ENDED.get(name, {})}[parameter["name"]]
    for status, answered in responses.items():
        carried = set(CARRIED.get(status, ()))
        carried |= {"ETag"} if status == "200" and "304" in responses else set()
        carried |= {"Location"} if method == "post" and status in ("201", "202") else set()
        answered["headers"] = {"X-Request-Id": REQUEST_ID} | {header: HEADERS[header] for header in sorted(carried)}
    for status, content in shown().get(name, {}).items():
        for media, value in content.items():
            responses[status]["content"][media]["example"] = value


def _present(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a parameter that is there: absent is what a body would call null."""
    branches = [branch for branch in schema.get("anyOf", ()) if branch != {"type": "null"}]
    rest = {key: value for key, value in schema.items() if key not in ("anyOf", "default")}
    if "anyOf" not in schema:
        return schema
    return {**branches[0], **rest} if len(branches) == 1 else {"anyOf": branches, **rest}
