"""Tokens of an identity provider: taken where an API key is, and refused with a code that says what to do."""

import base64
import hashlib
import hmac
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from pratique_privacy.identity.key_set import KeySet, NoKeySet
from pratique_privacy.identity.terms import Claims, TokenTerms, claim_at, role_in, text_at, words_at
from pratique_privacy.identity.tokens import LEEWAY, Tokens, is_token
from tests.support.issuer import AUDIENCE, ISSUER, Issuer
from tests.unit.privacy.http.world import PCAP, RELEASE, World, build_world, check_problem


@pytest.fixture
def issuer() -> Issuer:
    return Issuer()


@pytest.fixture
async def world(tmp_path: Path, issuer: Issuer) -> AsyncIterator[World]:
    made = build_world(tmp_path, issuer=issuer)
    await made.keys.add_tenant("acme")
    yield made
    for client in made.clients:
        await client.aclose()


def bearing(world: World, token: str) -> httpx.AsyncClient:
    return world.anonymous({"Authorization": f"Bearer {token}"})


def encoded(part: dict[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode()


async def test_a_token_does_what_a_key_of_its_role_and_tenant_does(world: World, issuer: Issuer) -> None:
    client = bearing(world, issuer.token("operator"))
    me = (await client.get("/me")).json()
    assert (me["tenant"], me["role"], me["recipient"], me["scopes"]) == ("acme", "operator", None, None)
    capture = (await client.post("/captures", content=PCAP)).json()["id"]
    assert (await (await world.client("operator")).get(f"/captures/{capture}")).status_code == 200
    assert (await bearing(world, issuer.token("auditor")).get("/captures")).status_code == 403


@pytest.mark.parametrize("algorithm", ["RS256", "PS256", "EdDSA"])
async def test_every_kind_of_signature_that_only_the_issuer_can_make_is_taken(world: World, algorithm: str) -> None:
    other = Issuer(algorithm)
    tokens = Tokens(TokenTerms(ISSUER, (AUDIENCE,)), KeySet(other.fetch), world.keys)
    assert (await tokens.caller(other.token("auditor"))).role == "auditor"


async def test_a_recipients_token_sees_the_releases_of_its_name(world: World, issuer: Issuer) -> None:
    release = (await (await world.client("operator")).post("/releases", json=RELEASE)).json()["id"]
    await world.concluded(release)
    for name, status in (("hospital", 200), ("rival", 404)):
        client = bearing(world, issuer.token("recipient", recipient=name))
        assert (await client.get(f"/releases/{release}/records")).status_code == status


async def test_the_log_names_the_subject_opaquely_and_always_alike(world: World, issuer: Issuer) -> None:
    token = issuer.token("admin", subject="jane.doe@example.com")
    for sent in (token, issuer.token("admin", subject="jane.doe@example.com", jti="again")):
        await bearing(world, sent).put("/gate-floor", json={"gate": {}})
    entries = [entry for entry in await world.audit.every("acme") if entry.phase == "answered"]
    assert len({entry.key for entry in entries}) == 1
    assert entries[0].key is not None
    assert entries[0].key.startswith("sub_")
    told = "".join(entry.model_dump_json() for entry in entries)
    assert "jane" not in told
    assert hashlib.sha256(b"jane.doe@example.com").hexdigest()[:12] not in told, "who guesses a name could check it"
    assert token.rpartition(".")[2] not in told


REFUSALS: list[tuple[str, dict[str, Any], str]] = [
    ("expired", {"exp": 1}, "token-expired"),
    ("without an expiry", {"exp": None}, "token-claim-missing"),
    ("not yet valid", {"nbf": 32503680000}, "token-not-yet-valid"),
    ("of another issuer", {"iss": "https://id.example.com/realms/other"}, "token-issuer"),
    ("of no issuer", {"iss": None}, "token-claim-missing"),
    ("for another service", {"aud": ["account"]}, "token-audience"),
    ("for nobody", {"aud": None}, "token-claim-missing"),
    ("without a tenant", {"tenant": None}, "token-tenant-missing"),
    ("of two tenants", {"tenant": ["acme", "harbour"]}, "token-tenant-missing"),
    ("of a tenant that nobody made", {"tenant": "harbour"}, "token-tenant-unknown"),
    ("of a tenant that is a path", {"tenant": "../acme"}, "token-tenant-unknown"),
    ("of nobody", {"sub": None, "azp": None}, "token-subject-missing"),
    ("with an expiry that is no time", {"exp": "soon"}, "token-invalid"),
    ("with roles of others only", {"realm_access": {"roles": ["operator", "admin"]}}, "token-role-missing"),
    ("with roles that are no list", {"realm_access": {"roles": 7}}, "token-role-missing"),
]


@pytest.mark.parametrize(("_what", "changed", "code"), REFUSALS, ids=[what for what, _, _ in REFUSALS])
async def test_a_token_is_refused(world: World, issuer: Issuer, _what: str, changed: dict[str, Any], code: str) -> None:
    answer = await bearing(world, issuer.token("operator", **{"tenant": "acme", **changed})).get("/me")
    problem = check_problem(answer, 401, code)
    assert answer.headers["www-authenticate"] == "Bearer"
    assert "rapp-7" not in problem["detail"]


async def test_a_recipients_token_without_a_name_is_refused(world: World, issuer: Issuer) -> None:
    for recipient in (None, "", "x" * 201, "\ud800"):
        answer = await bearing(world, issuer.token("recipient", recipient=recipient)).get("/me")
        check_problem(answer, 401, "token-recipient-missing")


async def test_clocks_may_differ_by_half_a_minute(world: World, issuer: Issuer) -> None:
    now = issuer.claims()["iat"]
    near = issuer.token("operator", exp=now - LEEWAY + 15, nbf=now + LEEWAY - 15)
    assert (await bearing(world, near).get("/me")).status_code == 200


async def test_a_signature_that_anybody_could_make_is_refused(world: World, issuer: Issuer) -> None:
    claims = encoded(issuer.claims("admin"))
    pem = issuer.keys["first"][1].public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    for algorithm in ("none", "None", "HS256", ""):
        signed = f"{encoded({'alg': algorithm, 'kid': 'first'})}.{claims}"
        mac = base64.urlsafe_b64encode(hmac.digest(pem, signed.encode(), "sha256")).rstrip(b"=").decode()
        for signature in ("", mac):
            check_problem(await bearing(world, f"{signed}.{signature}").get("/me"), 401, "token-invalid")


async def test_a_header_cannot_bring_its_own_key(world: World, issuer: Issuer) -> None:
    thief = Issuer()
    for extra in ({"jwk": thief.public("first")}, {"jku": "https://thief.example.com/jwks"}, {"crit": ["exp"]}):
        claims, (algorithm, key) = issuer.claims("admin"), thief.keys["first"]
        token = jwt.encode(claims, key, algorithm, {"kid": "first", **extra})
        check_problem(await bearing(world, token).get("/me"), 401, "token-invalid")


@pytest.mark.parametrize(
    ("kind", "use", "taken"),
    [
        ("JWT", "Bearer", True),
        ("at+jwt", None, True),
        ("application/AT+JWT", None, True),
        ("id+jwt", None, False),
        ("logout+jwt", None, False),
        ("secevent+jwt", None, False),
        (5, None, False),
        ("JWT", "ID", False),
        ("JWT", "Refresh", False),
    ],
)
async def test_a_token_that_the_issuer_signed_for_another_use_is_refused(
    world: World, issuer: Issuer, kind: object, use: str | None, taken: bool
) -> None:
    algorithm, key = issuer.keys["first"]
    header = {"kid": "first", "typ": kind}
    if isinstance(kind, str):
        token = jwt.encode(issuer.claims("admin", typ=use), key, algorithm, header)
    else:  # the library writes no such header: its signature is of no interest then
        token = f"{encoded({**header, 'alg': algorithm})}.{encoded(issuer.claims('admin'))}.AAAA"
    answer = await bearing(world, token).get("/me")
    assert answer.status_code == (200 if taken else 401)
    if not taken:
        assert "another use" in check_problem(answer, 401, "token-invalid")["detail"]


async def test_a_token_of_another_kind_of_key_under_the_same_id_is_refused(world: World) -> None:
    check_problem(await bearing(world, Issuer("EdDSA").token("admin")).get("/me"), 401, "token-key-unknown")


@pytest.mark.parametrize("text", ["..", "a.b.c", "e30.e30.", f"{'a' * 20000}.b.c", "e30.e30.e30", "W10.e30.e30"])
async def test_what_only_looks_like_a_token_is_refused(world: World, text: str) -> None:
    assert is_token(text)
    check_problem(await bearing(world, text).get("/me"), 401, "token-invalid")


async def test_a_changed_byte_is_refused(world: World, issuer: Issuer) -> None:
    head, body, signature = issuer.token("operator").split(".")
    wider = encoded({**issuer.claims("admin")})
    for forged in (f"{head}.{wider}.{signature}", f"{head}.{body}.{signature[::-1]}"):
        check_problem(await bearing(world, forged).get("/me"), 401, "token-invalid")


async def test_an_unknown_signing_key_is_told_apart_from_a_provider_that_never_answered(
    world: World, issuer: Issuer
) -> None:
    issuer.keys["second"] = issuer.keys["first"]
    unknown = issuer.token("admin", kid="second")
    del issuer.keys["second"]
    check_problem(await bearing(world, unknown).get("/me"), 401, "token-key-unknown")

    async def nobody() -> bytes:
        raise NoKeySet("nobody is there")

    tokens = Tokens(TokenTerms(ISSUER, (AUDIENCE,)), KeySet(nobody), world.keys)
    with pytest.raises(Exception, match="issuer-unavailable"):
        await tokens.caller(issuer.token("admin"))


async def test_without_a_provider_a_token_is_refused_as_such(tmp_path: Path, issuer: Issuer) -> None:
    world = build_world(tmp_path)
    check_problem(await bearing(world, issuer.token("admin")).get("/me"), 401, "token-not-taken")
    assert not is_token((await world.keys.new_api_key("acme", "admin"))[1])
    for client in world.clients:
        await client.aclose()


def test_a_path_leads_into_claims_whose_names_have_points_too() -> None:
    claims = {"realm_access": {"roles": ["a"]}, "resource_access": {"pratique.api": {"roles": "a b"}}, "x.y": "z"}
    claims["https://example.com/roles"] = ["c", 7]
    assert words_at(claims, "realm_access.roles") == ("a",)
    assert words_at(claims, "resource_access.pratique.api.roles") == ("a", "b")
    assert words_at(claims, "https://example.com/roles") == ("c",)
    assert (text_at(claims, "x.y"), text_at(claims, "realm_access.roles")) == ("z", "a")
    assert claim_at(claims, "realm_access.roles.deeper") is None
    assert text_at(claims, "resource_access") is None


@pytest.mark.parametrize(
    ("given", "role"),
    [
        (["auditor", "operator"], "operator"),
        (["recipient", "admin"], "admin"),
        (["recipient"], "recipient"),
        (["x"], None),
    ],
)
def test_the_widest_role_of_a_token_holds(given: list[str], role: str | None) -> None:
    assert role_in({"groups": given}, Claims(roles=("roles", "groups"), role_prefix="")) == role
    assert role_in({"groups": given}, Claims(roles=("groups",))) is None
