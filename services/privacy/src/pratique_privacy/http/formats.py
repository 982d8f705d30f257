"""Formats: which form of a table a reader asked for, and the headers that it travels with."""

import base64
from typing import Final

from fastapi import Request, Response

from pratique_shared.contracts.media import Form, Format, file_name

MEDIA_TYPES: Final[dict[Form, str]] = {
    "parquet": "application/vnd.apache.parquet",
    "arrow": "application/vnd.apache.arrow.stream",
    "csv": "text/csv",
    "ndjson": "application/x-ndjson",
    "json": "application/json",
}


def form_asked(request: Request, given: Form | None, default: Form) -> Form:
    """Return `?format=`, else the form of `Accept` with the greatest weight, else the default (RFC 9110, 12.5.1)."""
    if given is not None:
        return given
    names = {media: form for form, media in MEDIA_TYPES.items()}
    best: tuple[float, Form] = (0.0, default)
    for entry in request.headers.get("accept", "").lower().split(","):
        media, *parameters = [part.strip() for part in entry.split(";")]
        form = names.get(media)
        if form is not None and (weight := _weight(parameters)) > best[0]:
            best = (weight, form)
    return best[1]


def _weight(parameters: list[str]) -> float:
    for parameter in parameters:
        if parameter.startswith("q="):
            try:
                return float(parameter[2:])
            except ValueError:
                return 0.0
    return 1.0


def digest_header(sha256_hex: str) -> str:
    """Return `Repr-Digest` of a body (RFC 9530)."""
    return f"sha-256=:{base64.b64encode(bytes.fromhex(sha256_hex)).decode()}:"


def file_response(data: bytes, form: Format, name: str, sha256_hex: str, headers: dict[str, str]) -> Response:
    """Answer with a whole file and its digest."""
    sent = {
        "Repr-Digest": digest_header(sha256_hex),
        "Content-Disposition": f'attachment; filename="{file_name(name, form)}"',
        "Accept-Ranges": "none",
    }
    return Response(data, 200, {**headers, **sent}, media_type=MEDIA_TYPES[form])
