"""The workbench: from a file to a verdict, with every figure in sight, and back again."""

import re
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.support.browser import Desk


def figure(page: Page, name: str) -> str:
    """A figure as it is after the policy."""
    return page.locator(f"[data-metric={name}] dd.after").inner_text()


def opened(window: Desk, capture: str) -> Page:
    page = window.sign_in()
    window.open(f"#/workbench?source={capture}")
    expect(page.locator("[data-metric=k] dd.after")).to_be_visible()
    return page


def test_from_upload_to_verdict(window: Desk, sample: Path) -> None:
    page = window.sign_in()
    page.get_by_label("Pilot").fill("lab")
    page.locator("input[type=file]").set_input_files(sample)
    expect(page).to_have_url(re.compile("#/captures/cap_"))
    page.get_by_role("link", name="Open in the workbench").click(timeout=60_000)
    expect(page.locator("[data-metric=k] dd.after")).to_be_visible()

    page.get_by_label("Start from").select_option("C4")
    typical = page.locator("[data-metric=k_rw] dd.after")
    expect(page.locator("[data-metric=k] dd.after")).to_have_text("3")
    fine = typical.inner_text()
    assert page.get_by_label("Class of ip").input_value() == "quasi_identifier"
    assert page.get_by_label("Class of imsi").input_value() == "drop"

    page.get_by_label("IPv4 / of ip").fill("8")
    expect(typical).not_to_have_text(fine)
    coarse = typical.inner_text()
    page.get_by_label("IPv4 / of ip").blur()
    page.keyboard.press("u")
    expect(typical).to_have_text(fine)
    page.keyboard.press("r")
    expect(typical).to_have_text(coarse)

    expect(page).to_have_url(re.compile(r"#/workbench\?s="))
    other = window.context.new_page()
    other.goto(page.url)
    expect(other.locator("[data-metric=k_rw] dd.after")).to_have_text(coarse)
    assert other.get_by_label("IPv4 / of ip").input_value() == "8"
    other.close()

    page.get_by_label("Recipient").fill("fl-aggregator-1")
    page.get_by_label("Purpose").fill("round 12")
    page.get_by_role("button", name="Release what passes the gate").click()
    asked = page.get_by_role("status", name="The release asked for")
    expect(asked).to_contain_text("pass", timeout=60_000)
    identity = re.search(r"rel_\w+", asked.get_by_role("link").get_attribute("href") or "")
    assert identity is not None
    with window.house.client() as client:
        posture = client.posture(identity[0])
    assert (posture["verdict"], f"{posture['after']['k_rw']:.3f}".rstrip("0")) == ("pass", coarse)


def test_what_is_changed_is_marked_and_a_lone_record_is_told(window: Desk, capture: str) -> None:
    page = opened(window, capture)
    records = page.get_by_role("region", name="Records before and after")
    expect(records.locator("td.changed").first).to_contain_text("≠")
    page.get_by_label("Show").select_option("changed")
    expect(records.locator("tbody tr").first).to_be_visible()
    alone = int(figure(page, "uniques"))
    page.get_by_label("Show").select_option("alone")
    assert records.locator("tbody tr").count() == min(alone, 25)


def test_a_suggestion_is_one_step_that_can_be_undone(window: Desk, capture: str) -> None:
    page = opened(window, capture)
    before = figure(page, "uniques")
    chip = page.get_by_role("region", name="Suggestions").get_by_role("button").first
    expect(chip).to_contain_text("→")
    chip.click()
    expect(page.locator("[data-metric=uniques] dd.after")).not_to_have_text(before)
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("[data-metric=uniques] dd.after")).to_have_text(before)
    expect(page.get_by_role("button", name="Undo")).to_be_disabled()


def test_the_reason_of_a_class_is_shown_to_who_comes_by_keyboard(window: Desk, capture: str) -> None:
    page = opened(window, capture)
    page.get_by_role("button", name="ip", exact=True).focus()
    expect(page.get_by_text("An address is known outside the table")).to_be_visible()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_text("What a device is for is known")).to_be_visible()
    expect(page.get_by_text("An address is known outside the table")).to_be_hidden()


def test_a_definition_is_one_click_away(window: Desk, capture: str) -> None:
    page = opened(window, capture)
    page.get_by_role("button", name="PPI", exact=True).click()
    expect(page.get_by_text("A summary, no bound on what an adversary can do")).to_be_visible()


def test_the_least_loss_that_passes_the_gate_is_found_and_taken(window: Desk, capture: str) -> None:
    page = opened(window, capture)
    page.get_by_label("Start from").select_option("C0")
    page.get_by_label("Bound of k", exact=True).fill("3")
    expect(page.get_by_role("region", name="Gate")).to_contain_text("fail")
    page.get_by_role("button", name="Least loss that passes").click()
    page.get_by_role("button", name="Take it").click(timeout=60_000)
    expect(page.get_by_role("region", name="Gate")).to_contain_text("pass")
    assert int(figure(page, "k")) >= 3


def test_a_policy_that_cannot_stand_is_told_in_words_and_the_last_figures_stay(window: Desk, capture: str) -> None:
    window.expect_refusals(422)
    page = opened(window, capture)
    page.get_by_label("Class of ip").select_option("drop")
    for column in ("role", "protocol_count", "peer_count"):
        page.get_by_label(f"Class of {column}", exact=True).select_option("drop")
    expect(page.get_by_role("alert")).to_contain_text("quasi-identifier-missing")
    expect(page.get_by_text("of the last policy that could be tried")).to_be_visible()
    expect(page.get_by_role("button", name="Release what passes the gate")).to_be_disabled()


def test_a_table_too_large_to_try_can_still_be_released(window: Desk) -> None:
    window.expect_refusals(422)
    lines = "\n".join(f"{n % 7},{n % 3}" for n in range(10_001))
    with window.house.http() as http:
        sent = http.post("/datasets", content=f"a,b\n{lines}", headers={"Content-Type": "text/csv"}).json()
    page = window.sign_in()
    window.open(f"#/workbench?source={sent['id']}")
    expect(page.get_by_role("alert")).to_contain_text("ask for a release")
    page.get_by_label("Class of a", exact=True).select_option("quasi_identifier")
    page.get_by_label("Class of b", exact=True).select_option("sensitive")
    page.get_by_role("button", name="Release what passes the gate").click()
    expect(page.get_by_role("status", name="The release asked for")).to_contain_text("pass", timeout=60_000)


def test_a_change_is_made_seen_and_undone_by_keyboard_alone(window: Desk, capture: str) -> None:
    page = opened(window, capture)
    before = figure(page, "exact_reid")
    page.keyboard.press("/")
    expect(page.locator("[data-search]")).to_be_focused()
    wanted = page.get_by_label("Class of role", exact=True)
    for _ in range(40):
        if wanted.evaluate("(node) => node === document.activeElement"):
            break
        page.keyboard.press("Tab")
    page.keyboard.type("Se")
    expect(wanted).to_have_value("sensitive")
    expect(page.locator("[data-metric=exact_reid] dd.after")).not_to_have_text(before)
    page.keyboard.press("Control+z")
    expect(wanted).to_have_value("quasi_identifier")
    expect(page.locator("[data-metric=exact_reid] dd.after")).to_have_text(before)
    page.keyboard.press("Control+Shift+Z")
    expect(wanted).to_have_value("sensitive")


def test_identifiers_are_dots_until_somebody_asks_to_see_them(window: Desk, capture: str) -> None:
    with window.house.client() as client:
        imsi = next(row["imsi"][0] for row in client.records(capture) if row["imsi"])
    page = opened(window, capture)
    table = page.get_by_role("region", name="Records before and after")
    page.get_by_role("button", name="Show more").click()
    expect(table).to_contain_text("••••••••")
    expect(table).not_to_contain_text(imsi)
    page.get_by_label("Identifiers in clear").check()
    expect(table).to_contain_text(imsi)


def test_pressed_twice_one_release_is_made(window: Desk, capture: str) -> None:
    page = opened(window, capture)
    page.get_by_label("Recipient").fill("pressed-twice")
    button = page.get_by_role("button", name="Release what passes the gate")
    button.dblclick()
    button.dblclick()
    expect(page.get_by_role("link", name="See the release")).to_be_visible(timeout=60_000)
    with window.house.http() as http:
        listed = http.get("/releases", params={"limit": 200}).json()["data"]
    assert [one["recipient"] for one in listed].count("pressed-twice") == 1


def test_an_address_that_was_damaged_says_so(window: Desk) -> None:
    page = window.sign_in()
    window.expect_refusals(404, 422)  # there is no such source
    whole = "q1Yqzi8tSk5VslJQSikuiTdQqgUA"  # {"source": "dst_0"}
    for address in ("#/%", f"#/workbench?s={whole}", "#/workbench?s=AAAA"):
        page.goto("about:blank")
        window.open(address)
        expect(page.get_by_role("navigation", name="Views")).to_be_visible()
    expect(page.get_by_role("alert")).to_contain_text("address-damaged")


def test_two_tabs_have_a_workbench_each(window: Desk, capture: str) -> None:
    one = opened(window, capture)
    other = window.context.new_page()
    other.goto(f"{window.house.url}/#/workbench?source={capture}")
    expect(other.locator("[data-metric=k] dd.after")).to_be_visible()
    one.get_by_label("Start from").select_option("C4")
    expect(one.locator("[data-metric=k] dd.after")).to_have_text("3")
    other.get_by_label("Class of role", exact=True).select_option("sensitive")
    expect(other.get_by_role("button", name="Undo")).to_be_enabled()
    expect(other.get_by_label("Class of role", exact=True)).to_have_value("sensitive")
    expect(one.get_by_role("button", name="Undo")).to_have_attribute("title", re.compile("policy C4"))
    expect(other.get_by_role("button", name="Undo")).to_have_attribute("title", re.compile("role: Sensitive"))
    apart = one.url, other.url
    one.get_by_role("button", name="Undo").click()
    expect(one.get_by_role("button", name="Undo")).to_be_disabled()
    expect(other.get_by_label("Class of role", exact=True)).to_have_value("sensitive")
    other.reload()
    expect(other.get_by_label("Class of role", exact=True)).to_have_value("sensitive")
    assert apart[0] != apart[1]


def test_labels_that_identify_are_dots_until_somebody_asks_to_see_them(window: Desk) -> None:
    owners = [f"00101{n:010}" for n in range(1, 5)]  # by their shape IMSIs, in a column whose name does not say so
    lines = "\n".join(f"{n % 2},{owner}" for n, owner in enumerate(owners * 3))
    with window.house.http() as http:
        content = {"Content-Type": "text/csv"}
        table = http.post("/datasets", content=f"cell,owner\n{lines}", headers=content).json()["id"]
    with window.house.client() as client:
        release = client.create_release({
            "source": {"dataset": table}, "policy": {"steps": []}, "gate": {"k": {"min": 2}},
            "attributes": {"quasi_identifiers": ["cell"], "sensitive": ["owner"]},
        })["id"]  # fmt: skip
        client.wait_release(release, 60)
        assert list(client.posture(release)["records"]["survival_by_label"]) == owners
    page = window.sign_in()
    window.open(f"#/workbench?source={table}")
    window.expect_refusals(422)  # between the two changes, where they are seen one by one
    page.get_by_label("Class of owner", exact=True).select_option("sensitive")
    page.get_by_role("button", name=re.compile("^Take .* out of owner")).click()
    labels = page.locator("details.labels")
    labels.locator("summary").click()
    expect(labels.locator("dt").first).to_have_text("••••••••")
    assert not any(owner in page.content() for owner in owners)
    page.get_by_label("Labels in clear").check()
    expect(labels.locator("dt")).to_have_text(owners)
    window.open(f"#/risk/{release}")
    expect(page.get_by_role("heading", name="Smallest classes")).to_be_visible()
    assert not any(owner in page.content() for owner in owners)
