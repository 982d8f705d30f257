"""Text of others: names of files and columns, labels and evidence are shown as text and never run."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from pratique import Client
from tests.support.browser import Desk
from tests.support.house import House

PICTURE = "<img src=x onerror=window.ran=1>"
SCRIPT = "</script><script>window.ran=1</script>"
BROKEN = '"><svg onload=window.ran=1>'
ROWS = [{PICTURE: "a", SCRIPT: f"{'bc'[n % 2]}{BROKEN}", "plan": PICTURE if n % 3 else SCRIPT} for n in range(12)]


@pytest.fixture(scope="module")
def hostile(running: House, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """A table whose names and values are markup, and a release of it: their ids."""
    path: Path = tmp_path_factory.mktemp("hostile") / "hostile.json"
    path.write_text(json.dumps({"rows": ROWS}))
    with running.client() as client:
        table = client.push_dataset(path, name=PICTURE)["id"]
        release = _release(client, table)
    return table, release


def _release(client: Client, table: str) -> str:
    identity: str = client.create_release({
        "name": SCRIPT, "recipient": "markup-lab", "purpose": PICTURE, "source": {"dataset": table},
        "attributes": {"quasi_identifiers": [PICTURE, SCRIPT], "sensitive": ["plan"]},
        "policy": {"steps": []}, "gate": {"k": {"min": 2}},
    })["id"]  # fmt: skip
    client.wait_release(identity, 60)
    return identity


def inert(page: Page) -> None:
    """Fail if a value became markup: no picture, drawing or script stands in the view, and nothing ran."""
    assert page.locator("main").locator("img, svg, script, iframe").count() == 0
    assert page.evaluate("window.ran") is None


def test_markup_in_a_table_is_text_in_every_view(window: Desk, hostile: tuple[str, str]) -> None:
    table, release = hostile
    page = window.sign_in()
    window.open(f"#/captures/{table}")
    expect(page.get_by_role("heading", name=PICTURE)).to_be_visible()
    expect(page.get_by_role("cell", name=SCRIPT)).to_be_visible()
    inert(page)
    window.open(f"#/workbench?source={table}")
    expect(page.locator("[data-metric=k] dd.after")).to_be_visible()
    expect(page.get_by_role("button", name=SCRIPT, exact=True)).to_be_visible()
    page.get_by_label(f"Class of {PICTURE}", exact=True).select_option("quasi_identifier")
    page.get_by_label(f"Class of {SCRIPT}", exact=True).select_option("quasi_identifier")
    page.get_by_label("Class of plan", exact=True).select_option("sensitive")
    expect(page.get_by_label("Survival per label").first).to_contain_text(SCRIPT)
    page.get_by_role("button", name=PICTURE, exact=True).hover()
    inert(page)
    for address, shown in {
        f"#/releases/{release}": PICTURE,
        f"#/risk/{release}": SCRIPT,
        "#/releases": SCRIPT,
        "#/audit": "answered",
    }.items():
        window.open(address)
        expect(page.locator("main")).to_contain_text(shown)
        page.wait_for_timeout(300)
        inert(page)


def test_evidence_of_a_role_is_no_markup(window: Desk, capture: str) -> None:
    def answer(route: Route) -> None:
        host = {
            "ip": "192.0.2.1", "role": PICTURE, "role_evidence": SCRIPT, "protocols": [BROKEN],
            "protocol_packets": {PICTURE: 3}, "packets": 3, "bytes": 300, "peer_count": 1,
        }  # fmt: skip
        route.fulfill(json={"data": [host], "next": None})

    page = window.sign_in()
    page.route("**/records?unit=host*", answer)
    window.open(f"#/captures/{capture}")
    evidence = page.get_by_role("cell", name=PICTURE).locator("[title]")
    expect(evidence).to_have_attribute("title", SCRIPT)
    chart = page.get_by_role("figure").filter(has_text="Hosts by role")
    expect(chart.locator("canvas")).to_be_visible()
    chart.locator("canvas").hover()
    inert(page)
