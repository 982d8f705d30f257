"""The alert rules: well formed, about meters that there are, and each with what to do in the documents."""

import re
import subprocess
import sys
from typing import Any

import yaml
from prometheus_client.metrics import MetricWrapperBase

from pratique_shared.runtime import meters
from tests.unit.repo.source import REPOSITORY

RULES = REPOSITORY / "deploy/prometheus/alerts.yaml"
BUILD = ("service", "version")  # an info has its labels in its value
SUFFIXES = {"counter": ("_total",), "gauge": ("",), "histogram": ("_bucket", "_sum", "_count"), "info": ("_info",)}
NAME = re.compile(r"\bpratique_[a-z_]+")
DURATION = re.compile(r"[1-9][0-9]*[smhd]")


def metered() -> dict[str, tuple[str, tuple[str, ...], str]]:
    """Every meter by its name without suffix: its kind, its labels, its meaning."""
    found = {}
    for meter in vars(meters).values():
        if isinstance(meter, MetricWrapperBase):
            (family,) = meter.describe()
            labels = BUILD if family.type == "info" else tuple(meter._labelnames or ())
            found[family.name] = family.type, labels, family.documentation
    return found


def series() -> dict[str, tuple[str, ...]]:
    """Every series that an expression may name, and its labels."""
    return {f"{name}{end}": labels for name, (kind, labels, _) in metered().items() for end in SUFFIXES[kind]}


def rules() -> list[dict[str, Any]]:
    groups = yaml.safe_load(RULES.read_text())["groups"]
    assert len({group["name"] for group in groups}) == len(groups)
    assert all(set(group) == {"name", "rules"} for group in groups)
    return [rule for group in groups for rule in group["rules"]]


def unknown(expression: str) -> set[str]:
    """What an expression names that no meter is, or no label of it."""
    known = series()
    found = {name for name in NAME.findall(expression) if name not in known}
    for name, inside in re.findall(r"\b(pratique_[a-z_]+)\{([^}]*)\}", expression):
        found |= {label for label in re.findall(r"([a-z_]+)\s*[=!]~?", inside) if label not in known.get(name, ())}
    return found


def test_every_rule_is_an_alert_with_a_weight_a_sentence_and_a_place_in_the_documents() -> None:
    for rule in rules():
        assert set(rule) - {"for"} == {"alert", "expr", "labels", "annotations"}
        assert re.fullmatch(r"Pratique[A-Za-z]+", rule["alert"])
        assert rule["labels"]["severity"] in {"warning", "critical"}
        assert set(rule["annotations"]) == {"summary", "runbook"}
        assert DURATION.fullmatch(rule.get("for", "1m"))
        assert rule["expr"].count("(") == rule["expr"].count(")") > 0
    assert len({rule["alert"] for rule in rules()}) == len(rules())


def test_a_rule_asks_for_meters_and_labels_that_there_are() -> None:
    for rule in rules():
        assert NAME.search(rule["expr"]), rule["alert"]
        assert unknown(rule["expr"]) == set(), rule["alert"]
    assert unknown('sum(pratique_lost_total) + pratique_releases_total{tenant="a"}') == {
        "pratique_lost_total",
        "tenant",
    }


def waited_for(expression: str) -> set[tuple[str, str, str]]:
    """The counters whose growth an expression asks for, with each value of a label that it spells out."""
    found = set()
    for name, inside in re.findall(r"(?:increase|rate)\((pratique_[a-z_]+_total)\{([^}]*)\}\[", expression):
        for label, values in re.findall(r'([a-z_]+)=~?"([^"]*)"', inside):
            found |= {(name, label, value) for value in values.split("|") if re.fullmatch(r"[a-z0-9-]+", value)}
    return found


def begun(code: str) -> set[tuple[str, str, str]]:
    """The series that a process shows that has done nothing yet."""
    shown = (
        f"{code}\nfrom pratique_shared.runtime.meters import REGISTRY\nfrom prometheus_client import generate_latest\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", f"{shown}print(generate_latest(REGISTRY).decode())"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    samples = re.findall(r"^(pratique_[a-z_]+)(?:\{([^}]*)\})? ", done.stdout, re.MULTILINE)
    return {(name, "", "") for name, _ in samples} | {
        (name, label, value) for name, inside in samples for label, value in re.findall(r'([a-z_]+)="([^"]*)"', inside)
    }


API = """
from pratique_privacy.http.app import operations
from pratique_privacy.http.trace import begin_at_none
begin_at_none(operations())
"""


def test_what_an_alert_waits_for_is_there_before_it_first_happens() -> None:
    owed = {series for rule in rules() for series in waited_for(rule["expr"])}
    assert ("pratique_audit_entries_total", "outcome", "failed") in owed
    assert ("pratique_tasks_given_up_total", "code", "memory-limit") in owed
    worker = begun("")
    assert owed - worker == {("pratique_http_requests_total", "status", "5xx")}
    assert owed <= begun(API)


def test_a_process_that_does_not_look_at_the_queue_server_says_nothing_of_it() -> None:
    name = "pratique_queue_server_up"
    look = "from pratique_shared.runtime.meters import see_queue_server\nsee_queue_server(is_up=False)\n"
    assert (name, "", "") not in begun("")
    assert (name, "", "") in begun(look + look)


def rows_below(heading: str) -> list[list[str]]:
    """The rows of the table below a heading of docs/operations.md."""
    text = (REPOSITORY / "docs/operations.md").read_text().partition(f"\n### {heading}\n")[2].partition("\n#")[0]
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    return rows[1:]


def test_the_documents_say_of_every_alert_what_to_do() -> None:
    said = {row[0].strip("`"): row[1] for row in rows_below("Alerts")}
    assert said.keys() == {rule["alert"] for rule in rules()}
    assert all(len(advice) > 20 for advice in said.values())


def test_the_table_of_metrics_is_that_of_the_registry() -> None:
    said = {row[0].strip("`"): (row[1], re.findall(r"`([a-z]+)`", row[2]), row[3]) for row in rows_below("Metrics")}
    kinds = {"info": "gauge"}
    whole = {"counter": "_total", "info": "_info"}
    assert said == {
        f"{name}{whole.get(kind, '')}": (kinds.get(kind, kind), list(labels), text)
        for name, (kind, labels, text) in metered().items()
    }


def test_no_label_is_one_that_could_hold_what_a_caller_sent() -> None:
    labels = {label for kind, labels, _ in metered().values() if kind != "info" for label in labels}
    assert labels == {
        *("operation", "method", "status", "code", "bucket", "queue", "task", "outcome"),
        *("stage", "verdict", "channel", "kind"),
    }
