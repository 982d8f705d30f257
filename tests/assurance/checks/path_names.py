"""Path names: no id, name, file name or member of a bundle reaches a file outside of the store.

Every path parameter of the OpenAPI document, and every name in a query or body, is given names that would mean another
file, or break one. A file beside the data folder holds a word that no answer may hold.
"""

import io
import json
import re
import zipfile
from collections import Counter
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx

from pratique.verify import Rejected, verify
from pratique_local.sample import write_sample
from tests.assurance.figures import Figure, Profile, none, some
from tests.assurance.rehearsal import REQUEST, released
from tests.support.house import House, house

EACH = {Profile.CI: 4, Profile.FULL: 1}  # one name in so many for an operation, others for the next one
WORD = "a-word-that-stands-outside"
NAMES = (
    "../../etc/passwd", "../outside.txt", "../../outside.txt", "../../../outside.txt", "..", ".", "/etc/passwd",
    "//etc/passwd",
    "..\\..\\outside.txt", "C:\\windows\\win.ini", "CON", "NUL", "aux.txt", "\x00", "a\x00b", "outside.txt\x00",
    "a" * 300, "é" * 200,
    "x" * 5000, "．．／．．／outside.txt", "‥/outside", "\u202egpj.exe", "\ufeff", "a\u0300",
    "🂡" * 80, "%2e%2e%2foutside.txt",
    "%252e%252e%252foutside.txt", "..%2foutside.txt", "..%c0%af..%c0%afoutside.txt", "%00", " ", "a ", "a.",
    "~root", "$HOME", "`id`",
    "$(id)", "a\nb", "a\r\nX: y", "-rf", "#", "?", "*", "file:///etc/passwd", "s3://bucket/x",
    "rel_../../outside", "secrets.json",
    "admin.key", "{}", "' OR 1=1 --", "<script>",
)  # fmt: skip
UNESCAPED = (
    "../../outside.txt",
    "..",
    "%2e%2e/%2e%2e/outside.txt",
    "..;/outside.txt",
    "....//outside.txt",
    "/../../outside.txt",
)


def path_names(profile: Profile, folder: Path) -> Iterator[Figure]:
    """Give every name to every place that takes one, and hold the folders before and after against each other."""
    base = folder / "base"
    base.mkdir()
    for place in (base / "outside.txt", base / "house.txt", folder / "outside.txt"):
        place.write_text(WORD)
    sample = folder / "sample.pcap"
    write_sample(sample, subscribers=2)
    statuses: Counter[int] = Counter()
    told = 0
    with house(base / "house", PRATIQUE_RATE="0") as running, running.client() as client, running.http() as http:
        released(client, 1)
        tops, outside = _tops(running), _outside(folder, running)
        secrets = [running.key.partition(".")[2], json.loads((running.data / "secrets.json").read_text())["master"]]
        document = http.get("/openapi.json").json()
        asked = 0
        for request in (*_in_paths(document, EACH[profile]), *_in_names(sample.read_bytes())):
            answer = _answered(http, request)
            asked += 1
            statuses[answer.status_code] += 1
            told += any(word in answer.text for word in (WORD, "root:x:0", *secrets))
        yield some("names given to places of the API", asked, 1000)
        yield none("answers of 5xx", sum(count for status, count in statuses.items() if status >= 500))
        yield some(
            "control: names refused with 4xx",
            sum(count for status, count in statuses.items() if 400 <= status < 500),
            100,
        )
        yield some(
            "control: names taken as names", sum(count for status, count in statuses.items() if status < 300), 10
        )
        yield none("answers with a word from outside", told)
        yield none(
            "files that came, went or changed outside of the data folder", len(outside ^ _outside(folder, running))
        )
        yield none("folders or files that came beside those of the store", len(_tops(running) ^ tops))
        yield some("releases made after it", len(released(client, 1)))
        yield none("files written by verifying bundles with such members", _members(folder, client.public_keys()))


def _tops(running: House) -> set[str]:
    """Return what stands in the data folder and, of the store, two levels down."""
    found = [
        path.relative_to(running.data)
        for pattern in ("*", "store/*", "store/*/*")
        for path in running.data.glob(pattern)
    ]
    known = re.compile(
        r"store/\w+/(facts|blobs|index|pending|audit|by-digest|idempotency|policies|gate-floor|announce|[a-z-]+)$"
    )
    return {str(path) for path in found if not known.match(str(path))}


def _outside(folder: Path, running: House) -> set[tuple[str, int, int]]:
    return {
        (str(path), path.stat().st_size, path.stat().st_mtime_ns)
        for path in folder.rglob("*")
        if path.is_file() and not path.is_relative_to(running.data)
    }


Asked = tuple[str, str, dict[str, Any]]


def _in_paths(document: dict[str, Any], each: int) -> Iterator[Asked]:
    """Yield each operation with a path parameter under one name in `each`, escaped, and plain where that matters."""
    first = 0
    for path, operations in document["paths"].items():
        if "{" not in path:
            continue
        for method in operations.keys() & {"get", "put", "post", "delete", "head"}:
            first += 1
            for name in NAMES[first % each :: each]:
                yield method.upper(), re.sub(r"\{\w+\}", quote(name, safe="").replace("\\", "\\\\"), path), {}
            for name in UNESCAPED:
                yield method.upper(), re.sub(r"\{\w+\}", name, path), {"raw": True}


def _in_names(sample: bytes) -> Iterator[Asked]:
    """Yield requests that carry a name in their query, body or headers."""
    for number, name in enumerate(NAMES):
        csv = {"content": b"a,b\n1,2\n%d,3\n" % number, "headers": {"Content-Type": "text/csv"}}
        yield "POST", "/captures", {"params": {"name": name, "pilot": name, "open_to": name}, "content": sample}
        yield "POST", "/datasets", {"params": {"name": name, "pilot": name, "open_to": name}, **csv}
        yield "POST", "/releases", {"json": {**REQUEST, "name": name, "purpose": name, "attacks": None}}
        yield "POST", "/releases", {"json": {**REQUEST, "recipient": name, "pilot": name, "attacks": None}}
        yield "POST", "/releases", {"json": {**REQUEST, "policy": name}}
        yield "POST", "/releases", {"json": {**REQUEST, "source": {"capture": name}}}
        yield "POST", "/releases", {"json": {**REQUEST, "source": {"dataset": name}}}
        yield "POST", "/sweeps", {"json": {"sources": [name], "configurations": [name]}}
        yield "POST", "/api-keys", {"json": {"role": "recipient", "recipient": name, "name": name}}
        yield (
            "POST",
            "/webhooks",
            {"json": {"url": f"https://hooks.example.com/{name}", "name": name, "recipient": name}},
        )
        yield "PUT", f"/policies/{quote(name, safe='')}", {"json": {"steps": []}}
        yield "GET", "/releases", {"params": {"after": name}}
        yield "GET", "/audit", {"params": {"after": name}}
        ascii_name = name.encode("ascii", "ignore").decode().translate({0: None, 10: None, 13: None}).strip()
        yield "POST", "/releases", {"json": REQUEST, "headers": {"Idempotency-Key": ascii_name or "x"}}
        yield "GET", "/me", {"headers": {"Authorization": f"Bearer {ascii_name or 'x'}", "X-Request-Id": ascii_name}}


def _answered(http: httpx.Client, request: Asked) -> httpx.Response:
    method, path, sent = request
    if not sent.pop("raw", False):
        return http.request(method, path, **sent)
    # As it stands: httpx would take the dots out.
    connection = HTTPConnection(http.base_url.host, http.base_url.port or 80, timeout=60)
    try:
        connection.request(method, path, headers={"Authorization": http.headers["Authorization"]})
        answer = connection.getresponse()
        return httpx.Response(answer.status, content=answer.read())
    finally:
        connection.close()


def _members(folder: Path, keys: dict[str, Any]) -> int:
    """Verify a bundle whose members have such names, absolute ones too; return how many files came of it."""
    (folder / "keys.json").write_text(json.dumps(keys))
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as box:
        for name in (*NAMES, str(folder / "absolute.txt"), "../absolute.txt"):
            box.writestr(zipfile.ZipInfo(name.replace("\x00", "") or "x"), WORD)
    (folder / "bundle.zip").write_bytes(made.getvalue())
    before = set(folder.iterdir()) | set(Path.cwd().iterdir())
    try:
        verify(folder / "bundle.zip", folder / "keys.json")
    except Rejected:
        return len((set(folder.iterdir()) | set(Path.cwd().iterdir())) - before)
    raise AssertionError("a bundle without a certificate was accepted")
