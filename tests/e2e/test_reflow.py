"""Zoom and narrow windows: the page flows anew, nothing is cut off, covered, or to be scrolled sideways."""

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.browser import desk
from tests.support.house import House

# In CSS pixels. 200 % zoom (WCAG 1.4.4) of windows of 1440 and 1280, a telephone, and 1280 at 400 % (1.4.10).
WIDTHS = (720, 640, 390, 320)
HEIGHT = 512
ROOM = 180  # milliseconds for charts to take their new width

# What a person cannot get at: beyond the edge with nothing to scroll, under something else, or with its words cut.
FAULTS = """
() => {
  const { clientWidth: width, scrollWidth } = document.documentElement;
  const found = [];
  const words = (e) => (e.getAttribute("aria-label") || e.innerText || e.name || "").trim().slice(0, 50);
  const name = (e) => `${e.tagName.toLowerCase()}.${e.className} "${words(e)}"`;
  const scrolls = (e) => ["auto", "scroll"].includes(getComputedStyle(e).overflowX) && e.scrollWidth > e.clientWidth;
  if (scrollWidth > width) {
    const wide = [...document.querySelectorAll("main *")].filter((e) => e.getBoundingClientRect().right > width + 1);
    found.push(`the page is ${scrollWidth} wide, by ${wide.slice(-1).map(name)}`);
  }
  for (const control of document.querySelectorAll("a[href], button, input, select, textarea, summary")) {
    if (!control.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
    if (control.closest(".hidden-text, .skip")) continue;
    control.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
    const { left, right, height } = control.getBoundingClientRect();
    if (right === left || !height) continue;
    if (left < -1 || right > width + 1) {
      let around = control.parentElement;
      while (around && !scrolls(around)) around = around.parentElement;
      if (!around) found.push(`${name(control)} is cut off at ${Math.round(left)}..${Math.round(right)}`);
    }
    const cut = control.clientWidth > 0 && control.scrollWidth > control.clientWidth + 1;
    if (cut && control.matches("button, a.as-button")) found.push(`${name(control)} has its words cut`);
    const line = control.getClientRects()[0];
    const hit = document.elementFromPoint(line.left + line.width / 2, line.top + line.height / 2);
    if (!hit) continue;
    const own = control.contains(hit) || hit.contains(control) || hit.closest("label")?.contains(control);
    if (!own) found.push(`${name(control)} is covered by ${name(hit)}`);
  }
  scrollTo(0, 0);
  return found;
}
"""


def seen(page: Page, selector: str) -> bool:
    """Whether something of that kind is within the window."""
    found: bool = page.evaluate(
        """(selector) => [...document.querySelectorAll(selector)].some((e) => {
          const box = e.getBoundingClientRect();
          return box.height > 0 && box.top < innerHeight && box.bottom > 0;
        })""",
        selector,
    )
    return found


def test_every_view_fits_at_twice_the_size_and_on_narrow_screens(
    browser: Browser, running: House, views: dict[str, str]
) -> None:
    with desk(browser, running, width=WIDTHS[0], height=HEIGHT, scale=2) as opened:
        page = opened.sign_in()
        faults: list[str] = []
        for address, shown in views.items():
            opened.open(address)
            page.locator(f"main {shown}").first.wait_for()
            for width in WIDTHS:
                page.set_viewport_size({"width": width, "height": HEIGHT})
                page.wait_for_timeout(ROOM)
                faults += [f"{address} at {width}: {fault}" for fault in page.evaluate(FAULTS)]
        assert faults == []


@pytest.mark.parametrize("width", WIDTHS)
def test_the_figures_of_the_workbench_stay_in_sight(browser: Browser, running: House, capture: str, width: int) -> None:
    with desk(browser, running, width=width, height=HEIGHT, scale=2) as opened:
        page = opened.sign_in()
        opened.open(f"#/workbench?source={capture}")
        expect(page.locator("[data-metric=k] dd.after")).to_be_visible()
        for label in ("Class of role", "Add a bound to the gate", "Recipient"):
            page.get_by_label(label, exact=True).scroll_into_view_if_needed()
            assert seen(page, ".strip strong, [data-metric=k] dd.after"), label


def test_a_menu_opens_within_a_narrow_window(browser: Browser, running: House, capture: str) -> None:
    with desk(browser, running, width=320, height=HEIGHT) as opened:
        page = opened.sign_in()
        opened.open(f"#/captures/{capture}")
        page.locator("main canvas").first.wait_for()
        for menu in page.locator("main .menu > button").all():
            menu.click()
            box = page.locator(".menu > .sheet").bounding_box()
            assert box is not None
            assert (box["x"] >= 0, box["x"] + box["width"] <= 320) == (True, True), menu.inner_text()
            page.keyboard.press("Escape")
