"""The routes of the dashboard: its page at `/`, and its files. They are no operations of the API."""

from pathlib import Path
from typing import Final

from fastapi import APIRouter, FastAPI, Request, Response

from pratique_privacy.dashboard.files import STATIC, StaticFile, StaticTree, read_tree, stamp_of
from pratique_shared.contracts.problems import no_such

# Scripts, styles, pictures and answers from here alone; Vega draws on a canvas through its interpreter, so that
# neither eval nor inline styles are needed. Pictures of charts are made as data: and blob: before they are saved.
_POLICY: Final = (
    "default-src 'none'; script-src 'self' '{import_map}'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
_GUARDS: Final = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_FOR_GOOD: Final = "public, max-age=31536000, immutable"
_ASK_FIRST: Final = "no-cache"


class Dashboard:
    """The files as they are; read anew when somebody opens the page after one was edited."""

    def __init__(self, root: Path = STATIC) -> None:
        self._root, self._stamp, self.tree = root, stamp_of(root), read_tree(root)

    def fresh(self) -> StaticTree:
        """Return the files, read anew if one has changed."""
        if (stamp := stamp_of(self._root)) != self._stamp:
            self._stamp, self.tree = stamp, read_tree(self._root)
        return self.tree


def install(app: FastAPI, root: Path = STATIC) -> None:
    """Let an app serve the dashboard."""
    app.include_router(router_of(Dashboard(root)))


def router_of(dashboard: Dashboard) -> APIRouter:
    """Return the routes, which stand in no document of the API."""
    router = APIRouter(include_in_schema=False)

    @router.api_route("/", methods=["GET", "HEAD"])
    def page(request: Request) -> Response:
        tree = dashboard.fresh()
        policy = {"Content-Security-Policy": _POLICY.format(import_map=tree.import_map)}
        return _sent(request, tree.page, _ASK_FIRST, policy)

    @router.api_route("/static/{digest}/{name:path}", methods=["GET", "HEAD"])
    def static(request: Request, digest: str, name: str) -> Response:
        tree = dashboard.tree
        found = tree.files.get(name)
        if found is None:
            raise no_such("file")
        return _sent(request, found, _FOR_GOOD if digest == tree.digest else _ASK_FIRST, {})

    return router


def _sent(request: Request, file: StaticFile, cache: str, more: dict[str, str]) -> Response:
    packed = file.packed if "gzip" in request.headers.get("accept-encoding", "") else None
    tag = f'"{file.tag}{"-gzip" if packed else ""}"'
    headers = {"ETag": tag, "Cache-Control": cache, "Vary": "Accept-Encoding", **_GUARDS, **more}
    known = [entry.strip().removeprefix("W/") for entry in request.headers.get("if-none-match", "").split(",")]
    if tag in known:
        return Response(None, 304, headers)
    headers |= {"Content-Encoding": "gzip"} if packed else {}
    return Response(packed or file.body, 200, headers, media_type=file.media)
