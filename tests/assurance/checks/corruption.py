"""Corruption: one bit turned in any file of the store is never served as if it were right.

Every route answers with the bytes that it answered with before, or with an error that has a code.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import numpy as np

from pratique.verify import Rejected, verify
from pratique_local.sample import write_sample
from tests.assurance.figures import Figure, Profile, none, some
from tests.assurance.rehearsal import FORMATS, answers, released, routes_of
from tests.support.house import House, house

BITS = {Profile.CI: 1, Profile.FULL: 20}  # of each file
EVIDENCE_BITS = {Profile.CI: 200, Profile.FULL: 5_000}
SHOWN = 20


def corruption(profile: Profile, folder: Path) -> Iterator[Figure]:
    """Turn bits of every file of a store that holds a bit of everything, one at a time, and ask for everything."""
    chance = np.random.default_rng(7)
    sample = folder / "sample.pcap"
    write_sample(sample, subscribers=4)
    with house(folder / "house", PRATIQUE_RATE="0") as running, running.client() as client, running.http() as http:
        capture = client.push_capture(sample, pilot="lab")["id"]
        client.wait_capture(capture)
        policy = {"steps": [{"column": "ip", "op": "ip_prefix", "v4": 24, "v6": 64}]}
        http.put("/policies/ours", json=policy)
        made = released(client, 1, recipient="r") + released(
            client, 1, source={"capture": capture}, policy="C4", attributes=None, gate={}, recipient="r"
        )
        # Suggestions are computed anew from what the preview shows, and cost as much as all others together.
        own = [route for release in made for route in routes_of(release) if not route.endswith("/suggestions")]
        routes = [
            *own,
            *(
                f"/captures/{capture}{rest}"
                for rest in ("", "/records", "/records?format=csv", "/records?unit=session", "/identifiers")
            ),
            *(
                "/captures",
                "/releases",
                "/policies",
                "/policies/ours",
                "/gate-floor",
                "/keys/jwks.json",
                "/signing-keys",
                "/tenant-keys",
            ),
        ]
        before = answers(http, routes)
        yield some("routes asked", sum(status == 200 for status, _ in before.values()), len(routes))
        turned, wrong, refused = 0, [], 0
        for path in _files(running):
            for place in (
                chance.integers(8 * path.stat().st_size, size=BITS[profile]).tolist() if path.stat().st_size else ()
            ):
                whole = path.read_bytes()
                path.write_bytes(flipped(whole, place))
                turned += 1
                for route, answer in answers(http, routes).items():
                    refused += _is_refusal(answer) and answer != before[route]
                    if answer != before[route] and not _is_refusal(answer):
                        wrong.append(f"{path.relative_to(running.data)} bit {place}: {route} {answer[0]}")
                path.write_bytes(whole)
        for text in wrong[:SHOWN]:
            print(f"corruption: {text}")
        yield some("bits turned, one in a file at a time", turned)
        yield some("control: answers refused for it", refused)
        yield none("answers that were neither the former bytes nor an error with a code", len(wrong))
        yield none(
            "answers that differ once all bits are back",
            sum(a != before[route] for route, a in answers(http, routes).items()),
        )
        tampered, unnoticed = _audited(running, http, chance)
        yield some("bits turned in blocks of the audit log", tampered)
        yield none("blocks with a turned bit that its check finds intact", unnoticed)
        (folder / "keys.json").write_text(json.dumps(client.public_keys()))
        names = [client.download_evidence(made[0], folder / "certificate.json").path]
        names += [client.download_records(made[0], folder / f"records.{form}", form).path for form in FORMATS]
        yield from _verified(names, folder / "keys.json", EVIDENCE_BITS[profile], chance)


def flipped(data: bytes, place: int) -> bytes:
    """Return the bytes with one bit turned."""
    changed = bytearray(data)
    changed[place // 8] ^= 1 << place % 8
    return bytes(changed)


def _files(running: House) -> list[Path]:
    """Return every file of the store but the audit log, which grows with the asking."""
    store = running.data / "store"
    return sorted(path for path in store.rglob("*") if path.is_file() and "audit" not in path.relative_to(store).parts)


def _is_refusal(answer: tuple[int, bytes]) -> bool:
    status, body = answer
    try:
        return status >= 400 and bool(json.loads(body)["code"])
    except (ValueError, KeyError, TypeError):
        return False


def _audited(running: House, http: httpx.Client, chance: np.random.Generator) -> tuple[int, int]:
    """Turn a bit of every block of the audit log but the newest; return how many, and how many the check overlooks."""
    blocks = sorted((running.data / "store").glob("releases/audit/*/*/*"))[:40]
    unnoticed = 0
    for block in blocks:
        whole = block.read_bytes()
        block.write_bytes(flipped(whole, int(chance.integers(8 * len(whole)))))
        answer = http.get("/audit/check")
        unnoticed += answer.status_code == 200 and answer.json()["intact"] is True
        block.write_bytes(whole)
    assert http.get("/audit/check").json()["intact"] is True
    return len(blocks), unnoticed


def _verified(files: list[Path], keys: Path, count: int, chance: np.random.Generator) -> Iterator[Figure]:
    """Turn bits of a certificate and of the files that it is about; yield how many of them verify all the same."""
    certificate, *records = files
    verify(certificate, keys, records)
    accepted = 0
    for number in range(count):
        path = files[number % len(files)]
        whole = path.read_bytes()
        path.write_bytes(flipped(whole, int(chance.integers(8 * len(whole)))))
        try:
            verify(certificate, keys, records)
            accepted += 1
        except Rejected:
            continue
        finally:
            path.write_bytes(whole)
    yield some("bits turned in a certificate and its files", count)
    yield none("of those that verify all the same", accepted)
