"""A browser that is watched: no error, no breach of the content policy, no request that leaves the origin."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar, Literal
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request, expect, sync_playwright

from tests.support.house import House

CHROMIUM = Path("/usr/bin/chromium")
FLAGS = (
    "--no-sandbox",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
AXE = Path(__file__).parents[1] / "e2e/vendor/axe.min.js"
Scheme = Literal["light", "dark"]
PATIENCE = 15_000  # milliseconds; a busy machine takes its time, and what is there at once is not waited for
HEAVY = ("serious", "critical")
# Runs before any script of the page: what the policy forbids is written down, not only logged.
WATCH_POLICY = """
window.breaches = [];
addEventListener("securitypolicyviolation", (event) => breaches.push(`${event.violatedDirective} ${event.blockedURI}`));
"""


@contextmanager
def chromium() -> Iterator[Browser]:
    """Debian's Chromium; skips the tests where there is none."""
    if not CHROMIUM.exists():
        pytest.skip(f"no browser at {CHROMIUM}: `make e2e` installs it")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()


class Desk:
    """A browser window on one house, and everything that it should not have done."""

    _sessions: ClassVar[dict[tuple[str, str], tuple[str, str]]] = {}

    def __init__(self, context: BrowserContext, house: House) -> None:
        self.context, self.house = context, house
        self.errors: list[str] = []
        self.strangers: list[str] = []
        self.expected: set[int] = set()  # statuses of refusals that a test provokes: Chromium logs each as an error
        context.add_init_script(WATCH_POLICY)
        context.on("request", self._requested)
        context.on("page", self._watch)
        self.page = context.new_page()

    def expect_refusals(self, *statuses: int) -> None:
        """Take no offence at answers with these statuses from now on."""
        self.expected |= set(statuses)

    def open(self, address: str = "") -> Page:
        """Open an address of the dashboard, such as `#/captures`."""
        self.page.goto(f"{self.house.url}/{address}")
        return self.page

    def sign_in(self, key: str | None = None, *, afresh: bool = False) -> Page:
        """Sign in as a person does, with a key; but for `afresh`, windows of one house and key share a session."""
        key = key or self.house.key
        shared = self._sessions.get((self.house.url, key))
        if shared is not None and not afresh:
            self.context.add_cookies([{"name": shared[0], "value": shared[1], "url": self.house.url}])
        page = self.open()
        if shared is None or afresh:
            page.get_by_label("API key").fill(key)
            page.get_by_role("button", name="Sign in").click()
        page.get_by_role("navigation", name="Views").wait_for()
        if shared is None and not afresh:
            (cookie,) = self.context.cookies()
            self._sessions[self.house.url, key] = cookie["name"], cookie["value"]
        return page

    def check(self) -> None:
        """Fail if anything happened that should not."""
        breaches = [breach for page in self.context.pages for breach in page.evaluate("window.breaches ?? []")]
        assert (self.errors, breaches, self.strangers) == ([], [], [])

    def _watch(self, page: Page) -> None:
        page.on("console", self._logged)
        page.on("pageerror", lambda error: self.errors.append(str(error)))

    def _logged(self, message: ConsoleMessage) -> None:
        refused = any(f"status of {status}" in message.text for status in self.expected)
        if message.type == "error" and not refused:
            self.errors.append(f"{message.text} ({message.location.get('url', '')})")

    def _requested(self, request: Request) -> None:
        address = urlsplit(request.url)
        if address.scheme not in ("data", "blob") and f"{address.scheme}://{address.netloc}" != self.house.url:
            self.strangers.append(request.url)


@contextmanager
def desk(
    browser: Browser,
    house: House,
    color_scheme: Scheme = "light",
    width: int = 1440,
    height: int = 900,
    scale: float = 1,
) -> Iterator[Desk]:
    """A fresh window on a house, of so many CSS pixels, each `scale` pixels wide; the check comes at its end."""
    context = browser.new_context(
        viewport={"width": width, "height": height},
        device_scale_factor=scale,
        color_scheme=color_scheme,
        locale="en-GB",
    )
    context.set_default_timeout(PATIENCE)
    expect.set_options(timeout=PATIENCE)
    try:
        made = Desk(context, house)
        yield made
        made.check()
    finally:
        context.close()


def check_accessible(page: Page) -> None:
    """Fail on what axe-core calls serious or critical (WCAG 2.2 A and AA)."""
    # The script goes in through the debugger, which the content policy does not hold.
    page.evaluate(AXE.read_text() + "\n;0")
    options = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"], "resultTypes": ["violations"]}
    found = page.evaluate(f"axe.run(document, {json.dumps(options)})")
    heavy = [
        f"{breach['id']}: {node['target']} {node['failureSummary']}"
        for breach in found["violations"]
        if breach["impact"] in HEAVY
        for node in breach["nodes"]
    ]
    assert heavy == [], "\n".join(heavy)
