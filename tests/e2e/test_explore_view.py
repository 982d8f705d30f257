"""Studies in the dashboard: a sweep, a recommendation and a utility study, asked for, followed and read."""

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.support.browser import Desk
from tests.support.house import House
from tests.support.released import charging


@pytest.fixture(scope="module")
def table(running: House, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The table of the releases as a dataset: 36 rows in 5 classes."""
    path = tmp_path_factory.mktemp("table") / "charging.json"
    path.write_text(json.dumps({"rows": charging()}))
    with running.client() as client:
        identity: str = client.push_dataset(path, name="charging")["id"]
        client.wait_dataset(identity, 60)
    return identity


def finished(page: Page) -> None:
    expect(page.locator(".study-head")).to_contain_text("completed", timeout=60_000)


def test_a_sweep_is_started_followed_and_compared(window: Desk, capture: str) -> None:
    page = window.sign_in()
    window.open(f"#/explore/sweeps/new?sources={capture}&configurations=C0,C1,C4,C6&repetitions=1")
    page.get_by_label("Name").fill("four of them")
    page.get_by_label("Each again with class support").fill("8")
    expect(page.get_by_text("8 releases will be measured.")).to_be_visible()
    page.get_by_role("button", name="Start").click()
    expect(page).to_have_url(re.compile("#/explore/sweeps/swp_"))
    finished(page)
    expect(page.get_by_text("No record is left under C0 τ 8")).to_be_visible()
    chart = page.get_by_role("figure").filter(has_text="Risk against survival")
    label = chart.get_by_role("img").get_attribute("aria-label") or ""
    with window.house.client() as client:
        sweep: dict[str, Any] = client.sweep(page.url.rsplit("/", 1)[-1])
    assert (sweep["name"], len(sweep["releases"])) == ("four of them", 8)
    measured = [one for one in sweep["averages"] if one["exact_mean"] is not None]  # C0 has nobody in a class of 8
    lowest = min(measured, key=lambda one: one["exact_mean"])
    assert lowest["configuration"] in label
    page.get_by_role("figure").filter(has_text="by configuration").get_by_role("button", name="Table").click()
    page.get_by_label("Figure").select_option("k")
    row = page.get_by_role("region", name="k by configuration").get_by_role("row", name=re.compile("^C6 all"))
    c6 = next(one for one in sweep["averages"] if one["configuration"] == "C6")
    assert row.locator("td").all_inner_texts()[2:] == [str(int(c6["k_mean"])), "0", "1"]
    expect(page.get_by_text("part of the agreement is by construction")).to_be_visible()
    r = next(one for one in sweep["correlations"] if (one["index"], one["measure"]) == ("ppi_prime", "exact"))
    table = page.get_by_role("region", name="Correlation of each index")
    expect(table.get_by_role("row", name=re.compile("^PPI′ exact QI"))).to_contain_text(f"{r['r']:.2f}")
    page.get_by_label("Risk is that of").select_option("linkage")
    expect(page).to_have_url(re.compile("risk=linkage"))


def test_a_sweep_can_be_cancelled_while_it_runs(window: Desk, capture: str) -> None:
    page = window.sign_in()
    window.open(f"#/explore/sweeps/new?sources={capture}&taus=2,3,5&repetitions=1")
    page.get_by_role("button", name="Start").click()
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator(".study-head")).to_contain_text("cancelled")
    expect(page.get_by_text("it has no figures")).to_be_visible()


def test_a_utility_study_can_be_cancelled_while_it_runs(window: Desk, capture: str) -> None:
    page = window.sign_in()
    window.open(f"#/explore/utility/new?source={capture}&repeats=200")
    page.get_by_role("button", name="Start").click()
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator(".study-head")).to_contain_text("cancelled")


def test_a_recommended_policy_opens_in_the_workbench_with_the_predicted_figures(window: Desk, table: str) -> None:
    page = window.sign_in()
    window.open(f"#/explore/recommendations/new?source={table}&seconds=10")
    page.get_by_label("k at least").fill("4")
    page.get_by_label("Class of plan").select_option("sensitive")
    page.get_by_role("button", name="Start").click()
    finished(page)
    found = page.get_by_role("region", name="Recommended")
    expect(found).to_contain_text("pass")
    with window.house.client() as client:
        study = client.recommendation(page.url.rsplit("/", 1)[-1])
    predicted = study["recommended"]["predicted"]
    page.get_by_role("button", name="Coarser").click()
    expect(page.get_by_role("region", name="Chosen on the front")).to_be_visible()
    expect(page).to_have_url(re.compile("at=0"))
    found.get_by_role("link", name="Open in the workbench").click()
    expect(page.locator("[data-metric=k] dd.after")).to_have_text(str(predicted["k"]))
    expect(page.locator("[data-metric=uniques] dd.after")).to_have_text(str(predicted["uniques"]))
    expect(page.get_by_label("Bound of k", exact=True)).to_have_value("4")


def test_a_gate_that_nothing_passes_says_what_to_do(window: Desk, table: str) -> None:
    page = window.sign_in()
    window.open(f"#/explore/recommendations/new?source={table}&k=30&survival=0.99&seconds=10&l=3")
    page.get_by_role("button", name="Start").click()
    finished(page)
    expect(page.get_by_role("heading", name="Nothing in the search passes this gate")).to_be_visible()


def test_utility_is_shown_against_survival_and_an_auditor_only_reads_it(window: Desk, table: str) -> None:
    asked = {"sources": [table], "label": "plan", "features": ["station", "hour"], "taus": [1, 2, 11], "repeats": 2}
    with window.house.client() as client:
        study = client.create_utility({**asked, "trees": 5, "name": "plans"})["id"]
        client.wait_utility(study, 60)
    with window.house.http() as http:
        key = http.post("/api-keys", json={"role": "auditor"}).json()["key"]
    page = window.sign_in(key)
    window.open(f"#/explore/utility/{study}")
    chart = page.get_by_role("figure").filter(has_text="Utility against survival")
    chart.get_by_role("button", name="Table").click()
    rows = chart.get_by_role("row")
    assert rows.count() == 1 + 3 * 3  # a head, and three scores at each of three thresholds
    expect(rows.nth(1)).to_contain_text("macro-F1")
    page.get_by_label("Along").select_option("tau")
    expect(page).to_have_url(re.compile("x=tau"))
    expect(page.get_by_role("link", name="New utility study")).to_have_count(0)
    window.open("#/explore/utility/new")
    expect(page.get_by_role("button", name="Start")).to_have_count(0)
