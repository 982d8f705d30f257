"""Studies from the shell: sweeps, utility, recommendations, with the words of the request and of the answer."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from pratique.cli import main
from tests.unit.client.scripted import Scripted, Turn


def run(line: str, *turns: Turn) -> tuple[int, Scripted]:
    service = Scripted(*turns)
    return main(line.split(), connect=lambda _: service.client()), service


def told(identity: str, status: str, **further: object) -> httpx.Response:
    return httpx.Response(200, json={"id": identity, "status": status, **further})


def body(service: Scripted) -> Any:  # noqa: ANN401 - JSON
    return json.loads(service.asked[0].content)


AVERAGE: dict[str, Any] = {"group": None, "configuration": "C4", "releases": 2}
for figure in ("k", "ppi", "ppi_prime", "exact", "partial", "linkage"):
    AVERAGE |= {f"{figure}_mean": 0.5, f"{figure}_sd": 0.25}
SWEPT = {
    "averages": [AVERAGE],
    "correlations": [
        {"group": None, "index": "ppi", "measure": "exact", "r": 0.3, "ci95_low": None, "ci95_high": None},
    ],
    "findings": [{"finding": "pseudonyms_change_nothing", "group": None, "measure": None, "holds": True}],
    "releases": [{"error": None}, {"error": "source-gone"}],
}


def test_a_sweep_is_asked_for_with_all_built_in_configurations_unless_some_are_named() -> None:
    _, service = run("sweep create --source cap_1 --no-wait", told("swp_1", "queued"))
    assert body(service) == {"sources": ["cap_1"], "configurations": [f"C{n}" for n in range(8)]}
    words = "sweep create --source cap_1 --source dst_2 --configuration C2 --repetitions 5 --seed 7 --no-wait"
    _, service = run(words, told("swp_1", "queued"))
    asked = {"sources": ["cap_1", "dst_2"], "configurations": ["C2"], "attacks": {"repetitions": 5}, "seed": 7}
    assert body(service) == asked


def test_a_sweep_is_shown_as_averages_correlations_and_findings(capsys: pytest.CaptureFixture[str]) -> None:
    left, _ = run("sweep create --source cap_1", told("swp_1", "queued"), told("swp_1", "completed", **SWEPT))
    shown = capsys.readouterr().out
    assert left == 0
    assert "0.500 ± 0.250" in shown
    assert "1 - exact" in shown
    assert "[-, -]" in shown
    assert "pseudonyms_change_nothing, all: holds" in shown
    assert "1 releases have no figures" in shown


def test_a_sweep_without_sources_is_a_misuse(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("sweep create")[0] == 2
    assert "--source" in capsys.readouterr().err


def test_a_utility_study_shows_a_row_a_threshold_with_intervals(capsys: pytest.CaptureFixture[str]) -> None:
    names = ("macro_f1", "accuracy", "edge_recall", "f1_retained")
    row: dict[str, Any] = {"tau": 5, "exempt_rarest": 2, "survival": 0.42, "ci95": {name: [0.1, 0.3] for name in names}}
    row |= {**dict.fromkeys(names, 0.2), "f1_retained": None}
    words = "utility create --source cap_1 --label device --feature a --feature b --tau 5 --exempt-rarest 2"
    left, service = run(words, told("utl_1", "queued"), told("utl_1", "completed", rows=[row]))
    asked = {"sources": ["cap_1"], "label": "device", "features": ["a", "b"], "taus": [5], "exempt_rarest": 2}
    assert (left, body(service)) == (0, asked)
    shown = capsys.readouterr().out
    assert "42.0 %" in shown
    assert "0.200 [0.100, 0.300]" in shown
    assert "n/a" in shown


FOUND = {
    "policy": {"steps": [{"op": "class_support", "tau": 5}]},
    "predicted": {"k": 5, "exact_qi": 0.1, "partial_qi": 0.05, "linkage": None},
    "loss": {"survival": 0.9, "entropy": 0.5, "granularity": 0.25},
}


def test_a_recommended_policy_is_shown_and_written_as_a_file_that_a_release_takes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "policy.json"
    words = f"recommend --capture cap_1 --gate k>=5 --seconds 9 -o {file}"
    done = told("rec_1", "completed", recommended=FOUND, proved=True, front=[FOUND], search={"cut": None})
    left, service = run(words, told("rec_1", "queued"), done)
    asked = {"source": {"capture": "cap_1"}, "gate": {"k": {"min": 5}}, "budget": {"seconds": 9}}
    assert (left, body(service)) == (0, asked)
    assert json.loads(file.read_text()) == FOUND["policy"]
    shown = capsys.readouterr().out
    assert "the least loss there is" in shown
    assert '{"op": "class_support", "tau": 5}' in shown


def test_where_no_policy_passes_the_exit_status_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    done = told("rec_1", "completed", recommended=None, proved=False, front=[], search={"cut": "seconds"})
    assert run("recommend --dataset dst_1", told("rec_1", "queued"), done)[0] == 3
    shown = capsys.readouterr().out
    assert "no policy" in shown
    assert "cut by its budget: seconds" in shown
