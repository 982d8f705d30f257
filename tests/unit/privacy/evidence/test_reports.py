"""Reports: a page that a browser shows without loading anything, with every risk result that its reader may see."""

import base64
import hashlib
import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any
from xml.etree import ElementTree

import httpx
import pytest

from pratique_privacy.evidence.report.charts import Bar, Interval, columns, intervals, rows
from pratique_privacy.evidence.report.report import report_of
from pratique_privacy.evidence.words import figure, percent, step_text
from pratique_privacy.flow import ReleaseFacts
from pratique_shared.contracts.facts import Published
from pratique_shared.contracts.gate import Check, GateResult
from pratique_shared.contracts.posture import AttackFigures, AttackResult, Finding
from tests.unit.privacy.http.world import RELEASE, World, check_problem

RISK: dict[str, Any] = {
    "class": {
        "histogram": [
            {"size": 1, "classes": 3, "rows": 3},
            {"size": 4, "classes": 1, "rows": 4},
            {"size": 7, "classes": 2, "rows": 14},
        ],
        "share_below_k": 1 / 3,
        "k_target": 5,
    },
    "subset": [
        {"columns": ["ip"], "distinct": 3, "exposure": 0.125},
        {"columns": ["ip", "port"], "distinct": 12, "exposure": 0.5},
    ],
    "attribute": [{"column": "ip", "distinct": 3}],
}


class Page(HTMLParser):
    """The tags, attributes and text of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.said: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.said.append(data)


async def concluded(world: World, client: httpx.AsyncClient, verdict: Any = "pass", **changed: object) -> str:  # noqa: ANN401
    identity: str = (await client.post("/releases", json={**RELEASE, **changed})).json()["id"]
    await world.concluded(identity, verdict)
    return identity


async def facts_of(world: World, release: str) -> ReleaseFacts:
    facts = await world.archive.any_release(release)
    assert facts is not None
    return facts


async def test_a_page_loads_runs_and_sends_nothing(world: World, operator: httpx.AsyncClient) -> None:
    release = await concluded(world, operator, purpose="<script>alert(1)</script>\"'&")
    answer = await operator.get(f"/releases/{release}/report")
    assert answer.headers["content-type"].startswith("text/html")
    page = Page(answer.text)
    assert not {"script", "link", "img", "iframe", "object", "form", "a", "use", "image"} & set(page.tags)
    assert not {"src", "href", "style", "xlink:href", "action"} & page.attributes
    assert not [name for name in page.attributes if name.startswith("on")]
    assert not re.search(r"https?:|@import|url\(", answer.text)
    policy = answer.headers["content-security-policy"]
    style = re.search(r"<style>(.*?)</style>", answer.text, re.DOTALL)
    assert style is not None
    digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    assert policy.startswith(f"default-src 'none'; style-src 'sha256-{digest}'")
    assert "unsafe" not in policy
    assert "prefers-color-scheme:dark" in style[1]
    assert "purpose <script>alert(1)</script>\"'&" in "".join(page.said)


async def test_every_risk_result_stands_in_the_page(world: World, operator: httpx.AsyncClient) -> None:
    facts = await facts_of(world, await concluded(world, operator))
    attack = AttackResult(
        exact=0.24,
        estimate=0.241,
        se=0.004,
        se_targets=0.006,
        ci95=(0.233, 0.249),
        repetitions=20,
        seed=7,
        generator="PCG64",
        parameters={"forget": 0.5},
        agrees=False,
    )
    gate = GateResult(
        verdict="pass",
        checks=(Check(metric="partial_qi", op="<=", bound=0.3, value=0.24, status="pass"),),
    )
    assert isinstance(facts.outcome, Published)
    assert facts.measured is not None
    attacks = AttackFigures(exact_qi=0.28, partial_qi=attack)
    outcome = facts.outcome.model_copy(update={"attacks": attacks, "gate": gate})
    measured = facts.measured.model_copy(update={"findings": (Finding(code="prefix-structure-kept", detail="Mind."),)})
    page = report_of(replace(facts, outcome=outcome, measured=measured), RISK, before=True)
    said = " ".join(Page(page).said)
    for expected in (
        "ip + port",  # a set of quasi-identifiers, and the share it gives away
        "0.125",
        "estimate 0.241",
        "95 % interval 0.233 to 0.249",
        "exact 0.24",
        "gate: at most 0.3",
        "seed 7",
        "differ by more than chance",
        "5–9: 14",  # seven records in each of two classes
        "33.3 % stand in classes smaller than the target of 5",
        "few_classes",
        "prefix-structure-kept: Mind.",
        "no differential privacy",
        "journalist",
        "Can a sensitive value of somebody be inferred?",
    ):
        assert expected in said, expected


async def test_a_recipient_is_shown_no_figure_before_and_no_class_of_what_stays_behind(
    world: World, operator: httpx.AsyncClient
) -> None:
    passed, failed = await concluded(world, operator), await concluded(world, operator, "fail", name="other")
    recipient = await world.client("recipient", recipient="hospital")
    mine = {release: (await operator.get(f"/releases/{release}/report")).text for release in (passed, failed)}
    theirs = {release: (await recipient.get(f"/releases/{release}/report")).text for release in (passed, failed)}
    assert all("<th>before</th>" in text and "Class sizes" in text for text in mine.values())
    assert not any("<th>before</th>" in text for text in theirs.values())
    assert ["Class sizes" in theirs[release] for release in (passed, failed)] == [True, False]
    assert "Nothing was released." in theirs[failed]
    auditor = (await (await world.client("auditor")).get(f"/releases/{passed}/report")).text
    assert auditor == mine[passed]
    assert "192.0.2.0/24" not in mine[passed]


async def test_a_report_needs_a_verdict(world: World, operator: httpx.AsyncClient) -> None:
    release = (await operator.post("/releases", json=RELEASE)).json()["id"]
    check_problem(await operator.get(f"/releases/{release}/report"), 409, "not-finished")
    await world.concluded(release)
    first = await operator.get(f"/releases/{release}/report")
    again = await operator.get(f"/releases/{release}/report", headers={"If-None-Match": first.headers["etag"]})
    assert again.status_code == 304


@pytest.mark.parametrize(
    "chart",
    [
        rows([Bar("a<b>&\"'", 0.5, "50 %"), Bar("x" * 300, 0.0, "0")], "bars"),
        columns([Bar("1", 3, "3"), Bar("2–4", 0, "")], "columns", 1),
        intervals(
            [Interval("linkage", 0.3, (0.2, 0.4), None, None, 1.7), Interval("none", None, None, None, 0, 1)], "t"
        ),
        rows([], "nothing"),
    ],
)
def test_a_chart_is_sound_xml_inside_its_box(chart: str) -> None:
    root = ElementTree.fromstring(chart)
    width, height = map(float, root.attrib["viewBox"].split()[2:])
    for rect in root.iter("rect"):
        x, y, w, h = (float(rect.attrib[name]) for name in ("x", "y", "width", "height"))
        assert min(x, y, w, h) >= 0
        assert (x + w <= width, y + h <= height) == (True, True)
    for line in root.iter("line"):
        assert 0 <= float(line.attrib["x1"]) <= width


def test_bars_are_as_long_as_their_figures() -> None:
    root = ElementTree.fromstring(rows([Bar("a", 0.5, ""), Bar("b", 0.25, "")], "bars"))
    long, short = (float(rect.attrib["width"]) for rect in root.iter("rect"))
    assert long == pytest.approx(2 * short)


def test_figures_and_steps_are_written_for_people() -> None:
    assert [figure(value) for value in (None, 7, 12345, 0.25, 2.0, 1 / 3)] == [
        "–",
        "7",
        "12\u202f345",
        "0.25",
        "2",
        "0.3333",
    ]
    assert percent(0.1364) == "13.6 %"
    step = {"op": "class_support", "tau": 5, "exempt": {"column": "role", "rarest": 2}}
    assert step_text(step) == "class_support (tau 5, exempt column role rarest 2)"
    assert step_text({"op": "hierarchy", "column": "ip", "table": {"x": []}, "level": 1}) == "hierarchy ip (level 1)"
