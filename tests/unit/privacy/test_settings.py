"""Settings of the privacy service: what is half set ends the start with what to do."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from pratique_privacy.http.rates import CALLER
from pratique_privacy.identity.terms import Claims
from pratique_privacy.main import key_room_of, tokens_of
from pratique_privacy.settings import PrivacySettings, front_of, key_set_of, rates_of, token_terms
from pratique_shared.runtime.settings import read_environment
from tests.support.issuer import Issuer

ISSUER, AUDIENCE = "https://id.example.com/realms/ran", "pratique"
WHOLE = {"JWT_ISSUER": ISSUER, "JWT_AUDIENCE": AUDIENCE, "JWT_JWKS_URL": "https://id.example.com/jwks"}


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setenv("PRATIQUE_DATA", str(tmp_path))
    return monkeypatch


def given(environment: pytest.MonkeyPatch, **values: str) -> PrivacySettings:
    for name in ("MASTER_KEY", "KEY_KEYS", "KEY_RELEASES", "KEY_CAPTURES", "KEY_MATRICES", "KEY_SCORES"):
        environment.setenv(f"PRATIQUE_{name}", "ab" * 32)
    for name, value in values.items():
        environment.setenv(f"PRATIQUE_{name}", value)
    return read_environment(PrivacySettings)


def test_without_settings_no_token_is_taken_and_no_proxy_believed(environment: pytest.MonkeyPatch) -> None:
    settings = given(environment, JWT_ISSUER="", PUBLIC_URL="", TRUSTED_PROXIES="")
    assert token_terms(settings) is None
    assert (front_of(settings).public, front_of(settings).proxies) == ("", ())
    share = rates_of(settings).callers.take("a")
    assert share is not None
    assert share.rate == CALLER


def test_terms_are_read_with_their_defaults(environment: pytest.MonkeyPatch) -> None:
    terms = token_terms(given(environment, **WHOLE, JWT_ROLE_PREFIX=""))
    assert terms is not None
    assert (terms.issuer, terms.audiences) == (ISSUER, (AUDIENCE,))
    assert terms.claims == Claims(role_prefix="")
    assert terms.claims.roles == ("roles", "realm_access.roles")


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"JWT_ISSUER": ""}, "PRATIQUE_JWT_ISSUER is missing"),
        ({"JWT_AUDIENCE": ""}, "PRATIQUE_JWT_AUDIENCE is missing"),
        ({"JWT_JWKS_URL": ""}, "set one of PRATIQUE_JWT_JWKS_URL and PRATIQUE_JWT_JWKS_FILE"),
        ({"JWT_JWKS_FILE": "jwks.json"}, "set one of PRATIQUE_JWT_JWKS_URL and PRATIQUE_JWT_JWKS_FILE"),
        ({"JWT_ISSUER": "", "JWT_AUDIENCE": ""}, "PRATIQUE_JWT_ISSUER is missing"),
        ({"JWT_TENANT_CLAIM": ""}, "each name a claim"),
        ({"JWT_ROLE_CLAIM": " "}, "each name a claim"),
    ],
)
def test_half_of_the_terms_end_the_start(environment: pytest.MonkeyPatch, changed: dict[str, str], told: str) -> None:
    with pytest.raises(SystemExit, match=told):
        token_terms(given(environment, **{**WHOLE, **changed}))


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"PUBLIC_URL": "pratique.example.com"}, "PRATIQUE_PUBLIC_URL is the address"),
        ({"TRUSTED_PROXIES": "10.0.0.0/8, my-proxy"}, "PRATIQUE_TRUSTED_PROXIES lists networks"),
        ({"TRUSTED_PROXIES": "10.0.0.1/8"}, "PRATIQUE_TRUSTED_PROXIES lists networks"),
    ],
)
def test_what_cannot_be_read_ends_the_start(environment: pytest.MonkeyPatch, values: dict[str, str], told: str) -> None:
    with pytest.raises(SystemExit, match=told):
        front_of(given(environment, **values))


def test_keys_over_plain_http_from_afar_end_the_start(environment: pytest.MonkeyPatch) -> None:
    with pytest.raises(SystemExit, match="PRATIQUE_JWT_JWKS_URL is https"):
        key_set_of(given(environment, **{**WHOLE, "JWT_JWKS_URL": "http://id.example.com/jwks"}), "t")


async def read(settings: PrivacySettings) -> Any:  # noqa: ANN401 - whatever is made of them
    return await tokens_of(settings, key_room_of(settings))


def test_a_file_of_keys_is_held_to_be_there_at_the_start(environment: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "jwks.json"
    settings = given(environment, **{**WHOLE, "JWT_JWKS_URL": "", "JWT_JWKS_FILE": str(path)})
    for content in (None, b"[]"):
        if content is not None:
            path.write_bytes(content)
        with pytest.raises(SystemExit, match="PRATIQUE_JWT_JWKS_FILE cannot be used"):
            asyncio.run(read(settings))
    path.write_bytes(Issuer().key_set())
    assert asyncio.run(read(settings)) is not None


def test_a_provider_that_does_not_answer_holds_up_no_start(environment: pytest.MonkeyPatch) -> None:
    settings = given(environment, **{**WHOLE, "JWT_JWKS_URL": "http://127.0.0.1:9/jwks"})
    assert asyncio.run(read(settings)) is not None
