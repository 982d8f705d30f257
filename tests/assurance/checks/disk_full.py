"""A full disk: writes are answered with 507, nothing is torn, reads go on, and it recovers without a restart.

The store lies on a file system of a few MiB in memory, which takes root to mount: without it the check cannot be run.
"""

import asyncio
import json
import os
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx

from pratique_local.sample import write_sample
from pratique_local.secrets import ROOMS, secrets_in
from pratique_shared.contracts.facts import KEY_SUFFIX, Blob
from pratique_shared.contracts.problems import Problem
from pratique_shared.runtime.artifacts import open_room
from pratique_shared.runtime.checked import is_checked, unchecked
from pratique_shared.runtime.sealing import BrokenSeal, StorageKey
from tests.assurance.figures import Figure, Profile, most, none, some
from tests.assurance.rehearsal import REQUEST, answers, released, routes_of
from tests.support.house import house

SIZE = 24 << 20
# Bytes that are left free while everything is asked for: room for no file, for some facts, for some blobs.
LEFT = {Profile.CI: (0, 16 << 10, 96 << 10), Profile.FULL: (0, *(1 << each for each in range(11, 21)))}
FULL = 507
AUDITED = ("/records", "/risk", "/preview", "/bundle")
RECOVERY = 120.0  # seconds


@contextmanager
def small_disk(folder: Path, size: int) -> Iterator[Path]:
    """Mount a file system of `size` bytes on a folder until the block ends; raises RuntimeError where none can be."""
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "assure", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError("a small file system cannot be mounted here: it takes root and CAP_SYS_ADMIN")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(disk: Path, left: int) -> None:
    """Let a file of ballast grow until so many bytes are free."""
    for path in disk.glob("ballast*"):
        path.unlink()
    with (disk / f"ballast-{left}").open("wb", buffering=0) as ballast, suppress(OSError):
        while True:
            room = os.statvfs(disk)
            free = room.f_bavail * room.f_frsize - left
            ballast.write(bytes(min(max(free, 4096), 1 << 20)))
            if free <= 0 < left:
                return


def disk_full(profile: Profile, folder: Path) -> Iterator[Figure]:
    """Fill the disk of a serving store, ask for everything, free it again."""
    write_sample(folder / "sample.pcap", subscribers=4)
    with (
        small_disk(folder / "disk", SIZE) as disk,
        house(folder / "house", PRATIQUE_STORE=disk.as_uri()) as running,
        running.client() as client,
        running.http() as http,
    ):
        programs = running.programs()
        kept = released(client, 3)
        routes = [route for release in kept for route in routes_of(release)]
        before = answers(http, routes)
        accepted = [client.create_release({**REQUEST, "name": f"accepted {number}"})["id"] for number in range(4)]
        written: Counter[int] = Counter()
        read: Counter[str] = Counter()
        for left in LEFT[profile]:
            fill(disk, left)
            for status in _write(http, folder / "sample.pcap", kept[-1], accepted):
                written[status] += 1
            _read(http, routes, before, read)
            whole, broken = asyncio.run(looked_at(running.data, disk))
            yield some(f"facts and blobs looked at, with {left >> 10} KiB free", whole)
            yield none("torn ones among them", broken)
        yield some("writes answered with 507", written[FULL], 10)
        yield none(
            "other answers of 5xx", sum(count for status, count in written.items() if status >= 500) - written[FULL]
        )
        yield some("readings that leave no trace answered as before", read["same"], 3 * len(kept))
        yield none("readings that leave no trace answered otherwise", read["other"])
        yield none("audited readings answered with neither what was before nor 507", read["wrong"])
        for path in disk.glob("ballast*"):
            path.unlink()
        begun = time.monotonic()
        ended = [client.wait_release(release, RECOVERY)["status"] for release in accepted]
        yield most("until every accepted release has ended", time.monotonic() - begun, RECOVERY, "s")
        yield some("accepted releases completed", ended.count("completed"), len(accepted))
        yield some("releases made after it", len(released(client, 2)), 2)
        yield none(
            "answers that differ afterwards",
            sum(a != b for a, b in zip(before.values(), answers(http, routes).values(), strict=True)),
        )
        yield none("processes that ended", len(programs.keys() - running.programs().keys()))
        yield none("torn files at the end", asyncio.run(looked_at(running.data, disk))[1])


def _write(http: httpx.Client, sample: Path, kept: str, accepted: list[str]) -> Iterator[int]:
    """Ask for everything that writes; yield the status of each answer. What is taken is asked for in `accepted`."""
    taken = http.post("/releases", json={**REQUEST, "name": "asked for on a full disk"})
    if taken.status_code == 202:
        accepted.append(taken.json()["id"])
    yield taken.status_code
    name = {"pilot": f"p{time.monotonic_ns()}"}
    sent: tuple[tuple[str, str, dict[str, Any]], ...] = (
        ("POST", "/captures", {"content": sample.read_bytes(), "params": name}),
        ("POST", "/datasets", {"content": b"a,b\n1,2\n" * 30_000, "headers": {"Content-Type": "text/csv"}}),
        ("PUT", "/policies/full", {"json": {"steps": []}}),
        ("POST", "/webhooks", {"json": {"url": "https://hooks.example.com/"}}),
        ("POST", "/api-keys", {"json": {"role": "auditor", "name": "x"}}),
        ("POST", "/signing-keys", {}),
        ("POST", f"/releases/{kept}/attacks", {"json": {"linkage": {"accuracy": 0.9}, "repetitions": 5}}),
        ("POST", f"/releases/{kept}/cancel", {}),
        ("POST", "/preview", {"json": {key: REQUEST[key] for key in ("source", "attributes", "policy")}}),
    )
    for method, path, body in sent:
        answer = http.request(method, path, **body)
        if answer.status_code == FULL:
            assert answer.json()["code"] == "store-full", answer.text
        yield answer.status_code


def _read(http: httpx.Client, routes: list[str], before: dict[str, tuple[int, bytes]], found: Counter[str]) -> None:
    for route, answer in answers(http, routes).items():
        audited = any(each in route for each in AUDITED)
        if audited:
            found["wrong"] += answer != before[route] and answer[0] != FULL
        else:
            found["same" if answer == before[route] else "other"] += 1


async def looked_at(data: Path, store: Path) -> tuple[int, int]:
    """Count facts and the blobs that they name, and torn ones: no JSON, or a digest or seal that does not hold."""
    facts = [
        path for room in ROOMS for path in (store / room).glob("facts/**/*") if path.is_file() and "#" not in path.name
    ]
    stored = [path.read_bytes() for path in facts]
    count, broken = len(stored), sum(not _is_whole(fact) for fact in stored)
    named = b"\n".join(stored).decode(errors="replace")
    for name in ROOMS:
        room = open_room(store.as_uri(), name, StorageKey.of(bytes.fromhex(secrets_in(data).rooms[name])))
        for path in (store / name).glob("blobs/**/*"):
            key = str(path.relative_to(store / name))
            if path.is_file() and not key.endswith(KEY_SUFFIX) and f'"{key}"' in named:
                count += 1
                try:
                    _ = [piece async for piece in room.blob(Blob(key=key, sha256="0" * 64, bytes=0))]
                except (BrokenSeal, Problem):
                    broken += 1
    return count, broken


def _is_whole(stored: bytes) -> bool:
    """Whether a fact is JSON with its digest behind it."""
    try:
        json.loads(unchecked(stored, "a fact"))
    except (ValueError, BrokenSeal):
        return False
    return is_checked(stored)
