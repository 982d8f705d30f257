"""Certificates: everybody's tools say yes to the one that was signed and no to every other."""

import base64
import hashlib
import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
from cryptography.hazmat.primitives.serialization import load_pem_public_key
from securesystemslib.dsse import Envelope
from securesystemslib.exceptions import VerificationError
from securesystemslib.signer import SSlibKey  # type: ignore[attr-defined]

from pratique_privacy.evidence.envelope import PAYLOAD_TYPE, PublicKey, Signer, authenticated, sealed
from pratique_privacy.key_marks import key_mark, pseudonyms_of
from pratique_privacy.keys import KeyRoom
from pratique_privacy.shipped import verify
from pratique_privacy.shipped.verify import Rejected, check_file, check_time, open_certificate, read_keys
from pratique_shared.contracts.policy import Policy
from pratique_shared.runtime.artifacts import open_room
from pratique_shared.runtime.sealing import BrokenSeal, StorageKey
from tests.unit.privacy.http.world import RELEASE, RELEASED_CSV, World, check_problem
from tests.unit.repo.source import REPOSITORY

SCRIPT = Path(verify.__file__)
MINE, OTHER = Signer(b"m" * 32), Signer(b"o" * 32)


async def published(world: World, client: httpx.AsyncClient, **changed: object) -> str:
    identity: str = (await client.post("/releases", json={**RELEASE, **changed})).json()["id"]
    await world.concluded(identity)
    return identity


async def certified(world: World, client: httpx.AsyncClient, folder: Path) -> tuple[Path, Path]:
    """A certificate and its key as files."""
    release = await published(world, client)
    certificate, key = folder / "certificate.json", folder / "key.pem"
    certificate.write_bytes((await client.get(f"/releases/{release}/certificate")).content)
    kid = json.loads(certificate.read_bytes())["signatures"][0]["keyid"]
    key.write_bytes((await world.anonymous().get(f"/keys/{kid}.pem")).content)
    return certificate, key


def keys_of(*signers: Signer) -> dict[str, bytes]:
    return read_keys("".join(signer.public.pem() for signer in signers).encode())


def statement(**changed: object) -> dict[str, Any]:
    plain = {
        "_type": verify.STATEMENT_TYPE,
        "predicateType": verify.PREDICATE_TYPE,
        "subject": [{"name": "rel_1.csv", "digest": {"sha256": hashlib.sha256(b"rows").hexdigest()}}],
        "predicate": {"issued_at": "2026-01-02T00:00:00Z", "valid_until": "2026-02-02T00:00:00Z"},
    }
    return {**plain, **changed}


def rejected(data: bytes, keys: dict[str, bytes]) -> str:
    with pytest.raises(Rejected) as found:
        open_certificate(data, keys)
    return found.value.code


# The tools of others ----------------------------------------------------------------------------------------------


async def test_securesystemslib_accepts_it_and_no_altered_one(
    world: World, operator: httpx.AsyncClient, tmp_path: Path
) -> None:
    certificate, key = await certified(world, operator, tmp_path)
    document = json.loads(certificate.read_bytes())
    kid = document["signatures"][0]["keyid"]
    public = SSlibKey.from_crypto(load_pem_public_key(key.read_bytes()), kid)
    envelope = Envelope.from_dict(document)
    assert list(envelope.verify([public], 1)) == [kid]
    altered = Envelope(envelope.payload.replace(b'"pass"', b'"fail"'), envelope.payload_type, envelope.signatures)
    assert altered.payload != envelope.payload
    with pytest.raises(VerificationError):
        altered.verify([public], 1)


async def test_openssl_accepts_it_and_names_its_key_as_we_do(
    world: World, operator: httpx.AsyncClient, tmp_path: Path
) -> None:
    certificate, key = await certified(world, operator, tmp_path)
    document = json.loads(certificate.read_bytes())
    payload = base64.b64decode(document["payload"])
    message, signature = tmp_path / "message", tmp_path / "signature"
    message.write_bytes(b"DSSEv1 28 application/vnd.in-toto+json %d %b" % (len(payload), payload))
    signature.write_bytes(base64.b64decode(document["signatures"][0]["sig"]))
    words = ["openssl", "pkeyutl", "-verify", "-pubin", "-rawin", "-inkey", str(key)]
    words += ["-sigfile", str(signature), "-in", str(message)]
    assert b"Signature Verified Successfully" in subprocess.run(words, capture_output=True, check=True).stdout
    der = subprocess.run(["openssl", "pkey", "-pubin", "-in", key, "-outform", "DER"], capture_output=True, check=True)
    assert hashlib.sha256(der.stdout).hexdigest() == document["signatures"][0]["keyid"]


async def test_the_shipped_script_alone_accepts_it_with_its_file_and_no_other(
    world: World, operator: httpx.AsyncClient, tmp_path: Path
) -> None:
    certificate, key = await certified(world, operator, tmp_path)
    mine, swapped = tmp_path / "night.csv", tmp_path / "swapped.csv"
    mine.write_bytes(RELEASED_CSV)
    swapped.write_bytes(RELEASED_CSV + b" ")

    def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, "-I", SCRIPT, *words], capture_output=True, text=True, check=False)

    good = run(certificate, "--key", key, "--records", mine)
    assert (good.returncode, good.stderr) == (0, "")
    assert "night.csv: is rel_" in good.stdout
    bad = run(certificate, "--key", key, "--records", mine, swapped)
    assert (bad.returncode, bad.stdout) == (1, "")
    assert "other-file" in bad.stderr
    assert run(certificate, "--key", tmp_path / "missing.pem").returncode == 2


def test_openssl_stands_in_where_no_package_is_installed() -> None:
    message = b"any message"
    signature = MINE.sign(message)
    assert verify.holds_for_openssl(MINE.public.raw, signature, message)
    assert not verify.holds_for_openssl(MINE.public.raw, signature, message + b".")
    assert not verify.holds_for_openssl(OTHER.public.raw, signature, message)


def test_without_any_verifier_nothing_is_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda _: None)
    with pytest.raises(Rejected, match="install the package"):
        verify.holds_for_openssl(MINE.public.raw, MINE.sign(b"m"), b"m")


def test_the_client_brings_the_same_verifier_to_the_letter() -> None:
    assert (REPOSITORY / "clients/python/src/pratique/verify.py").read_bytes() == SCRIPT.read_bytes()


# Tampering --------------------------------------------------------------------------------------------------------


def test_any_flipped_bit_is_rejected() -> None:
    data, keys = sealed(statement(), MINE), keys_of(MINE)
    assert open_certificate(data, keys).kid == MINE.public.kid
    for place in range(len(data)):
        for bit in (1, 32):
            flipped = bytearray(data)
            flipped[place] ^= bit
            assert rejected(bytes(flipped), keys), place


def test_another_key_is_rejected_whatever_name_it_goes_by() -> None:
    data = sealed(statement(), MINE)
    assert rejected(data, keys_of(OTHER)) == "other-key"
    forged = json.loads(sealed(statement(), OTHER))
    forged["signatures"][0]["keyid"] = MINE.public.kid
    assert rejected(json.dumps(forged).encode(), keys_of(MINE)) == "signature-wrong"
    # A key file cannot lend its own name to another key: names are computed.
    lying = json.dumps({"keys": [{**OTHER.public.jwk(), "kid": MINE.public.kid}]}).encode()
    assert rejected(json.dumps(forged).encode(), read_keys(lying)) == "other-key"


def test_another_payload_type_is_rejected_even_if_it_was_signed_so() -> None:
    payload = json.dumps(statement()).encode()
    kind = "application/json"
    signature = base64.b64encode(MINE.sign(authenticated(kind, payload))).decode()
    signatures = [{"keyid": MINE.public.kid, "sig": signature}]
    envelope = {"payload": base64.b64encode(payload).decode(), "payloadType": kind, "signatures": signatures}
    assert rejected(json.dumps(envelope).encode(), keys_of(MINE)) == "other-payload"
    # The type is under the signature: claiming the right one does not help.
    renamed = {**envelope, "payloadType": PAYLOAD_TYPE}
    assert rejected(json.dumps(renamed).encode(), keys_of(MINE)) == "signature-wrong"


def test_a_statement_under_the_signature_of_another_is_rejected() -> None:
    one, two = json.loads(sealed(statement(), MINE)), json.loads(sealed(statement(predicate={"k": 9}), MINE))
    assert rejected(json.dumps({**one, "payload": two["payload"]}).encode(), keys_of(MINE)) == "signature-wrong"


@pytest.mark.parametrize(
    "changed",
    [
        {"_type": "https://in-toto.io/Statement/v0.1"},
        {"predicateType": "https://slsa.dev/provenance/v1"},
        {"subject": []},
    ],
)
def test_a_signed_statement_of_another_kind_is_no_certificate(changed: dict[str, Any]) -> None:
    assert rejected(sealed(statement(**changed), MINE), keys_of(MINE)) == "other-statement"


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b"null", b"{" * 100_000, b'{"payload": 1, "payload": 2}', b"\xff"])
def test_what_is_no_envelope_is_rejected(data: bytes) -> None:
    assert rejected(data, keys_of(MINE)) == "not-a-certificate"


def test_a_swapped_file_and_a_moment_outside_its_time_are_rejected() -> None:
    certificate = open_certificate(sealed(statement(), MINE), keys_of(MINE))
    assert check_file(certificate, hashlib.sha256(b"rows").hexdigest(), "any.csv") == "rel_1.csv"
    with pytest.raises(Rejected, match="no file of this release"):
        check_file(certificate, hashlib.sha256(b"other rows").hexdigest(), "any.csv")
    check_time(certificate, datetime(2026, 1, 15, tzinfo=UTC))
    for moment, code in (
        (datetime(2026, 1, 1, tzinfo=UTC), "not-yet-valid"),
        (datetime(2026, 3, 1, tzinfo=UTC), "expired"),
    ):
        with pytest.raises(Rejected) as found:
            check_time(certificate, moment)
        assert found.value.code == code


# What it says, and to whom ----------------------------------------------------------------------------------------


async def test_the_certificate_is_one_document_that_shows_no_figure_before(
    world: World, operator: httpx.AsyncClient
) -> None:
    release = await published(world, operator)
    readers = [operator, await world.client("auditor"), await world.client("recipient", recipient="hospital")]
    answers = [await reader.get(f"/releases/{release}/certificate") for reader in readers]
    assert [answer.status_code for answer in answers] == [200, 200, 200]
    assert len({answer.content for answer in answers}) == 1
    told = json.loads(base64.b64decode(answers[0].json()["payload"]))
    predicate = told["predicate"]
    assert {subject["name"] for subject in told["subject"]} == {
        f"{release}.{ending}" for ending in ("parquet", "arrows", "csv", "ndjson")
    }
    assert predicate["metrics"]["after"]["k"] == 2
    assert set(predicate["withheld"]["digests"]) == {"before", "sources"}
    requested = await world.requested(release)
    assert requested.inline is not None
    # k before is 1; neither it nor the digest of the raw rows, which would let a reader test guesses, is told.
    assert requested.inline.sha256 not in json.dumps(told)
    assert '"k": 1' not in json.dumps(told)
    assert predicate["gate"]["verdict"] == "pass"
    assert predicate["recipient"] == "hospital"
    assert set(predicate["wp29"]) == {"singling_out", "linkability", "inference"}
    stranger = await world.client("recipient", recipient="rival")
    check_problem(await stranger.get(f"/releases/{release}/certificate"), 404, "not-found")


async def test_only_a_published_release_has_a_certificate(world: World, operator: httpx.AsyncClient) -> None:
    release = (await operator.post("/releases", json=RELEASE)).json()["id"]
    check_problem(await operator.get(f"/releases/{release}/certificate"), 409, "not-finished")
    await world.concluded(release, "fail")
    check_problem(await operator.get(f"/releases/{release}/certificate"), 403, "gate-failed")
    passed = await published(world, operator, name="other")
    first = await operator.get(f"/releases/{passed}/certificate")
    again = await operator.get(f"/releases/{passed}/certificate", headers={"If-None-Match": first.headers["etag"]})
    assert again.status_code == 304
    await operator.delete(f"/releases/{passed}")
    check_problem(await operator.get(f"/releases/{passed}/certificate"), 410, "withdrawn")


async def test_a_new_signing_key_leaves_earlier_certificates_valid(
    world: World, operator: httpx.AsyncClient, admin: httpx.AsyncClient
) -> None:
    early = await published(world, operator)
    made = await admin.post("/signing-keys")
    assert (made.status_code, made.json()["number"], made.json()["signing"]) == (201, 2, True)
    late = await published(world, operator, name="late")
    anybody = world.anonymous()
    keys = read_keys((await anybody.get("/keys/jwks.json")).content)
    opened = {
        release: open_certificate((await operator.get(f"/releases/{release}/certificate")).content, keys).kid
        for release in (early, late)
    }
    assert opened[late] == made.json()["kid"] != opened[early]
    listed = (await operator.get("/signing-keys")).json()["data"]
    assert [(key["kid"], key["signing"]) for key in listed] == [(opened[late], True), (opened[early], False)]
    page = (await operator.get("/signing-keys?limit=1")).json()
    assert (len(page["data"]), page["next"]) == (1, "1")


async def test_tenants_sign_with_keys_of_their_own_and_the_set_names_no_tenant(
    world: World, operator: httpx.AsyncClient
) -> None:
    other = await world.client("operator", tenant="umbrella")
    kids = [(await client.get("/signing-keys")).json()["data"][0]["kid"] for client in (operator, other)]
    assert kids[0] != kids[1]
    text = (await world.anonymous().get("/keys/jwks.json")).text
    assert all(kid in text for kid in kids)
    assert "umbrella" not in text
    assert (await world.anonymous().get(f"/keys/{kids[1]}.pem")).text.startswith("-----BEGIN PUBLIC KEY-----")
    for name in ("0" * 64, "x", "..%2Ftenants"):
        assert (await world.anonymous().get(f"/keys/{name}.pem")).status_code == 404


async def test_a_signing_key_is_kept_under_the_master_key_and_shown_by_no_repr(world: World) -> None:
    first = await world.keys.signing.current("acme")
    again = KeyRoom(open_room(world.folder.as_uri(), "keys", StorageKey(b"s" * 32)), b"m" * 32)
    assert await again.signing.current("acme") == first
    other = KeyRoom(open_room(world.folder.as_uri(), "keys", StorageKey(b"s" * 32)), b"x" * 32)
    with pytest.raises(BrokenSeal):
        await other.signing.current("acme")
    assert repr(first) == "Signer()"
    kept = b"".join(path.read_bytes() for path in (world.folder / "keys").rglob("*") if path.is_file())
    assert first.seed not in kept
    assert base64.b64encode(first.seed) not in kept


def test_pseudonyms_are_described_by_technique_and_mark_and_never_by_key() -> None:
    steps = [
        {"column": "imsi", "op": "hmac", "bits": 128, "scope": "per_pilot"},
        {"column": "ip", "op": "crypto_pan", "scope": "per_run"},
        {"column": "id", "op": "token"},
        {"column": "port", "op": "round"},
    ]
    mark = key_mark(b"k" * 32, 3)
    imsi, ip, token = pseudonyms_of(Policy.model_validate({"steps": steps}), mark)
    assert (imsi["bits"], imsi["key_epoch"], imsi["key_fingerprint"]) == (128, 3, mark.fingerprint)
    assert (ip["key_fingerprint"], token["key_fingerprint"], token["scope"]) == (None, None, "per_run")
    assert len(mark.fingerprint) == 16
    assert mark.fingerprint != key_mark(b"j" * 32, 3).fingerprint


def test_a_key_is_read_from_pem_jwk_and_jwks_and_nothing_else_is_a_key() -> None:
    public: PublicKey = MINE.public
    for text in (public.pem(), json.dumps(public.jwk()), json.dumps({"keys": [{"kty": "RSA"}, public.jwk()]})):
        assert read_keys(text.encode()) == {public.kid: public.raw}
    for text in ("", "{}", '{"keys": 3}', "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----"):
        with pytest.raises(Rejected, match="no Ed25519 public key"):
            read_keys(text.encode())
