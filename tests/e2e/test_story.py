"""The whole story in one browser: from an upload to a certificate, and what its recipient is shown of it."""

import json
import shutil
from pathlib import Path
from typing import get_args

import pytest
from playwright.sync_api import Browser, Response, expect

from pratique.verify import verify
from tests.support.browser import Scheme, check_accessible, desk
from tests.support.house import House

WIDTHS = {"light": 1440, "dark": 390}


def make_key(house: House, body: dict[str, str]) -> str:
    with house.http() as http:
        key: str = http.post("/api-keys", json=body).json()["key"]
    return key


def test_from_an_upload_to_a_certificate_and_to_who_receives_it(
    browser: Browser, running: House, sample: Path, tmp_path: Path
) -> None:
    with desk(browser, running) as opened:
        page = opened.sign_in(make_key(running, {"role": "operator"}))
        page.get_by_label("Pilot").fill("story")
        page.locator("input[type=file]").set_input_files(shutil.copy(sample, tmp_path / "story.pcapng"))
        page.get_by_role("heading", name="story.pcapng").wait_for()
        page.get_by_role("link", name="Open in the workbench").click(timeout=60_000)
        page.get_by_label("Start from").select_option("C4")
        expect(page.locator("[data-metric=k] dd.after")).to_have_text("3")
        page.get_by_label("Bound of k", exact=True).fill("3")
        expect(page.get_by_role("region", name="Gate")).to_contain_text("pass")
        page.get_by_label("Recipient").fill("story-lab")
        page.get_by_label("Name", exact=True).fill("a whole story")
        page.get_by_role("button", name="Release what passes the gate").click()
        page.get_by_role("link", name="Certificate, files and posture").click(timeout=60_000)
        expect(page.get_by_role("region", name="Life of this release")).to_contain_text("out")
        files = {}
        for name in ("CSV", "Certificate"):
            with page.expect_download() as found:
                page.get_by_role("link", name=name, exact=True).click()
            files[name] = tmp_path / f"records.{name.lower()}"
            found.value.save_as(files[name])
        (tmp_path / "keys.json").write_bytes(page.request.get(f"{running.url}/keys/jwks.json").body())
        verified = verify(files["Certificate"], tmp_path / "keys.json", [files["CSV"]])
        assert verified.files[str(files["CSV"])].endswith("csv")
        release = page.url.rsplit("/", 1)[-1]
    key = make_key(running, {"role": "recipient", "recipient": "story-lab"})
    with desk(browser, running) as opened:
        bodies: list[Response] = []

        def hear(response: Response) -> None:
            bodies.append(response)

        opened.context.on("response", hear)
        page = opened.sign_in(key)
        page.get_by_role("link", name="a whole story").click()
        expect(page.locator("[data-metric=k] .after")).to_have_text("3")
        expect(page.get_by_role("link", name="CSV", exact=True)).to_be_visible()
        assert "before" not in page.locator("main").inner_text().lower()
        assert set(page.locator(".metric .before").all_inner_texts()) <= {""}
        answers = [one.json() for one in bodies if "json" in one.headers.get("content-type", "") and one.status != 304]
        assert any(isinstance(one, dict) and one.get("release") == release and "after" in one for one in answers)
        assert not [one for one in answers if '"before"' in json.dumps(one)]


@pytest.mark.parametrize("scheme", get_args(Scheme))
def test_every_view_is_accessible_and_fits_its_window(
    browser: Browser, running: House, views: dict[str, str], scheme: Scheme
) -> None:
    with desk(browser, running, color_scheme=scheme, width=WIDTHS[scheme]) as opened:
        page = opened.sign_in()
        wide = []
        for address, shown in views.items():
            opened.open(address)
            page.locator(f"main {shown}").first.wait_for()
            check_accessible(page)
            if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
                wide.append(address)
        assert wide == []
