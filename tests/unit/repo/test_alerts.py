"""The alert rules: well formed, about meters that there are, and each with what to do in the documents."""

import re
from typing import Any

import yaml
from prometheus_client.metrics import MetricWrapperBase

from pratique_shared.runtime import meters
from tests.unit.repo.source import REPOSITORY

RULES = REPOSITORY / "deploy/prometheus/alerts.yaml"
SUFFIXES = {"counter": ("_total",), "gauge": ("",), "histogram": ("_bucket", "_sum", "_count"), "info": ("_info",)}
NAME = re.compile(r"\bpratique_[a-z_]+")
DURATION = re.compile(r"[1-9][0-9]*[smhd]")


def metered() -> dict[str, tuple[str, tuple[str, ...], str]]:
    """Every meter by its name without suffix: its kind, its labels, its meaning."""
    found = {}
    for meter in vars(meters).values():
        if isinstance(meter, MetricWrapperBase):
            (family,) = meter.describe()
            found[family.name] = family.type, tuple(meter._labelnames or ()), family.documentation
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
    build = ["service", "version"]  # an info has its labels in its value
    assert said == {
        f"{name}{whole.get(kind, '')}": (kinds.get(kind, kind), build if kind == "info" else list(labels), text)
        for name, (kind, labels, text) in metered().items()
    }


def test_no_label_is_one_that_could_hold_what_a_caller_sent() -> None:
    labels = {label for _, labels, _ in metered().values() for label in labels}
    assert labels == {
        *("operation", "method", "status", "code", "bucket", "queue", "task", "outcome"),
        *("stage", "verdict", "channel", "kind"),
    }
