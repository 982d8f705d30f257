"""The files of the dashboard: what is vendored is what was fetched, and what is sent may be kept for good."""

import hashlib
import json
import re
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI

from pratique_privacy.dashboard.files import STATIC
from pratique_privacy.dashboard.routes import install
from pratique_privacy.http import problems

REPOSITORY = Path(__file__).parents[4]
VENDORED = [
    (folder, entry["file"])
    for folder in (STATIC / "vendor", REPOSITORY / "tests/e2e/vendor")
    for entry in json.loads((folder / "VENDOR.json").read_text())
]
IMPORTED = re.compile(r"""(?:from|import)\s*\(?\s*["']([^"']+)["']""")


def browser(root: Path = STATIC) -> httpx.AsyncClient:
    app = FastAPI(redirect_slashes=False)
    problems.install(app)
    install(app, root)
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://pratique")


@pytest.mark.parametrize(("folder", "name"), VENDORED, ids=[name for _, name in VENDORED])
def test_what_is_vendored_is_what_its_list_says(folder: Path, name: str) -> None:
    (entry,) = [entry for entry in json.loads((folder / "VENDOR.json").read_text()) if entry["file"] == name]
    assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == entry["sha256"]
    assert entry["version"]
    assert (folder / entry["licence_file"]).stat().st_size > 500


def test_nothing_is_vendored_that_no_list_names() -> None:
    for folder in {folder for folder, _ in VENDORED}:
        listed = {name for place, name in VENDORED if place == folder} | {"VENDOR.json"}
        assert {path.name for path in folder.iterdir() if path.is_file()} == listed


def test_every_module_that_a_module_imports_is_there() -> None:
    page = (STATIC / "index.html").read_text()
    for path in (STATIC / "app").rglob("*.js"):
        for name in IMPORTED.findall(path.read_text()):
            found = (path.parent / name).is_file() if name.startswith(".") else f'"{name}":' in page
            assert found, f"{path.relative_to(STATIC)} imports {name}"


async def test_the_page_allows_scripts_of_this_origin_only() -> None:
    async with browser() as client:
        page = await client.get("/")
    policy = dict(part.strip().split(" ", 1) for part in page.headers["content-security-policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert re.fullmatch(r"'self' 'sha256-[A-Za-z0-9+/]+='", policy["script-src"])
    assert "unsafe" not in page.headers["content-security-policy"]
    assert {policy[name] for name in ("style-src", "connect-src", "font-src")} == {"'self'"}
    assert {policy[name] for name in ("base-uri", "frame-ancestors")} == {"'none'"}
    assert page.headers["x-content-type-options"] == "nosniff"
    assert page.headers["referrer-policy"] == "no-referrer"
    assert not re.search(r"https?://", page.text)


async def test_a_file_is_kept_for_good_under_its_digest_and_the_page_is_asked_for_anew() -> None:
    async with browser() as client:
        page = await client.get("/")
        (address,) = re.findall(r'src="(/static/[^"]+/main\.js)"', page.text)
        script = await client.get(address)
        stale = await client.get(address.replace(address.split("/")[2], "0" * 20))
        again = await client.get("/", headers={"If-None-Match": page.headers["etag"]})
        missing = await client.get(address.replace("app/main.js", "%2e%2e/routes.py"))
    assert page.headers["cache-control"] == "no-cache"
    assert "immutable" in script.headers["cache-control"]
    assert script.headers["content-type"].startswith("text/javascript")
    assert (stale.text, stale.headers["cache-control"]) == (script.text, "no-cache")
    assert (again.status_code, again.content) == (304, b"")
    assert missing.status_code == 404


async def test_an_edited_file_is_served_at_the_next_load_of_the_page(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text('<script src="{static}/a.js"></script>')
    (tmp_path / "a.js").write_text("1")
    async with browser(tmp_path) as client:
        before = (await client.get("/")).text
        (tmp_path / "a.js").write_text("22")
        after = (await client.get("/")).text
        assert before != after
        assert (await client.get(after.split('"')[1])).text == "22"


async def test_a_large_file_travels_compressed_and_arrives_whole() -> None:
    async with browser() as client:
        plain = await client.get("/static/x/vendor/vega.min.js", headers={"Accept-Encoding": "identity"})
        packed = await client.get("/static/x/vendor/vega.min.js", headers={"Accept-Encoding": "gzip"})
    assert packed.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in plain.headers
    assert packed.content == plain.content == (STATIC / "vendor/vega.min.js").read_bytes()
    assert packed.headers["etag"] != plain.headers["etag"]
