"""Integrations in the dashboard: the coordinator, webhooks, keys, the floor, each for who may."""

import re

import pytest
from playwright.sync_api import Route, expect

from tests.support.browser import Desk
from tests.support.released import request

ICS = {
    "configured": True,
    "producer": "pratique",
    "types": ["anonymised_profiles_1.0.0", "privacy_posture_1.0.0"],
    "callbacks": {"info_job_callback_url": "http://pratique.example/ics/info-jobs"},
    "recipient": "near-rt-ric",
    "registration": {
        "registered": True, "error": None, "checked_at": "2026-03-01T10:00:00Z", "registrations": 1, "refused_jobs": 0,
    },
    "jobs": [{
        "id": "job-7", "kind": "privacy_posture_1.0.0", "owner": "rapp-a", "since": "2026-03-01T10:00:00Z",
        "counts": {"owed": 5, "delivered": 3, "failed_tries": 2, "dropped": 1},
    }],
}  # fmt: skip


def key_of(window: Desk, role: str) -> str:
    with window.house.http() as http:
        key: str = http.post("/api-keys", json={"role": role, "name": f"a test's {role}"}).json()["key"]
    return key


def test_the_coordinator_is_shown_with_its_jobs_and_their_counters(window: Desk) -> None:
    page = window.sign_in()
    window.open("#/integrations")
    expect(page.get_by_role("heading", name="No coordinator is configured")).to_be_visible()

    def answer(route: Route) -> None:
        route.fulfill(json=ICS)

    page.route("**/integrations/ics", answer)
    page.reload()
    expect(page.get_by_role("region", name="Registration")).to_contain_text("privacy_posture_1.0.0")
    row = page.get_by_role("row", name=re.compile("^job-7"))
    assert row.locator("td").all_inner_texts()[-4:] == ["5", "3", "2", "1"]


def test_a_webhook_is_made_its_secret_shown_once_and_a_delivery_sent_again(window: Desk) -> None:
    page = window.sign_in()
    window.open("#/integrations/webhooks")
    page.get_by_label("Address").fill("https://hooks.invalid/pratique")
    page.get_by_label("Name").fill("ops room")
    page.get_by_role("button", name="Make it").click()
    secret = page.get_by_label("Secret of ops room").input_value()
    assert secret.startswith("whsec_")
    page.reload()
    page.get_by_role("link", name="ops room").click()
    assert secret not in page.content()
    expect(page.get_by_text("Nothing has happened since it was made")).to_be_visible()
    with window.house.client() as client:
        client.wait_release(client.create_release(request("heard of", [{"op": "class_support", "tau": 4}]))["id"], 60)
    deliveries = page.get_by_role("region", name="Deliveries").get_by_role("row")
    expect(deliveries.nth(1)).to_contain_text("release.completed")
    expect(deliveries.nth(1)).to_contain_text("pending")
    page.get_by_role("button", name="Redeliver").first.click()
    expect(page.get_by_role("alert")).to_have_count(0)
    page.get_by_role("button", name="Delete ops room").click()
    page.get_by_role("button", name="Delete it").click()
    expect(page.get_by_role("link", name="ops room")).to_have_count(0)
    expect(page).to_have_url(re.compile("#/integrations/webhooks$"))


def test_an_address_that_is_not_allowed_is_refused_in_words(window: Desk) -> None:
    window.expect_refusals(422)
    page = window.sign_in()
    window.open("#/integrations/webhooks")
    page.get_by_label("Address").fill("http://10.0.0.1/hook")
    page.get_by_role("button", name="Make it").click()
    expect(page.get_by_role("alert")).to_contain_text("address-not-allowed")
    expect(page.get_by_role("alert")).not_to_contain_text("10.0.0.1")


def test_a_key_is_made_shown_once_and_revoked(window: Desk) -> None:
    page = window.sign_in()
    window.open("#/integrations/api-keys")
    page.get_by_label("Role").select_option("operator")
    page.get_by_label("Name").fill("night crew")
    page.get_by_label("Ends").fill("2099-01-01T00:00")
    page.get_by_role("button", name="Make it").click()
    key = page.get_by_label("Key night crew").input_value()
    page.get_by_role("button", name="I have kept it").click()
    assert key not in page.content()
    with window.house.http(key) as http:
        assert http.get("/me").json()["role"] == "operator"
    row = page.get_by_role("row", name=re.compile("^night crew"))
    expect(row).to_contain_text("1 Jan 2099")
    row.get_by_role("button", name="Revoke night crew").click()
    page.get_by_role("button", name="Revoke it").click()
    expect(row).to_contain_text("revoked")
    expect(page.get_by_role("row", name=re.compile("this session")).get_by_role("button", name="Revoke")).to_have_count(
        0
    )


def test_an_epoch_is_begun_after_it_was_said_what_that_ends(window: Desk) -> None:
    page = window.sign_in()
    window.open("#/integrations/tenant-keys")
    keys = page.get_by_role("region", name="Tenant keys", exact=True).first
    rows = keys.locator("tbody tr")
    expect(rows.first).to_contain_text("in force")
    first = rows.first.locator("td").all_inner_texts()
    before = rows.count()
    keys.get_by_role("button", name="Begin the next epoch").click()
    expect(keys.get_by_role("group")).to_contain_text("no longer join with those of earlier ones")
    keys.get_by_role("button", name="Keep it").click()
    assert rows.count() == before
    keys.get_by_role("button", name="Begin the next epoch").click()
    keys.get_by_role("button", name="Begin it").click()
    expect(rows).to_have_count(before + 1)
    with window.house.http() as http:
        newest, former = http.get("/tenant-keys").json()["data"][:2]
    second = rows.first.locator("td").all_inner_texts()
    assert second[:3] == [str(newest["epoch"]), "●\nin force", newest["fingerprint"]]
    assert rows.nth(1).locator("td").all_inner_texts()[:3] == [first[0], "○\nearlier", first[2]]
    assert newest["epoch"] == former["epoch"] + 1


def test_the_floor_is_set_and_taken_away(window: Desk) -> None:
    page = window.sign_in()
    window.open("#/integrations/gate-floor")
    page.get_by_label("k at least", exact=True).fill("1")
    page.get_by_role("button", name="Keep this floor").click()
    expect(page.get_by_role("status").filter(has_text="holds for every release")).to_be_visible()
    with window.house.http() as http:
        assert http.get("/gate-floor").json()["gate"]["k"]["min"] == 1
    page.reload()
    page.get_by_label("k at least", exact=True).fill("")
    page.get_by_role("button", name="Keep this floor").click()
    expect(page.get_by_role("status").filter(has_text="there is no floor now")).to_be_visible()
    with window.house.http() as http:
        assert http.get("/gate-floor").json()["gate"] == {}


@pytest.mark.parametrize(
    ("role", "parts"),
    [
        ("operator", ["O-RAN ICS", "Webhooks", "Signing keys", "Tenant keys", "Gate floor"]),
        ("auditor", ["Signing keys", "Tenant keys", "Gate floor"]),
    ],
)
def test_what_a_role_may_not_do_is_not_shown(window: Desk, role: str, parts: list[str]) -> None:
    page = window.sign_in(key_of(window, role))
    window.open("#/integrations/gate-floor")
    expect(page.get_by_text("An admin can set one")).to_be_visible()
    expect(page.get_by_role("button", name="Keep this floor")).to_have_count(0)
    assert page.get_by_role("tab").all_inner_texts() == parts
    page.get_by_role("tab", name="Signing keys").click()
    expect(page.get_by_role("heading", name="Signing keys")).to_be_visible()
    expect(page.get_by_role("button", name="Sign with a new key")).to_have_count(0)
    page.get_by_role("tab", name="Tenant keys").click()
    expect(page.get_by_role("region", name="Tenant keys").first).to_contain_text("in force")
    expect(page.get_by_role("button", name="Begin the next epoch")).to_have_count(0)
    window.open("#/integrations/api-keys")
    expect(page.get_by_role("button", name="Make it")).to_have_count(0)
