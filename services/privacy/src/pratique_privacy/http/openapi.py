"""The OpenAPI document: what FastAPI finds in the code, with the bodies that are read by hand and our own refusals."""

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic.json_schema import models_json_schema

from pratique_privacy.http.answers import answers
from pratique_privacy.http.api_keys import KeyRequest
from pratique_privacy.http.auditing import READINGS
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
`after`. `POST` with an `Idempotency-Key` is made once."""
REQUEST_ID = {"description": "The id of this request in the log.", "schema": {"type": "string"}}


def document(app: FastAPI) -> dict[str, Any]:
    """Return the OpenAPI document of an app, made once."""
    if app.openapi_schema is None:
        app.openapi_schema = _made(app)
    return app.openapi_schema


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
            for answered in operation["responses"].values():
                answered.setdefault("headers", {})["X-Request-Id"] = REQUEST_ID
    return found
