"""The preview of the workbench against the naive way, a whole release for every change, on one running service.

    python benchmarks/bench_preview.py [--quick]

Both are asked for through the API of the same service, one after the other: the preview as the dashboard asks for it
(figures over all rows, 200 rows back, no suggestions), and a release without adversaries, waited for until its verdict.
Above 10,000 rows the API refuses a preview; what is previewed then is a sample of 10,000, and what the whole costs is
the release.
"""

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tests.support.house import house

LIMIT = 10_000  # rows of a preview
GOAL_SECONDS = 1.0
ROLES = ("UE", "gNB", "AMF", "SMF", "UPF", "DNS")
ATTRIBUTES = {
    "identifiers": ["imsi"],
    "quasi_identifiers": ["ip", "role", "peer_count", "seen"],
    "sensitive": ["region"],
    "insensitive": ["kwh"],
}
STEPS: list[dict[str, Any]] = [
    {"column": "imsi", "op": "hmac", "scope": "per_run"},
    {"column": "peer_count", "op": "bin", "width": 5},
    {"column": "seen", "op": "time_bucket", "unit": "hour_of_day"},
]


def records(rows: int) -> str:
    """Return host records as CSV: four quasi-identifiers, an identifier, a sensitive and a plain column."""
    stream = np.random.default_rng(173)
    network, host = stream.integers(0, 240, rows), stream.integers(0, 250, rows)
    lines = ["ip,role,peer_count,region,seen,kwh,imsi"]
    for n in range(rows):
        hour, minute = divmod(int(stream.integers(0, 1440)), 60)
        role, region = ROLES[stream.integers(0, len(ROLES))], "abcdefgh"[stream.integers(0, 8)]
        seen = f"2025-03-03T{hour:02d}:{minute:02d}:00Z"
        kwh = round(float(stream.random() * 50), 2)
        lines.append(f"10.0.{network[n]}.{host[n]},{role},{stream.integers(0, 40)},{region},{seen},{kwh},i{n:09d}")
    return "\n".join(lines)


def asked(source: str, bits: int) -> dict[str, Any]:
    """Return one change of many: the networks are cut at another length each time."""
    steps = [*STEPS, {"column": "ip", "op": "ip_prefix", "v4": bits}]
    return {"source": {"dataset": source}, "attributes": ATTRIBUTES, "policy": {"steps": steps}}


def timed(http: httpx.Client, work: Callable[[httpx.Client, int], None], lengths: list[int]) -> float:
    """Return the median of the seconds that a piece of work took for each of these prefix lengths."""
    taken = []
    for bits in lengths:
        began = time.perf_counter()
        work(http, bits)
        taken.append(time.perf_counter() - began)
    return statistics.median(taken)


def dataset(http: httpx.Client, rows: int) -> str:
    answer = http.post("/datasets", content=records(rows), headers={"Content-Type": "text/csv"})
    answer.raise_for_status()
    identity: str = answer.json()["id"]
    return identity


def previewer(source: str) -> Callable[[httpx.Client, int], None]:
    def work(http: httpx.Client, bits: int) -> None:
        http.post("/preview", json={**asked(source, bits), "rows": 200, "suggest": False}).raise_for_status()

    return work


def releaser(source: str) -> Callable[[httpx.Client, int], None]:
    def work(http: httpx.Client, bits: int) -> None:
        body = {**asked(source, bits), "attacks": None, "gate": {"rows": {"min": 1}}}
        release = http.post("/releases", json=body, headers={"Prefer": "wait=30"}).raise_for_status().json()
        while release["status"] not in ("completed", "failed", "cancelled"):
            release = http.get(f"/releases/{release['id']}").raise_for_status().json()
        if release["verdict"] != "pass":
            raise SystemExit(f"the release ended otherwise: {release['status']}, {release['error']}")

    return work


def compare(http: httpx.Client, rows: int, repeats: int) -> None:
    """Print what a preview and a release of so many rows take."""
    whole = dataset(http, rows)
    source = whole if rows <= LIMIT else dataset(http, LIMIT)
    lengths = [32 - n for n in range(1, repeats + 1)]
    fast = timed(http, previewer(source), [32, *lengths])
    slow = timed(http, releaser(whole), lengths[: max(1, repeats // 2)])
    what = "" if rows <= LIMIT else f" (preview of a sample of {LIMIT:,})"
    print(f"{rows:>8,} rows  preview {fast:6.3f} s  release {slow:6.2f} s  ratio {slow / fast:5.1f}{what}")


def main() -> None:
    parser = argparse.ArgumentParser(description="Previews against whole releases.")
    parser.add_argument("--quick", action="store_true", help="small tables")
    quick = parser.parse_args().quick
    with tempfile.TemporaryDirectory() as folder, house(Path(folder)) as running, running.http() as http:
        http.timeout = httpx.Timeout(120)
        for rows in [1_000, LIMIT] if quick else [1_000, LIMIT, 100_000]:
            compare(http, rows, 3 if quick else 8)
    print(f"goal: {GOAL_SECONDS} s at {LIMIT:,} rows; median wall-clock seconds through HTTP")


if __name__ == "__main__":
    main()
