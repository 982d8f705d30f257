"""The reference: the OpenAPI document as one plain page that loads nothing from elsewhere."""

from html import escape
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from pratique_privacy.http.answers import answers

router = APIRouter(tags=["health"])

_PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Pratique API {version}</title>
<style>body{{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}}
code{{font-size:.95em}}h3{{margin-bottom:.2rem}}p{{margin:.2rem 0}}small{{color:#555}}</style>
<h1>Pratique API {version}</h1><p>{about}</p>
<p>For programs: <a href="openapi.json">/openapi.json</a>.</p>{body}</html>"""


@router.get("/docs", operation_id="docs", response_class=HTMLResponse, responses=answers(anonymous=True))
async def docs(request: Request) -> HTMLResponse:
    """Show every operation on a page."""
    found = request.app.openapi()
    body = "".join(
        _operation(method, path, operation)
        for path, operations in found["paths"].items()
        for method, operation in operations.items()
    )
    info = found["info"]
    page = _PAGE.format(version=escape(info["version"]), about=escape(info["description"]), body=body)
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return HTMLResponse(page, headers={"Content-Security-Policy": policy})


def _operation(method: str, path: str, operation: dict[str, Any]) -> str:
    statuses = ", ".join(sorted(operation["responses"]))
    return (
        f"<h3 id='{escape(operation['operationId'])}'><code>{method.upper()} {escape(path)}</code></h3>"
        f"<p>{escape(operation.get('description', ''))}</p><p><small>Answers {escape(statuses)}.</small></p>"
    )
