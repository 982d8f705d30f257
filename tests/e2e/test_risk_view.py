"""Risk in the dashboard: who stands alone, which fields give a record away, whose risk a figure is."""

import re
from pathlib import Path

from playwright.sync_api import Browser, expect

from tests.support.browser import Desk, check_accessible, desk
from tests.support.house import House
from tests.support.released import Released


def test_singletons_and_the_three_attackers_are_told_with_their_figures(window: Desk, released: Released) -> None:
    page = window.sign_in()
    window.open(f"#/risk/{released.raw}")
    expect(page.get_by_text("2 records stand alone")).to_be_visible()
    # Of 36 records 2 are alone and 4 stand in a class of four: 6 are below the target of five.
    expect(page.get_by_text("16.7 % of the records stand in classes smaller than the target of 5.")).to_be_visible()
    attackers = page.get_by_role("region", name="Whose risk a figure is")
    expect(attackers.locator("dt", has_text="Prosecutor").locator("xpath=..")).to_contain_text("100 %")
    expect(attackers.locator("dt", has_text="Marketer").locator("xpath=..")).to_contain_text("13.9 %")  # 5 / 36
    expect(attackers.locator("dt", has_text="Journalist").locator("xpath=..")).to_contain_text("not computed")
    expect(page.locator("canvas")).to_have_count(4)
    check_accessible(page)


def test_a_set_of_fields_is_looked_at_by_keyboard_and_by_its_address(
    window: Desk, released: Released, tmp_path: Path
) -> None:
    page = window.sign_in()
    window.open(f"#/risk/{released.raw}")
    page.get_by_role("button", name="hour + connector", exact=True).focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"set=hour"))
    page.reload()
    # (08, CCS) (09, CCS) (10, Type2) (11, CCS) (08, Type2): five tuples over 36 records, two of them of one record.
    told = page.get_by_role("status").filter(has_text="hour + connector")
    expect(told).to_contain_text("5 distinct combinations")
    expect(told).to_contain_text("13.9 %")
    expect(told).to_contain_text("2 records are alone by it")
    figure = page.locator("figure", has_text="Which two fields give a record away")
    figure.get_by_role("button", name="Export").click()
    with page.expect_download() as found:
        figure.get_by_role("button", name="SVG").click()
    found.value.save_as(tmp_path / "map.svg")
    assert (tmp_path / "map.svg").read_text().startswith("<svg")
    figure.get_by_role("button", name="Table", exact=True).click()
    expect(figure.get_by_role("row")).to_have_count(1 + 6)  # three fields, three pairs


def test_an_auditor_is_shown_no_record(browser: Browser, running: House, released: Released) -> None:
    with running.http() as http:
        key = http.post("/api-keys", json={"role": "auditor"}).json()["key"]
    with desk(browser, running, color_scheme="dark", width=390) as opened:
        page = opened.sign_in(key)
        opened.open(f"#/risk/{released.raw}")
        expect(page.get_by_text("they are for the operator")).to_be_visible()
        expect(page.get_by_role("region", name="Smallest classes")).to_have_count(0)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        check_accessible(page)
