"""The keyboard alone: every control is reached by Tab, shows that it has the focus, and does what it says."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.browser import Desk
from tests.support.released import Released

MOST_TABS = 250
MOST_CONTROLS = 400
# Writes down what gets the focus, and whether that shows and is in the window.
LISTEN = """
() => {
  window.visited = new Set();
  window.unseen = [];
  addEventListener("focusin", ({ target }) => {
    if (visited.has(target)) return;
    visited.add(target);
    const style = getComputedStyle(target);
    const box = target.getBoundingClientRect();
    const ringed = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
    const inside = box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth;
    if (!ringed || !inside) unseen.push(`${target.tagName} ${target.innerText || target.name} ${target.className}`);
  });
}
"""
OWED = """
() => {
  const able = "a[href], button:not(:disabled), input:not(:disabled), select:not(:disabled), summary, [tabindex='0']";
  const shown = [...document.querySelectorAll(able)].filter((e) => e.tabIndex >= 0 && e.checkVisibility());
  return shown.filter((e) => !visited.has(e)).map((e) => `${e.tagName} ${e.innerText || e.name} ${e.className}`);
}
"""


def tab_to(page: Page, target: Locator) -> None:
    """Go on with the Tab key until the target has the focus, and see that it shows."""
    target.wait_for()
    for _ in range(MOST_TABS):
        if target.evaluate("(element) => element === document.activeElement"):
            assert target.evaluate("(element) => getComputedStyle(element).outlineStyle") != "none"
            return
        page.keyboard.press("Tab")
    pytest.fail(f"no way to {target} by the keyboard")


def test_a_release_is_made_without_a_mouse(window: Desk, capture: str) -> None:
    page = window.open()
    tab_to(page, page.get_by_label("API key"))
    page.keyboard.type(window.house.key)
    page.keyboard.press("Enter")
    tab_to(page, page.get_by_role("navigation", name="Views").get_by_role("link", name="Workbench"))
    page.keyboard.press("Enter")
    expect(page.locator("[data-metric=k] dd.after")).to_be_visible()
    page.keyboard.press("/")
    expect(page.locator("main select").first).to_be_focused()
    tab_to(page, page.get_by_label("Start from"))
    undo = page.get_by_role("button", name="Undo")
    page.keyboard.press("ArrowDown")  # the suggested classes
    for name in ("C0", "C1", "C2", "C3", "C4"):
        page.keyboard.press("ArrowDown")
        expect(undo).to_have_attribute("title", re.compile(f"policy {name}"))
    expect(page.locator("[data-metric=k] dd.after")).not_to_have_text("1")  # of the newest source, whichever it is
    tab_to(page, page.get_by_label("Recipient"))
    page.keyboard.type("no-mouse")
    tab_to(page, page.get_by_role("button", name="Release what passes the gate"))
    page.keyboard.press("Enter")
    link = page.get_by_role("link", name="Certificate, files and posture")
    link.wait_for(timeout=60_000)
    tab_to(page, link)
    page.keyboard.press("Enter")
    expect(page.get_by_role("region", name="Records and evidence")).to_contain_text("Certificate")
    page.keyboard.press("?")
    expect(page.get_by_role("region", name="Keys")).to_be_visible()


def test_every_control_is_reached_by_tab_and_shows_the_focus(window: Desk, views: dict[str, str]) -> None:
    page = window.sign_in()
    faults: list[str] = []
    for address, shown in views.items():
        window.open(address)
        page.locator(f"main {shown}").first.wait_for()
        page.wait_for_timeout(300)
        page.locator("body").evaluate(
            "(body) => { body.tabIndex = -1; body.focus(); body.removeAttribute('tabindex'); }"
        )
        page.evaluate(LISTEN)
        for _ in range(MOST_CONTROLS):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement === document.body || !document.hasFocus()"):
                break
        faults += [f"{address}: no Tab leads to {owed}" for owed in page.evaluate(OWED)]
        faults += [f"{address}: not seen when focused: {unseen}" for unseen in page.evaluate("window.unseen")]
    assert faults == []


def test_releases_are_picked_compared_and_looked_into(window: Desk, released: Released) -> None:
    page = window.sign_in()
    tab_to(page, page.get_by_role("navigation", name="Views").get_by_role("link", name="Releases"))
    page.keyboard.press("Enter")
    for name in ("charging from four", "charging as it is"):
        tab_to(page, page.get_by_role("checkbox", name=f"Compare {name}"))
        page.keyboard.press("Space")
    tab_to(page, page.get_by_role("link", name="Compare the two"))
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("releases/compare"))
    expect(page.locator("main canvas").first).to_be_visible()
    page.go_back()  # Alt and the left arrow; a browser without a window knows no such key
    expect(page.get_by_role("table", name="Releases")).to_be_visible()
    page.keyboard.press("/")
    expect(page.get_by_label("Verdict")).to_be_focused()
    page.keyboard.type("fail")
    expect(page).to_have_url(re.compile("verdict=fail"))
    expect(page.get_by_role("link", name="charging from four")).to_have_count(0)
    tab_to(page, page.get_by_role("link", name="charging as it is"))
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(released.raw))


def test_a_set_of_fields_is_looked_at_and_a_table_sorted(window: Desk, released: Released) -> None:
    page = window.sign_in()
    window.open(f"#/risk/{released.raw}")
    sets = page.get_by_role("table", name="Every set of fields")
    tab_to(page, sets.get_by_role("button", name="station + hour", exact=True))
    page.keyboard.press("Enter")
    expect(page.locator(".told")).to_contain_text("station + hour")
    head = sets.get_by_role("columnheader").first
    page.keyboard.down("Shift")
    for _ in range(MOST_TABS):
        if head.get_by_role("button").evaluate("(element) => element === document.activeElement"):
            break
        page.keyboard.press("Tab")
    page.keyboard.up("Shift")
    page.keyboard.press("Enter")
    expect(head).to_have_attribute("aria-sort", "ascending")


def test_an_adversary_is_set_with_arrows_and_run(window: Desk, released: Released) -> None:
    page = window.sign_in()
    window.open(f"#/attacks/{released.suppressed}")
    tab_to(page, page.get_by_label("Chance that a field is forgotten", exact=True))
    before = page.get_by_label("Chance that a field is forgotten", exact=True).input_value()
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    expect(page.get_by_label("Chance that a field is forgotten", exact=True)).not_to_have_value(before)
    tab_to(page, page.get_by_role("button", name="Run", exact=True))
    page.keyboard.press("Enter")
    ran = page.get_by_role("region", name="Further runs").get_by_role("checkbox").first
    expect(ran).to_be_enabled(timeout=60_000)
    tab_to(page, ran)
    page.keyboard.press("Space")
    expect(page).to_have_url(re.compile("hide="))


def test_a_study_is_chosen_with_arrows_and_another_asked_for(window: Desk, study: dict[str, str]) -> None:
    page = window.sign_in()
    window.open("#/explore")
    tabs = page.get_by_role("tablist").get_by_role("tab")
    tab_to(page, page.get_by_role("tab", selected=True))
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", selected=True)).not_to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("tab", selected=True)).to_be_focused()
    assert tabs.count() == 3
    window.open(f"#/explore/sweeps/{study['sweeps']}")
    new = page.get_by_role("link", name="New sweep …")
    expect(new).to_be_visible()
    tab_to(page, new)
    page.keyboard.press("ArrowDown")
    expect(new).not_to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(new).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator(".ticks input").first).to_be_visible()
    page.keyboard.press("/")
    expect(page.locator("main input, main select").first).to_be_focused()


def test_a_key_is_made_and_revoked(window: Desk) -> None:
    page = window.sign_in()
    window.open("#/integrations")
    tab_to(page, page.get_by_role("tab", selected=True))
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page.get_by_role("tab", selected=True)).to_have_text("API keys")
    tab_to(page, page.get_by_label("Role"))
    page.keyboard.type("aud")
    tab_to(page, page.get_by_label("Name"))
    page.keyboard.type("by keyboard")
    page.keyboard.press("Enter")
    tab_to(page, page.get_by_role("button", name="I have kept it"))
    page.keyboard.press("Enter")
    tab_to(page, page.get_by_role("button", name="Revoke by keyboard"))
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Keep it")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Revoke by keyboard")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("row", name=re.compile("^by keyboard"))).to_contain_text("revoked")
