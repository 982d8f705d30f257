"""Bombs: files that claim or become a gigabyte and more; each is answered or fails with a code, within memory and time.

A capture that honestly holds a gigabyte is no bomb: it is profiled, within the same memory. What lies about its length
keeps what came before the lie.
"""

import gzip
import io
import json
import struct
import subprocess
import sys
import time
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import httpx
import polars as pl
import zstandard

from pratique import Client
from pratique_ingest.jobs import CHILD
from pratique_privacy.tables import LIMITS
from tests.assurance.figures import Figure, Profile, most, none, some
from tests.assurance.memory import watched
from tests.assurance.rehearsal import released
from tests.support.house import house
from tests.unit.ingest import crafted

GIB = 1 << 30
CAPTURE_CHILD, TABLE_CHILD, SERVICE, VERIFIER = CHILD.memory >> 20, LIMITS.memory >> 20, 512, 512  # MiB
ANSWER = 60.0  # seconds for one answer
END = 240.0  # seconds until a capture has ended
VERIFY = """
import sys
from pathlib import Path
from pratique.verify import Rejected, verify
try:
    verify(Path(sys.argv[1]), Path(sys.argv[2]))
except Rejected as rejected:
    print(rejected.code)
status = Path('/proc/self/status').read_text()
print(int(status[status.index('VmHWM:'):].split()[1]) >> 10)
"""


class Bomb(NamedTuple):
    """A request and the bytes that it claims to be, or to hold."""

    path: str
    content: bytes
    media: str
    claims: int
    encoding: str = "identity"


def frames() -> Iterator[bytes]:
    """Yield a capture of a gigabyte: a head, then large frames of zeros."""
    yield struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65_535, 1)
    frame = struct.pack("<IIII", 1, 0, 65_535, 65_535) + bytes(65_535)
    for _ in range(GIB // len(frame) + 1):
        yield frame


def _gzip(pieces: Iterator[bytes]) -> bytes:
    out = io.BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb", compresslevel=1) as file:
        for piece in pieces:
            file.write(piece)
    return out.getvalue()


def _zstd(pieces: Iterator[bytes], **settings: int) -> bytes:
    packer = zstandard.ZstdCompressor(compression_params=zstandard.ZstdCompressionParameters(**settings)).compressobj()
    return b"".join([*(packer.compress(piece) for piece in pieces), packer.flush()])


def boxed() -> bytes:
    """Return a zip file whose one member, `certificate.json`, becomes a gigabyte."""
    out, piece = io.BytesIO(), bytes(1 << 20)
    with (
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file,
        file.open("certificate.json", "w", force_zip64=True) as member,
    ):
        for _ in range(1 << 10):
            member.write(piece)
    return out.getvalue()


def captures(packed: bytes) -> Iterator[Bomb]:
    """Yield captures that expand, or whose lengths lie."""
    pcap = crafted.pcap([bytes(60)])
    yield Bomb("/captures", packed, "application/octet-stream", GIB)
    yield Bomb("/captures", _zstd(frames(), compression_level=1), "application/octet-stream", GIB)
    yield Bomb("/captures", gzip.compress(packed), "application/octet-stream", GIB)
    yield Bomb("/captures", _zstd(frames(), compression_level=1, window_log=30), "application/octet-stream", GIB)
    # A zstd frame that says it holds an exabyte, in one segment (RFC 8878, 3.1.1).
    yield Bomb(
        "/captures",
        b"\x28\xb5\x2f\xfd\xe0" + struct.pack("<Q", 1 << 60) + b"\x03\0\0" + bytes(64),
        "application/octet-stream",
        1 << 60,
    )
    yield Bomb(
        "/captures", gzip.compress(pcap) * 3 + b"\x1f\x8b\x08\x08" + b"n" * 5_000_000, "application/octet-stream", GIB
    )
    for length in (0xFFFFFFFF, 0x7FFFFFFF, GIB):
        yield Bomb(
            "/captures",
            pcap + struct.pack("<IIII", 1, 0, length, length) + bytes(100),
            "application/octet-stream",
            length,
        )
    head = crafted.section() + crafted.interface()
    for length in (0xFFFFFFFC, 0x7FFFFFFC, GIB):
        for kind in (6, 1, 3, 4, 5, 0x0A0D0D0A):
            block = (
                struct.pack("<II", kind, length) + struct.pack("<IIIII", 0, 0, 0, length - 32, length - 32) + bytes(64)
            )
            yield Bomb("/captures", head + block, "application/octet-stream", length)
    options = (
        struct.pack("<IIIIIII", 6, 48, 0, 0, 0, 0, 0)
        + struct.pack("<HH", 1, 0xFFFF)
        + bytes(12)
        + struct.pack("<I", 48)
    )
    yield Bomb("/captures", head + options, "application/octet-stream", GIB)


def tables(packed: bytes, box: bytes) -> Iterator[Bomb]:
    """Yield tables and bodies that are deep, wide, packed or lie about their lengths."""
    deep = b"[" * 500_000
    parquet, arrow = io.BytesIO(), io.BytesIO()
    table = pl.DataFrame({"a": [1, 2], "b": ["x", "y"]})
    table.write_parquet(parquet)
    table.write_ipc_stream(arrow)
    lying = [
        parquet.getvalue()[:-8] + struct.pack("<I", 0x7FFFFFFF) + b"PAR1",
        b"\xff\xff\xff\xff" + struct.pack("<I", 0x7FFFFFF8) + arrow.getvalue()[8:],
    ]
    csv, body, lines = "text/csv", "application/json", "application/x-ndjson"
    yield from (Bomb("/datasets", packed, media, GIB, "gzip") for media in (csv, body, lines))
    yield Bomb("/datasets", packed, csv, GIB)
    yield from (Bomb("/datasets", each, "application/vnd.apache.parquet", GIB) for each in (lying[0], box))
    yield Bomb("/datasets", lying[1], "application/vnd.apache.arrow.stream", GIB)
    yield from (Bomb("/datasets", each, csv, GIB) for each in (*lying, box))
    yield Bomb(
        "/datasets", b",".join(b"c%d" % each for each in range(1_000_000)) + b"\n" + b"," * 999_999 + b"\n", csv, GIB
    )
    yield Bomb("/datasets", b'a\n"' + b"x" * (15 << 20), csv, GIB)
    yield Bomb("/datasets", b'[{"a": ' + deep, body, GIB)
    yield Bomb("/datasets", b'{"a": ' + deep + b"\n", lines, GIB)
    yield Bomb("/datasets", b'[{"a": 1' + b"0" * 5_000_000 + b"}]", body, GIB)
    yield Bomb("/datasets", b'[{"a": 1e' + b"9" * 1_000_000 + b"}]", body, GIB)
    for path in ("/releases", "/preview", "/classify", "/sweeps", "/policies/x", "/webhooks", "/profiles/generalise"):
        yield Bomb(path, b'{"source": ' + deep[:400_000], body, GIB)
        yield Bomb(path, b'{"source": {"records": [' + b'{"a": 1},' * 1_700_000 + b"{}]}}", body, GIB)
        yield Bomb(path, packed, body, GIB, "gzip")
    many = b"{" + b",".join(b'"k%d": 0' % each for each in range(1_000_000)) + b"}"
    yield Bomb("/releases", b'{"source": {"records": [' + many + b"]}}", body, GIB)


def bombs(_: Profile, folder: Path) -> Iterator[Figure]:
    """Send every bomb to a house whose processes are watched."""
    packed, box = _gzip(frames()), boxed()
    statuses: Counter[int] = Counter()
    slowest, claimed, ends, meant, refused = 0.0, GIB, Counter[str](), 0, 0
    with house(folder / "house") as running, running.client() as client, running.http() as http:
        programs = running.programs()
        with watched(running) as peaks:
            for bomb in (*captures(packed), *tables(packed, box)):
                claimed = min(claimed, bomb.claims)
                begun = time.monotonic()
                answer = _sent(http, bomb)
                took = time.monotonic() - begun
                if took > slowest:
                    size = f"{len(bomb.content):,} bytes of {bomb.media}"
                    print(f"bombs: {bomb.path}, {size}: {answer.status_code}, {took:.1f} s")
                slowest = max(slowest, took)
                statuses[answer.status_code] += 1
                if bomb.path != "/captures":
                    meant += 1
                    refused += 400 <= answer.status_code < 500
                elif answer.status_code == 202:
                    ends[_ended(http, answer.json()["id"])] += 1
        yield some("control: smallest size claimed, in bytes", claimed, GIB)
        yield some("tables and bodies refused", refused, meant)
        yield some("captures that ended, profiled or failed with a code", ends["ready"] + ends["failed"], 10)
        yield none("captures that ended otherwise", ends.total() - ends["ready"] - ends["failed"])
        yield none("answers of 5xx", sum(count for status, count in statuses.items() if status >= 500))
        yield most("slowest answer", slowest, ANSWER, "s")
        yield most("largest capture child", peaks.most["pratique_ingest/child"], CAPTURE_CHILD, "MiB")
        of_tables = [name for name in peaks.most if name.startswith("pratique_privacy ") and "child" in name]
        yield most("largest table child", max(peaks.most[name] for name in of_tables), TABLE_CHILD, "MiB")
        others = [size for name, size in peaks.most.items() if "child" not in name]
        yield some("control: processes watched", len(peaks.most), 6)
        yield most("largest other process", max(others, default=0), SERVICE, "MiB")
        yield none("processes that ended", len(programs.keys() - running.programs().keys()))
        yield some("releases made after it", len(released(client, 1)))
        yield from _verifier(client, folder, box)


def _sent(http: httpx.Client, bomb: Bomb) -> httpx.Response:
    headers = {"Content-Type": bomb.media, "Content-Encoding": bomb.encoding}
    method = "PUT" if bomb.path.startswith("/policies") else "POST"
    return http.request(method, bomb.path, content=bomb.content, headers=headers, timeout=300)


def _ended(http: httpx.Client, capture: str) -> str:
    end = time.monotonic() + END
    while time.monotonic() < end:
        found = http.get(f"/captures/{capture}").json()
        if found["status"] in ("ready", "failed"):
            return found["status"] if found["status"] == "ready" or found["error"]["code"] else "without a code"
        time.sleep(0.05)
    return "not in time"


def _verifier(client: Client, folder: Path, box: bytes) -> Iterator[Figure]:
    """Let a recipient verify bundles whose members become a gigabyte."""
    (folder / "keys.json").write_text(json.dumps(client.public_keys()))
    largest = rejected = 0
    for name in (b"certificate.json", b"records.parquet_", b"posture.json____", b"../../posture.js"):
        path = folder / "bomb.zip"
        path.write_bytes(box.replace(b"certificate.json", name))
        words = [sys.executable, "-c", VERIFY, str(path), str(folder / "keys.json")]
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)
        told = done.stdout.split()
        rejected += len(told) == 2
        largest = max([largest, *map(int, told[-1:])])
    yield some("bundles that become a gigabyte, rejected by who verifies them", rejected, 4)
    yield most("largest verifier", largest, VERIFIER, "MiB")
