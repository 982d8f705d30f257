"""Captures and tables: sent in with progress, shown as charts, identifiers masked, deleted for good."""

import gzip
import re
from pathlib import Path

from playwright.sync_api import expect

from tests.support.beside import malformed
from tests.support.browser import Desk


def test_a_capture_is_shown_as_charts_with_a_table_for_each(window: Desk, capture: str) -> None:
    page = window.sign_in()
    window.open(f"#/captures/{capture}")
    chart = page.get_by_role("figure").filter(has_text="Hosts by role")
    expect(chart.locator("canvas")).to_be_visible()
    assert "most hosts are UE" in (chart.get_by_role("img").get_attribute("aria-label") or "")
    chart.get_by_role("button", name="Table").click()
    with window.house.client() as client:
        hosts = list(client.records(capture))
    gnbs = sum(host["role"] == "gNB" for host in hosts)
    expect(chart.get_by_role("row", name=re.compile("^gNB"))).to_contain_text(str(gnbs))
    expect(page.get_by_role("region", name="Warnings")).to_contain_text("cannot be read")


def test_a_chart_is_saved_as_a_table_and_as_pictures(window: Desk, capture: str) -> None:
    page = window.sign_in()
    window.open(f"#/captures/{capture}")
    chart = page.get_by_role("figure").filter(has_text="Hosts by role")
    expect(chart.locator("canvas")).to_be_visible()
    heads = {"CSV": b"Role,Hosts", "PNG": b"\x89PNG", "SVG": b"<svg"}
    for form, head in heads.items():
        chart.get_by_role("button", name="Export").click()
        with page.expect_download() as download:
            chart.get_by_role("button", name=form, exact=True).click()
        assert Path(download.value.path()).read_bytes().startswith(head), form
    chart.get_by_role("button", name="Copy as").click()
    chart.get_by_role("button", name="Python").click()
    expect(chart.get_by_label("What was copied")).to_have_value(re.compile(rf'pratique\.records\("{capture}"\)'))


def test_identifiers_are_masked_until_asked_for(window: Desk, capture: str) -> None:
    page = window.sign_in()
    window.open(f"#/captures/{capture}")
    identifiers = page.get_by_role("region", name="Identifiers", exact=True)
    identifiers.get_by_role("button", name="Look for identifiers").click()
    expect(identifiers.get_by_role("tab", name=re.compile("^IMSI [1-9]"))).to_be_visible()
    assert not re.search(r"\d{15}", page.content())
    identifiers.get_by_label("Show the values").check()
    expect(identifiers.get_by_role("cell", name=re.compile(r"^00101\d{10}$")).first).to_be_visible()
    identifiers.get_by_role("tab", name=re.compile("^IMSI")).press("ArrowRight")
    expect(identifiers.get_by_role("tab", name=re.compile("^SUCI"))).to_be_focused()


def test_a_table_is_sent_in_and_deleted_after_a_second_thought(window: Desk, tmp_path: Path) -> None:
    table = tmp_path / "charging.csv"
    table.write_text("station,hour,kwh\nA,08,11.5\nA,08,7.25\nB,09,30\n")
    page = window.sign_in()
    page.locator("input[type=file]").set_input_files(table)
    expect(page.get_by_role("heading", name="charging.csv")).to_be_visible()
    expect(page.get_by_role("row", name="kwh number")).to_be_visible()
    address = page.url
    page.get_by_role("button", name="Delete …").click()
    page.get_by_role("button", name="Keep").click()
    page.get_by_role("button", name="Delete …").click()
    page.get_by_role("button", name="Delete for good").click()
    expect(page.get_by_role("heading", name="charging.csv")).to_have_count(0)
    expect(page).not_to_have_url(address)


def test_a_file_that_is_no_capture_is_refused_in_words(window: Desk, tmp_path: Path) -> None:
    window.expect_refusals(415)
    text = tmp_path / "notes.pcap"
    text.write_text("no capture at all")
    page = window.sign_in()
    page.locator("input[type=file]").set_input_files(text)
    expect(page.get_by_role("alert")).to_contain_text("This is neither pcap nor pcapng")
    expect(page.get_by_role("alert")).to_contain_text("not-a-capture")
    page.get_by_role("button", name="Dismiss").click()
    expect(page.get_by_role("alert")).to_have_count(0)


def test_a_file_that_turns_out_to_be_no_capture_says_what_to_do(window: Desk, tmp_path: Path) -> None:
    packed = tmp_path / "notes.pcap.gz"
    packed.write_bytes(gzip.compress(b"no capture at all"))
    page = window.sign_in()
    page.locator("input[type=file]").set_input_files(packed)
    capture = page.get_by_role("region", name="Capture", exact=True)
    expect(capture.get_by_role("heading", name="notes.pcap.gz")).to_contain_text("failed", timeout=30_000)
    expect(capture.get_by_role("alert")).to_contain_text("send the file that the capture tool wrote")
    expect(capture.get_by_role("alert")).to_contain_text("not-a-capture")
    expect(page.get_by_role("link", name="Open in the workbench")).to_have_count(0)
    capture.get_by_role("button", name="Delete …").click()
    capture.get_by_role("button", name="Delete for good").click()
    expect(page.get_by_role("heading", name="notes.pcap.gz")).to_have_count(0)


def test_a_damaged_capture_says_how_often_and_what_could_not_be_read(window: Desk) -> None:
    page = window.sign_in()
    page.locator("input[type=file]").set_input_files(malformed() / "nDPI__badpackets.pcap")
    capture = page.get_by_role("region", name="Capture", exact=True)
    expect(capture.get_by_role("heading", name="nDPI__badpackets.pcap")).to_contain_text("ready", timeout=30_000)
    expect(capture.get_by_role("region", name="Warnings").get_by_role("listitem").first).to_contain_text("time")
    expect(capture.get_by_role("list", name="Link types")).to_be_visible()


def test_the_link_types_of_a_capture_are_named(window: Desk, capture: str) -> None:
    page = window.sign_in()
    window.open(f"#/captures/{capture}")
    with window.house.client() as client:
        names = client.capture(capture)["link_types"]
    expect(page.get_by_role("list", name="Link types").get_by_role("listitem")).to_contain_text(names)
    assert names


def test_a_large_upload_tells_how_far_it_is_and_can_be_stopped(window: Desk, tmp_path: Path) -> None:
    large = tmp_path / "large.pcap"
    with large.open("wb") as out:
        out.write(bytes.fromhex("d4c3b2a1020004000000000000000000ffff000001000000"))
        out.truncate(200 << 20)
    page = window.sign_in()
    slow = window.context.new_cdp_session(page)
    slow.send("Network.enable")
    slow.send("Network.emulateNetworkConditions", {
        "offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": 4 << 20,
    })  # fmt: skip
    page.locator("input[type=file]").set_input_files(large)
    bar = page.get_by_role("progressbar", name="large.pcap")
    expect(bar).to_be_visible()
    expect(page.get_by_text(re.compile(r"[1-9]\d* MB of 210 MB"))).to_be_visible()
    assert 0 < float(bar.evaluate("(bar) => bar.value")) < 1
    page.get_by_role("button", name="Stop").click()
    expect(bar).to_have_count(0)
