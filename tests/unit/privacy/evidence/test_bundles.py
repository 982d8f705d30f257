"""Bundles: one file that convinces, and that holds nothing its reader may not see."""

import hashlib
import io
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import httpx
import mlcroissant
import pandas
import polars as pl
import pytest

from pratique_privacy.evidence.bundle import zipped
from pratique_privacy.evidence.croissant import croissant_of
from pratique_privacy.evidence.datasheet import datasheet_of
from pratique_privacy.files import write_files
from pratique_privacy.shipped import verify
from pratique_privacy.shipped.verify import Rejected, open_certificate, read_bundle, read_keys
from pratique_shared.contracts.facts import Blob, Published
from tests.unit.privacy.http.world import RELEASE, World, check_problem

COMMON = ["certificate.json", "posture.json", "policy.json", "croissant.json", "datasheet.md", "verify.py"]
HIERARCHY = {"column": "ip", "op": "hierarchy", "table": {"192.0.2.7": ["lab"], "192.0.2.9": ["lab"]}}


async def published(world: World, client: httpx.AsyncClient, **changed: object) -> str:
    identity: str = (await client.post("/releases", json={**RELEASE, **changed})).json()["id"]
    await world.concluded(identity)
    return identity


async def bundle(client: httpx.AsyncClient, release: str) -> dict[str, bytes]:
    answer = await client.get(f"/releases/{release}/bundle")
    assert answer.status_code == 200
    with zipfile.ZipFile(io.BytesIO(answer.content)) as found:
        return {name: found.read(name) for name in found.namelist()}


async def test_each_reader_gets_what_it_may_see(world: World, operator: httpx.AsyncClient) -> None:
    attributes = {"quasi_identifiers": ["ip"], "sensitive": ["protocols"]}
    release = await published(world, operator, policy={"steps": [HIERARCHY]}, attributes=attributes)
    mine = await bundle(operator, release)
    auditors = await bundle(await world.client("auditor"), release)
    recipients = await bundle(await world.client("recipient", recipient="hospital"), release)
    assert list(mine) == [*COMMON, "disclosures.json", "records.parquet"]
    assert list(auditors) == [*COMMON, "disclosures.json"]
    assert list(recipients) == [*COMMON, "records.parquet"]
    assert mine["records.parquet"] == recipients["records.parquet"] == b"PAR1 released PAR1"
    assert json.loads(auditors["posture.json"])["before"]["k"] == 1
    assert "before" not in json.loads(recipients["posture.json"])
    # The keys of a hierarchy are values of the source.
    assert b"192.0.2.7" in mine["policy.json"]
    for found in (auditors, recipients):
        assert b"192.0.2.7" not in b"".join(found.values())
    assert mine["certificate.json"] == recipients["certificate.json"]


async def test_the_same_bundle_has_the_same_bytes_and_a_tag(world: World, operator: httpx.AsyncClient) -> None:
    release = await published(world, operator)
    first = await operator.get(f"/releases/{release}/bundle")
    second = await operator.get(f"/releases/{release}/bundle")
    assert first.content == second.content
    assert first.headers["content-type"] == "application/zip"
    known = await operator.get(f"/releases/{release}/bundle", headers={"If-None-Match": first.headers["etag"]})
    assert known.status_code == 304


async def test_no_bundle_without_a_pass(world: World, operator: httpx.AsyncClient) -> None:
    release = (await operator.post("/releases", json=RELEASE)).json()["id"]
    check_problem(await operator.get(f"/releases/{release}/bundle"), 409, "not-finished")
    await world.concluded(release, "fail")
    check_problem(await operator.get(f"/releases/{release}/bundle"), 403, "gate-failed")


async def test_an_unpacked_bundle_verifies_itself_with_a_key_from_elsewhere(
    world: World, operator: httpx.AsyncClient, tmp_path: Path
) -> None:
    release = await published(world, operator)
    data = (await operator.get(f"/releases/{release}/bundle")).content
    whole, keys = tmp_path / "bundle.zip", tmp_path / "jwks.json"
    whole.write_bytes(data)
    keys.write_bytes((await world.anonymous().get("/keys/jwks.json")).content)
    with zipfile.ZipFile(whole) as found:
        found.extractall(tmp_path)
    words = [sys.executable, "-I", str(tmp_path / "verify.py"), str(whole), "--key", str(keys)]
    told = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    for name in ("posture.json", "disclosures.json", "records.parquet"):
        assert f"{name}: as certified" in told
    assert not [name for name in read_bundle(data) if name.endswith((".pem", "jwks.json"))]


@pytest.mark.parametrize(
    ("name", "old", "new", "code"),
    [
        ("posture.json", b'"k": 2', b'"k": 9', "posture-differs"),
        ("posture.json", b'"k": 1', b'"k": 2', "posture-differs"),
        ("posture.json", b'"verdict": "pass"', b'"verdict": "fail"', "posture-differs"),
        ("posture.json", b'"few_classes"', b'"no_gate"', "posture-differs"),
        ("posture.json", b'"survival": 1.0', b'"survival": 0.5', "posture-differs"),
        ("posture.json", b'"unit": "row"', b'"unit": "host"', "posture-differs"),
        ("posture.json", b'"op": "ip_prefix"', b'"op": "hmac"', "posture-differs"),
        ("posture.json", b'"quasi_identifiers"', b'"insensitive_too"', "posture-differs"),
        ("posture.json", b'"k_target": 5', b'"k_target": 2', "posture-differs"),
        ("posture.json", b'"composition": null', b'"composition": {}', "posture-differs"),
        ("posture.json", b'"csv": "', b'"csv": "0', "posture-differs"),
        ("posture.json", b'"computed_at": "2', b'"computed_at": "1', "posture-differs"),
        ("posture.json", b'"status": "completed"', b'"status": "queued"', "posture-differs"),
        ("posture.json", b'"inline"', b'"cap_01"', "posture-differs"),
        ("disclosures.json", b'"before":"', b'"before":"A', "disclosure-differs"),
        ("records.parquet", b"released", b"replaced", "other-file"),
        ("certificate.json", b'"payload":"', b'"payload":"AAAA', "signature-wrong"),
    ],
)
async def test_an_altered_document_of_a_bundle_is_rejected(
    world: World, operator: httpx.AsyncClient, name: str, old: bytes, new: bytes, code: str
) -> None:
    members = await bundle(operator, await published(world, operator))
    keys = read_keys((await world.anonymous().get("/keys/jwks.json")).content)

    def hold(found: dict[str, bytes]) -> None:
        verify.check_bundle(open_certificate(found["certificate.json"], keys), found)

    hold(read_bundle(zipped(members)))
    assert old in members[name]
    with pytest.raises(Rejected) as rejected:
        hold({**members, name: members[name].replace(old, new, 1)})
    assert rejected.value.code == code


def test_a_file_that_is_no_bundle_is_rejected() -> None:
    for data in (b"PK nothing", zipped({"posture.json": b"{}"})):
        with pytest.raises(Rejected) as rejected:
            read_bundle(data)
        assert rejected.value.code == "not-a-bundle"


@pytest.mark.parametrize("names", [["records.parquet"], ["posture.json"], [f"{number}.json" for number in range(40)]])
def test_a_bundle_that_grows_beyond_what_bundles_hold_is_rejected_before_it_does(names: list[str]) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as made:
        for name in names:
            made.writestr(name, bytes((20 << 20) // len(names)))
    with pytest.raises(Rejected) as rejected:
        read_bundle(packed.getvalue())
    assert (rejected.value.code, rejected.value.detail) == ("not-a-bundle", "A document of the bundle is too large.")


def test_no_flipped_bit_of_a_bundle_is_an_error_of_its_reader() -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("certificate.json", b'{"payload": "abc"}' * 10)
    data, rejected = packed.getvalue(), 0
    for place in range(8 * len(data)):
        changed = bytearray(data)
        changed[place // 8] ^= 1 << place % 8
        try:
            read_bundle(bytes(changed))
        except Rejected:
            rejected += 1
    assert rejected > 4 * len(data)


# What is inside ---------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of rdflib and pandas, inside mlcroissant
async def test_mlcroissant_loads_the_records_that_were_released(
    world: World,
    operator: httpx.AsyncClient,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # pandas reads Parquet through pyarrow, which is not installed beside these tests: polars reads it instead.
    monkeypatch.setattr("pandas.read_parquet", lambda path: pandas.DataFrame(pl.read_parquet(path).to_dicts()))
    types = {"ip": "text", "bytes sent": "integer", "load": "number", "up": "boolean", "protocols": "list"}
    rows = {
        "ip": ["192.0.2.0/24", None],
        "bytes sent": [7, 9],
        "load": [0.5, 1.0],
        "up": [True, False],
        "protocols": [["sctp", "tcp"], ["tcp"]],
    }
    table = pl.DataFrame(rows)
    parquet = write_files(table)["parquet"]
    release = await published(world, operator)
    facts = await world.archive.any_release(release)
    assert facts is not None
    assert facts.measured is not None
    assert isinstance(facts.outcome, Published)
    blob = Blob(key="x", sha256=hashlib.sha256(parquet).hexdigest(), bytes=len(parquet))
    outcome = facts.outcome.model_copy(update={"schema_types": types, "files": {"parquet": blob}})
    document = croissant_of(facts.requested, facts.measured, outcome)
    (tmp_path / "records.parquet").write_bytes(parquet)
    (tmp_path / "croissant.json").write_text(json.dumps(document))
    dataset = mlcroissant.Dataset(jsonld=str(tmp_path / "croissant.json"))
    assert dataset.metadata.ctx.is_v1_1()
    found = list(dataset.records("records"))
    assert len(found) == 2
    by_bytes = {record["records/column-1"]: record for record in found}
    assert by_bytes[7]["records/ip"] in (b"192.0.2.0/24", "192.0.2.0/24")
    assert by_bytes[9]["records/load"] == 1.0
    assert [each in (b"sctp", "sctp") for each in by_bytes[7]["records/protocols"]] == [True, False]
    assert [record.message for record in caplog.records if record.levelname in ("ERROR", "WARNING")] == []


async def test_a_datasheet_shows_texts_of_others_as_they_are(world: World, operator: httpx.AsyncClient) -> None:
    release = await published(world, operator, purpose="round *12* <script>\n# heading | x")
    facts = await world.archive.any_release(release)
    assert facts is not None
    text = datasheet_of(facts)
    assert "round \\*12\\* \\<script\\> \\# heading \\| x" in text
    assert "| k | 2 |" in text
    assert "no differential privacy" in text
    assert [line for line in text.splitlines() if line.startswith("# ")] == [f"# Datasheet of {release}"]
