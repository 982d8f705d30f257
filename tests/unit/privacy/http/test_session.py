"""Sessions: a browser acts for a key, from our own pages, until either ends."""

import re

import httpx
import pytest

from pratique_privacy import sessions
from pratique_shared.runtime import clock
from tests.unit.privacy.http.world import World, check_problem

OURS = {"Sec-Fetch-Site": "same-origin"}


async def signed_in(world: World, key: str) -> httpx.AsyncClient:
    client = world.anonymous()
    assert (await client.post("/session", json={"key": key}, headers=OURS)).status_code == 200
    return client


async def test_a_key_opens_a_session_that_may_do_what_the_key_may(world: World) -> None:
    _, key = await world.keys.new_api_key("acme", "recipient", recipient="hospital")
    client = world.anonymous()
    answer = await client.post("/session", json={"key": key}, headers=OURS)
    assert answer.json()["role"] == "recipient"
    cookie = answer.headers["set-cookie"]
    assert {"HttpOnly", "SameSite=strict", "Max-Age=43200"} <= set(cookie.split("; "))
    assert "Secure" not in cookie
    assert (await client.get("/me")).json()["recipient"] == "hospital"
    assert (await client.get("/captures")).status_code == 403
    assert (await client.get("/session")).json() == {"caller": answer.json()}


async def test_over_https_the_cookie_is_secure(world: World) -> None:
    _, key = await world.keys.new_api_key("acme", "operator")
    client = world.anonymous()
    answer = await client.post("https://pratique/session", json={"key": key}, headers=OURS)
    assert "Secure" in answer.headers["set-cookie"].split("; ")


async def test_whoever_is_not_signed_in_is_told_so_without_a_refusal(world: World) -> None:
    client = world.anonymous()
    assert (await client.get("/session")).json() == {"caller": None}
    client.cookies.set("pratique_session", "ses_" + "0" * 26 + ".x")
    assert (await client.get("/session")).json() == {"caller": None}
    check_problem(await client.get("/me"), 401, "session-unknown")


async def test_signing_out_ends_the_session_for_every_copy_of_the_cookie(world: World) -> None:
    _, key = await world.keys.new_api_key("acme", "operator")
    client = await signed_in(world, key)
    copy = world.anonymous()
    copy.cookies.set("pratique_session", client.cookies["pratique_session"])
    assert (await client.delete("/session", headers=OURS)).status_code == 204
    check_problem(await copy.get("/me"), 401, "session-unknown")
    assert (await world.anonymous().delete("/session")).status_code == 204


async def test_a_session_dies_with_its_key(world: World) -> None:
    made, key = await world.keys.new_api_key("acme", "operator")
    client = await signed_in(world, key)
    await world.keys.revoke(made.id)
    check_problem(await client.get("/me"), 401, "key-unknown")
    assert (await client.get("/session")).json() == {"caller": None}


async def test_a_session_runs_out_after_twelve_hours_and_is_swept(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, key = await world.keys.new_api_key("acme", "operator")
    client = await signed_in(world, key)
    later = clock.now() + sessions.SESSION_LIFE
    monkeypatch.setattr(sessions, "now", lambda: later)
    monkeypatch.setattr(sessions, "stamp", lambda: clock.text_of(later))
    check_problem(await client.get("/me"), 401, "session-unknown")
    before = list((world.folder / "keys/sessions").rglob("ses_*"))
    await signed_in(world, key)
    after = list((world.folder / "keys/sessions").rglob("ses_*"))
    assert (len(before), len(after), set(before) & set(after)) == (1, 1, set())


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Sec-Fetch-Site": "same-origin"}, 201),
        ({"Origin": "http://pratique"}, 201),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Site": "cross-site", "Origin": "http://pratique"}, 403),
        ({"Origin": "http://elsewhere.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "null", "Host": ""}, 403),
        ({}, 403),
    ],
)
async def test_a_session_changes_something_only_from_a_page_of_ours(
    world: World, headers: dict[str, str], status: int
) -> None:
    _, key = await world.keys.new_api_key("acme", "operator")
    client = await signed_in(world, key)
    answer = await client.post("/session/tickets", headers=headers)
    assert answer.status_code == status
    if status == 403:
        check_problem(answer, 403, "cross-origin")
    assert (await client.get("/me", headers=headers)).status_code == 200


async def test_another_page_signs_nobody_in(world: World) -> None:
    _, key = await world.keys.new_api_key("acme", "operator")
    elsewhere = {"Sec-Fetch-Site": "cross-site"}
    check_problem(await world.anonymous().post("/session", json={"key": key}, headers=elsewhere), 403, "cross-origin")
    assert (await world.anonymous().post("/session", json={"key": key})).status_code == 200


async def test_a_ticket_signs_in_once_within_ten_minutes(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    client = await world.client("auditor")
    tickets = [(await client.post("/session/tickets")).json()["ticket"] for _ in range(2)]
    answer = await world.anonymous().post("/session", json={"ticket": tickets[0]})
    assert answer.json()["role"] == "auditor"
    check_problem(await world.anonymous().post("/session", json={"ticket": tickets[0]}), 401, "ticket-unknown")
    later = clock.text_of(clock.now() + sessions.TICKET_LIFE)
    monkeypatch.setattr(sessions, "stamp", lambda: later)
    check_problem(await world.anonymous().post("/session", json={"ticket": tickets[1]}), 401, "ticket-unknown")


@pytest.mark.parametrize("text", ["", "tkt_.x", "ses_../../x.y", "tkt_" + "0" * 26 + ".x", "key_" + "0" * 26])
async def test_a_ticket_that_is_none_is_unknown_whatever_its_form(world: World, text: str) -> None:
    check_problem(await world.anonymous().post("/session", json={"ticket": text}), 401, "ticket-unknown")


async def test_a_session_is_no_ticket_and_no_key(world: World) -> None:
    _, key = await world.keys.new_api_key("acme", "operator")
    client = await signed_in(world, key)
    session = client.cookies["pratique_session"]
    check_problem(await world.anonymous().post("/session", json={"ticket": session}), 401, "ticket-unknown")
    check_problem(await world.anonymous({"Authorization": f"Bearer {session}"}).get("/me"), 401, "key-unknown")


async def test_either_a_key_or_a_ticket_is_given(world: World) -> None:
    for body in ({}, {"key": "a", "ticket": "b"}):
        check_problem(await world.anonymous().post("/session", json=body), 422, "body-invalid")


async def test_a_sign_in_is_in_the_log_and_no_secret_is_stored(world: World) -> None:
    _, key = await world.keys.new_api_key("acme", "operator")
    client = await signed_in(world, key)
    secret = client.cookies["pratique_session"].split(".")[1]
    auditor = await world.client("auditor")
    (entry, *_) = [e for e in (await auditor.get("/audit")).json()["data"] if e["operation"] == "createSession"]
    assert entry["status"] == 200
    stored = [path.read_bytes() for path in (world.folder / "keys").rglob("*") if path.is_file()]
    assert stored
    assert not any(re.search(re.escape(secret).encode(), found) for found in stored)
