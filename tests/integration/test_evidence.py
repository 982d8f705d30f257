"""Evidence on the real service: what was published verifies offline, and the log tells who did what."""

import base64
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from pratique.verify import Rejected, verify
from pratique_local.sample import write_sample
from tests.support.house import House
from tests.unit.repo.source import REPOSITORY

FORMATS = ("parquet", "arrow", "csv", "ndjson")


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path: Path = tmp_path_factory.mktemp("sample") / "sample.pcapng"
    write_sample(path)
    return path


@pytest.fixture(scope="module")
def release(running: House, sample: Path) -> str:
    asked: dict[str, Any] = {"policy": "C4", "recipient": "fl-1", "purpose": "round 12", "gate": {"k": {"min": 2}}}
    with running.client() as client:
        capture = client.push_capture(sample, pilot="lab")["id"]
        client.wait_capture(capture)
        identity: str = client.create_release({**asked, "source": {"capture": capture}})["id"]
        assert client.wait_release(identity)["verdict"] == "pass"
        return identity


def test_every_released_file_is_a_subject_of_the_certificate(running: House, release: str, tmp_path: Path) -> None:
    certificate, keys = tmp_path / "cert.json", tmp_path / "jwks.json"
    with running.client() as client:
        client.download_evidence(release, certificate)
        keys.write_text(json.dumps(client.public_keys()))
        files = [client.download_records(release, tmp_path / f"night.{form}", form).path for form in FORMATS]
        posture = client.posture(release)
    found = verify(certificate, keys, files)
    assert sorted(found.certificate.subjects) == sorted(posture["files"].values())
    predicate = found.certificate.predicate
    assert predicate["metrics"]["after"] == posture["after"]
    assert predicate["attacks"] == posture["attacks"]
    assert (predicate["recipient"], predicate["purpose"]) == ("fl-1", "round 12")
    files[2].write_bytes(files[2].read_bytes() + b"\r\n")
    with pytest.raises(Rejected):
        verify(certificate, keys, files)


def test_the_bundle_of_the_operator_names_the_capture_by_its_bytes(
    running: House, release: str, sample: Path, tmp_path: Path
) -> None:
    bundle, keys = tmp_path / "evidence.zip", tmp_path / "jwks.json"
    with running.client() as client:
        client.download_evidence(release, bundle, "bundle")
        keys.write_text(json.dumps(client.public_keys()))
    found = verify(bundle, keys)
    assert found.held == ("posture.json", "disclosures.json", "records.parquet")
    with zipfile.ZipFile(bundle) as members:
        document = json.loads(members.read("disclosures.json"))
        croissant = json.loads(members.read("croissant.json"))
    sources = json.loads(_decoded(document["sources"]))[2]
    assert [one["capture_sha256"] for one in sources] == [hashlib.sha256(sample.read_bytes()).hexdigest()]
    assert croissant["distribution"][0]["encodingFormat"] == "application/x-parquet"


def _decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def test_the_report_has_all_figures_and_the_log_says_who_took_what(
    running: House, release: str, tmp_path: Path
) -> None:
    page = tmp_path / "report.html"
    with running.client() as client, running.http() as http:
        client.download_evidence(release, page, "report")
        client.download_records(release, tmp_path / "night.csv", "csv")
        text, posture = page.read_text(), client.posture(release)
        assert posture["policy_sha256"] in text
        for heading in ("before and after", "Class sizes", "Exposure of quasi-identifiers", "Adversaries"):
            assert heading in text
        entries = http.get("/audit", params={"limit": 1000}).json()["data"]
        told = {(entry["operation"], entry["object"], entry["status"]) for entry in entries}
        assert {("createRelease", release, 202), ("getReleaseRecords", release, 200)} <= told
        assert http.get("/audit/check").json()["intact"] is True


def test_what_the_document_tells_the_reader_to_type_works(running: House, release: str, tmp_path: Path) -> None:
    if shutil.which("curl") is None or shutil.which("openssl") is None:
        pytest.skip("the document's examples need curl and openssl")
    blocks = re.findall(r"^```sh\n(.*?)^```", (REPOSITORY / "docs/evidence.md").read_text(), re.DOTALL | re.MULTILINE)
    assert len(blocks) >= 4
    script = "\n".join(['pratique() { "$PYTHON" -m pratique "$@"; }', *blocks])
    given = {"U": running.url, "A": f"Authorization: Bearer {running.key}", "REL": release, "PYTHON": sys.executable}
    words = ["sh", "-eu", "-c", script]
    done = subprocess.run(words, cwd=tmp_path, env={**os.environ, **given}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "night.csv: is " in done.stdout
    assert "Signature Verified Successfully" in done.stdout
    assert '"intact":true' in done.stdout
