"""The audit log in the dashboard: whether its chains hold, and who did what."""

import re
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Request, Route, expect

from tests.support.browser import Desk
from tests.support.released import Released


def test_an_auditor_finds_who_asked_for_a_release_and_that_the_log_is_whole(window: Desk, released: Released) -> None:
    with window.house.http() as http:
        key = http.post("/api-keys", json={"role": "auditor"}).json()["key"]
    page = window.sign_in(key)
    window.open("#/audit")
    expect(page.get_by_role("region", name="Chain check")).to_contain_text("intact")
    page.get_by_label("Operation").select_option("createRelease")
    page.get_by_label("Object, key, chain or request holds").fill(released.suppressed)
    entries = page.get_by_role("region", name="Entries", exact=True)
    row = entries.get_by_role("row").nth(1)
    expect(row).to_contain_text("202, done")
    expect(row).to_contain_text("admin")
    expect(page).to_have_url(
        re.compile(f"text={released.suppressed}.*operation=createRelease|operation=createRelease.*text=")
    )
    page.reload()
    expect(entries.get_by_role("row")).to_have_count(2)
    row.get_by_role("link").click()
    expect(page.get_by_role("heading", name="charging from four")).to_be_visible()


def test_a_chain_that_does_not_hold_says_where(window: Desk) -> None:
    page = window.sign_in()
    broken = {
        "intact": False,
        "entries": 9,
        "chains": 1,
        "breaks": [{"chain": "aud_x", "number": 4, "fault": "missing"}],
    }

    def answer(route: Route) -> None:
        route.fulfill(json=broken)

    page.route("**/audit/check", answer)
    window.open("#/audit")
    check = page.get_by_role("region", name="Chain check")
    expect(check).to_contain_text("1 place where a chain does not hold")
    expect(check.get_by_role("row", name=re.compile("^aud_x 4"))).to_contain_text("it was taken out")


def test_entries_come_in_pages(window: Desk) -> None:
    with window.house.http() as http:
        for _ in range(26):  # two entries each
            http.post("/classify", json={"source": {"records": [{"a": 1}]}})
    page = window.sign_in()
    window.open("#/audit")
    page.get_by_role("button", name="Older").click()
    expect(page).to_have_url(re.compile("page=2"))
    expect(page.get_by_role("button", name="Newer")).to_be_enabled()


def test_who_looks_further_back_finds_what_is_older_than_the_newest_five_thousand(window: Desk) -> None:
    page = window.sign_in()

    def entry(number: int) -> dict[str, object]:
        return {
            "at": "2026-03-01T10:00:00Z", "phase": "answered", "operation": "createRelease", "role": "operator",
            "key": "key_x", "object": f"rel_{number}", "status": 202, "chain": "aud_x", "number": number,
            "request": "req_x", "hash": "00",
        }  # fmt: skip

    def answer(route: Route, request: Request) -> None:
        newest = int(parse_qs(urlsplit(request.url).query).get("after", ["5600"])[0])
        oldest = max(newest - 500, 0)
        data = [entry(number) for number in range(newest, oldest, -1)]
        route.fulfill(json={"data": data, "next": str(oldest) if oldest else None})

    page.route("**/audit?*", answer)
    window.open("#/audit?text=rel_77")
    entries = page.get_by_role("region", name="Entries", exact=True)
    expect(entries).to_contain_text("know the newest 5,000 entries")
    expect(entries.get_by_role("link", name="rel_77", exact=True)).to_have_count(0)
    entries.get_by_role("button", name="Look further back").click()
    expect(entries.get_by_role("link", name="rel_77", exact=True)).to_be_visible()
    expect(entries.get_by_role("button", name="Look further back")).to_have_count(0)
