"""`pratique cert`: verified offline, and told in words when it does not hold."""

import json
import sys
from base64 import b64encode
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path

import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from pratique import Client, LocalFault
from pratique.cli import main
from tests.unit.client.scripted import Scripted, file_answer

KEY = Ed25519PrivateKey.from_private_bytes(b"k" * 32)
ROWS = b"ip\r\n10.0.0.0/8\r\n"


def unreachable(_: object) -> Client:
    raise AssertionError("an offline command asked for a service")


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A certificate signed a day ago, with its key and records beside it."""
    issued = datetime.now(UTC) - timedelta(days=1)
    predicate = {
        "release": "rel_01",
        "issued_at": issued.isoformat(),
        "valid_until": (issued + timedelta(days=30)).isoformat(),
        "recipient": "hospital",
        "purpose": None,
        "gate": {"verdict": "pass"},
    }
    statement = {
        "_type": "https://in-toto.io/Statement/v1",
        "predicateType": "urn:x-pratique:release-certificate:1",
        "subject": [{"name": "rel_01.csv", "digest": {"sha256": sha256(ROWS).hexdigest()}}],
        "predicate": predicate,
    }
    payload, kind = json.dumps(statement).encode(), "application/vnd.in-toto+json"
    signature = KEY.sign(b"DSSEv1 %d %b %d %b" % (len(kind), kind.encode(), len(payload), payload))
    der = KEY.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    signatures = [{"keyid": sha256(der).hexdigest(), "sig": b64encode(signature).decode()}]
    envelope = {"payload": b64encode(payload).decode(), "payloadType": kind, "signatures": signatures}
    pem = KEY.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    (tmp_path / "key.pem").write_bytes(pem)
    (tmp_path / "night.csv").write_bytes(ROWS)
    path = tmp_path / "cert.json"
    path.write_text(json.dumps(envelope))
    return path


def run(certificate: Path, *words: str | Path) -> int:
    key = certificate.with_name("key.pem")
    return main(["cert", "verify", str(certificate), "--key", str(key), *map(str, words)], connect=unreachable)


def test_a_certificate_and_its_records_are_verified_without_a_service(
    certificate: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(certificate, "--records", certificate.with_name("night.csv")) == 0
    told = capsys.readouterr().out
    assert "verified  rel_01  gate: pass" in told
    assert "night.csv: is rel_01.csv" in told


def test_a_program_gets_the_whole_statement(certificate: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(certificate, "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["verified"], document["release"]) == (True, "rel_01")
    assert document["statement"]["predicate"]["recipient"] == "hospital"


def test_what_does_not_hold_is_an_error_with_advice(certificate: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = certificate.with_name("other.csv")
    other.write_bytes(ROWS + b"\n")
    assert run(certificate, "--records", other) == 1
    assert "code other-file" in capsys.readouterr().err
    later = (datetime.now(UTC) + timedelta(days=60)).isoformat()
    assert run(certificate, "--at", later) == 1
    assert "What to do: ask for a new release" in capsys.readouterr().err
    certificate.write_text(certificate.read_text().replace('"payload": "e', '"payload": "f'))
    assert run(certificate) == 1
    assert "signature-wrong" in capsys.readouterr().err


def test_without_the_package_openssl_decides(
    certificate: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in [name for name in sys.modules if name.startswith("cryptography")]:
        monkeypatch.setitem(sys.modules, name, None)
    assert run(certificate) == 0
    monkeypatch.setattr("shutil.which", lambda _: None)
    assert run(certificate) == 1
    assert "What to do: install `cryptography`, or openssl" in capsys.readouterr().err


def test_a_missing_file_and_a_wrong_moment_are_told_apart(
    certificate: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(certificate, "--records", certificate.with_name("missing.csv")) == 1
    assert "missing.csv" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="2"):
        run(certificate, "--at", "yesterday")


def test_evidence_is_kept_only_with_the_announced_digest(tmp_path: Path) -> None:
    service = Scripted(file_answer(b"PK evidence"), file_answer(b"PK evidence", b"something else"))
    words = ["cert", "get", "rel_01", "--part", "bundle", "-o", str(tmp_path / "night.zip")]
    assert main(words, connect=lambda _: service.client()) == 0
    assert (tmp_path / "night.zip").read_bytes() == b"PK evidence"
    assert service.asked[0].url.path == "/releases/rel_01/bundle"
    words[-1] = str(tmp_path / "altered.zip")
    assert main(words, connect=lambda _: service.client()) == 1
    assert not (tmp_path / "altered.zip").exists()
    with pytest.raises(LocalFault, match="none of certificate"):
        service.client().download_evidence("rel_01", tmp_path / "x", "posture")


def test_keys_are_fetched_as_they_are(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keys = {"keys": [{"kty": "OKP", "kid": "k"}]}
    service = Scripted(*(httpx.Response(200, json=keys) for _ in range(2)))
    assert main(["cert", "keys"], connect=lambda _: service.client()) == 0
    assert json.loads(capsys.readouterr().out) == keys
    path = tmp_path / "operator.jwks.json"
    assert main(["cert", "keys", "-o", str(path)], connect=lambda _: service.client()) == 0
    assert json.loads(path.read_text()) == keys
