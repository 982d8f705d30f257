"""Signing in and out, what each role sees, and the frame around the views."""

import re

import pytest
from playwright.sync_api import Browser, expect

from pratique_local.one_time_link import one_time_link
from tests.support.browser import Desk, Scheme, check_accessible, desk
from tests.support.house import House


def test_a_key_signs_in_and_a_new_tab_is_signed_in_too(window: Desk) -> None:
    page = window.sign_in(afresh=True)
    expect(page.get_by_role("link", name="Workbench", exact=True)).to_be_visible()
    other = window.context.new_page()
    other.goto(window.house.url)
    expect(other.get_by_role("link", name="Workbench", exact=True)).to_be_visible()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_label("API key")).to_be_visible()
    other.reload()
    expect(other.get_by_label("API key")).to_be_visible()


def test_the_one_time_link_signs_in_once_and_leaves_the_address(browser: Browser, running: House) -> None:
    link = one_time_link(running.url, running.data / "admin.key")
    assert link is not None
    with desk(browser, running) as first:
        first.page.goto(link)
        expect(first.page.get_by_role("navigation", name="Views")).to_be_visible()
        assert "ticket" not in first.page.url
    with desk(browser, running) as second:
        second.expect_refusals(401)
        second.page.goto(link)
        expect(second.page.get_by_role("alert")).to_contain_text("This link was used or has run out")


def test_a_wrong_key_is_refused_in_words_with_its_code(window: Desk) -> None:
    window.expect_refusals(401)
    page = window.open()
    page.get_by_label("API key").fill("key_nonsense")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text("key-unknown")


@pytest.mark.parametrize(
    ("role", "first", "views"),
    [
        ("recipient", "Releases", ["Releases"]),
        ("auditor", "Releases", ["Releases", "Risk", "Attacks", "Explore", "Integrations", "Audit"]),
    ],
)
def test_a_role_is_shown_its_own_views_only(window: Desk, role: str, first: str, views: list[str]) -> None:
    body = {"role": role, "recipient": "fl-1"} if role == "recipient" else {"role": role}
    with window.house.http() as http:
        key = http.post("/api-keys", json=body).json()["key"]
    page = window.sign_in(key)
    assert page.get_by_role("navigation", name="Views").get_by_role("link").all_inner_texts() == views
    window.open("#/workbench")
    expect(page.get_by_role("heading", name="This page is not for you")).to_be_visible()
    page.locator("main").get_by_role("link", name=first).click()
    expect(page).to_have_title(re.compile(first))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_sign_in_page_is_accessible(browser: Browser, running: House, scheme: Scheme) -> None:
    with desk(browser, running, color_scheme=scheme) as opened:
        page = opened.open()
        page.get_by_label("API key").wait_for()
        check_accessible(page)


def test_question_mark_lists_the_keys(window: Desk) -> None:
    page = window.sign_in()
    page.keyboard.press("?")
    expect(page.get_by_role("region", name="Keys")).to_be_visible()
    page.keyboard.press("?")
    expect(page.get_by_role("region", name="Keys")).to_have_count(0)
