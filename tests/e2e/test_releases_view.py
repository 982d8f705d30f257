"""Releases in the dashboard: the list, the life of one, evidence, comparison, and what a recipient sees."""

import random
import re
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Response, expect

from tests.support.browser import Desk, check_accessible, desk
from tests.support.house import House
from tests.support.released import RECIPIENT, Released, request


def test_a_release_that_failed_its_gate_says_which_bound_and_why(window: Desk, released: Released) -> None:
    page = window.sign_in()
    window.open("#/releases?verdict=fail")
    page.get_by_role("link", name="charging as it is").click()
    gate = page.get_by_role("region", name="Gate", exact=True)
    expect(gate).to_contain_text("Below the bound by 1: it had to be at least 2.")
    expect(page.get_by_role("region", name="Life of this release")).to_contain_text("36 records in, 36 out")
    expect(page.locator("[data-metric=uniques]")).to_contain_text("2")
    expect(page.get_by_role("region", name="Evidence")).to_contain_text("There is no certificate")
    page.get_by_role("button", name="Look for changes").click()
    helps = page.get_by_role("region", name="What would help")
    expect(helps.get_by_role("listitem").first).to_contain_text("Then k")
    check_accessible(page)


def test_a_passed_release_hands_out_its_records_and_its_certificate(
    browser: Browser, running: House, released: Released, tmp_path: Path
) -> None:
    with desk(browser, running, color_scheme="dark") as opened:
        page = opened.sign_in()
        opened.open(f"#/releases/{released.suppressed}")
        evidence = page.get_by_role("region", name="Records and evidence")
        evidence.get_by_text("Certificate, signed").click()
        expect(evidence).to_contain_text("pratique cert verify")
        with page.expect_download() as found:
            evidence.get_by_role("link", name="CSV").click()
        found.value.save_as(tmp_path / "records.csv")
        assert len((tmp_path / "records.csv").read_text().splitlines()) == 1 + 34
        for part in ("Certificate", "Bundle (zip)"):
            with page.expect_download() as found:
                evidence.get_by_role("link", name=part).click()
            assert found.value.failure() is None
        check_accessible(page)


def test_a_recipient_sees_no_figure_of_before_on_a_narrow_screen(
    browser: Browser, running: House, released: Released
) -> None:
    with running.http() as http:
        key = http.post("/api-keys", json={"role": "recipient", "recipient": RECIPIENT}).json()["key"]
    told: list[Any] = []

    def hear(response: Response) -> None:
        if response.url.endswith("/posture"):
            told.append(response.json())

    with desk(browser, running, width=390) as opened:
        page = opened.sign_in(key)
        page.on("response", hear)
        opened.open(f"#/releases/{released.suppressed}")
        expect(page.locator("[data-metric=k] .after")).to_have_text("4")
        assert set(page.locator(".metric .before").all_inner_texts()) == {""}
        assert [next(iter(posture["after"])) for posture in told if "before" not in posture] == ["rows"]
        expect(page.get_by_role("button", name="Withdraw")).to_have_count(0)
        expect(page.get_by_role("link", name="Where the risk sits")).to_have_count(0)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        check_accessible(page)


def test_two_releases_are_compared_from_the_list_and_by_their_address(window: Desk, released: Released) -> None:
    page = window.sign_in()
    window.open("#/releases")
    for name in ("charging as it is", "charging from four"):
        box = page.get_by_role("checkbox", name=f"Compare {name}")
        box.focus()
        page.keyboard.press("Space")
        expect(box).to_be_checked()
    check_accessible(page)
    page.get_by_role("link", name="Compare the two").click()
    page.get_by_role("checkbox", name="Differences only").check()
    expect(page).to_have_url(re.compile("only=1"))
    other = window.context.new_page()
    other.goto(page.url)
    figures = other.get_by_role("region", name="Figures of the released records")
    expect(figures.get_by_role("row", name=re.compile(r"^k 1 4 better$"))).to_be_visible()
    expect(figures.get_by_role("row", name=re.compile("^Records 36 34"))).to_be_visible()
    expect(other.get_by_text("No difference.")).to_have_count(1)  # of what the columns are
    check_accessible(other)


def test_withdrawing_is_asked_for_twice_in_place(window: Desk) -> None:
    with window.house.client() as client:
        identity = client.create_release(request("charging in error", []))["id"]
        client.wait_release(identity, 60)
    page = window.sign_in()
    window.open(f"#/releases/{identity}")
    page.get_by_role("button", name="Withdraw …").click()
    expect(page.get_by_role("button", name="Keep it")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Withdraw …")).to_be_focused()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Withdraw it").click()
    expect(page.get_by_role("link", name="charging as it is").first).to_be_visible()
    expect(page.get_by_role("link", name="charging in error")).to_have_count(0)
    window.expect_refusals(410)
    window.open(f"#/releases/{identity}")
    expect(page.get_by_role("heading", name="This release was withdrawn")).to_be_visible()


def test_a_running_release_is_watched_and_cancelled(window: Desk) -> None:
    chance = random.Random(1)
    names = [f"q{place}" for place in range(11)]
    body = request("a long run", []) | {
        "source": {"records": [{name: chance.randrange(9) for name in names} for _ in range(2000)]},
        "attributes": {"quasi_identifiers": names},
        "attacks": {"repetitions": 2000},  # more than anybody waits for
    }
    with window.house.client() as client:
        identity = client.create_release(body)["id"]
    page = window.sign_in()
    window.open(f"#/releases/{identity}")
    life = page.get_by_role("region", name="Life of this release")
    expect(life.get_by_role("progressbar", name="Shards of the adversaries")).to_be_visible()
    expect(page.locator("[data-metric=k] .after")).to_have_text("1")  # figures come before the adversaries
    page.get_by_role("button", name="Cancel …").click()
    page.get_by_role("button", name="Stop it").click()
    expect(life).to_contain_text("Cancelled")
    expect(page.get_by_role("button", name="Cancel …")).to_have_count(0)
