"""Attacks in the dashboard: adversaries of a release beside others with further parameters."""

from playwright.sync_api import Browser, expect

from tests.support.browser import Desk, check_accessible, desk
from tests.support.house import House
from tests.support.released import Released


def test_adversaries_run_again_with_other_parameters_stand_beside_those_of_the_release(
    window: Desk, released: Released
) -> None:
    page = window.sign_in()
    window.open(f"#/attacks/{released.raw}")
    figure = page.locator("figure", has_text="Chance to name a record")
    expect(figure.locator("canvas")).to_be_visible()
    page.get_by_label("Chance that a field is forgotten", exact=True).fill("0")
    page.get_by_label("Chance that a field is right", exact=True).fill("1")
    page.get_by_label("Repetitions").fill("5")
    other = window.context.new_page()
    other.goto(page.url)
    expect(other.get_by_label("Chance that a field is right", exact=True)).to_have_value("1")
    page.get_by_role("button", name="Run", exact=True).click()
    runs = page.get_by_role("region", name="Further runs")
    expect(runs.get_by_role("listitem")).to_contain_text("partial, forgets 0; linkage, right 1")
    figure.get_by_role("button", name="Table", exact=True).click()
    # Who forgets nothing, or is never wrong, gets the exact-QI bound: 5 classes / 36 records.
    for name in ("exact QI", "partial, forgets 0", "linkage, right 1"):
        expect(
            figure.get_by_role("row", name=f"{name} ").filter(has=page.get_by_role("cell", name=name, exact=True))
        ).to_contain_text("13.9 %")
    expect(figure.get_by_role("row")).to_have_count(1 + 5)
    runs.get_by_role("checkbox").uncheck()
    expect(figure.get_by_role("row")).to_have_count(1 + 3)
    check_accessible(page)


def test_a_run_can_be_cancelled(window: Desk, released: Released) -> None:
    page = window.sign_in()
    window.open(f"#/attacks/{released.raw}?repetitions=10000")
    page.get_by_role("button", name="Run", exact=True).click()
    runs = page.get_by_role("region", name="Further runs")
    runs.get_by_role("button", name="Cancel").click()
    expect(runs.get_by_role("listitem").filter(has_text="cancelled")).to_have_count(1)
    expect(runs.get_by_role("button", name="Cancel")).to_have_count(0)


def test_an_auditor_looks_and_runs_nothing(browser: Browser, running: House, released: Released) -> None:
    with running.http() as http:
        key = http.post("/api-keys", json={"role": "auditor"}).json()["key"]
    with desk(browser, running, color_scheme="dark", width=390) as opened:
        page = opened.sign_in(key)
        opened.open(f"#/attacks/{released.suppressed}?scale=close")
        expect(page.locator("canvas")).to_be_visible()
        expect(page.get_by_role("button", name="Run", exact=True)).to_have_count(0)
        expect(page.get_by_label("Scale")).to_have_value("close")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        check_accessible(page)
