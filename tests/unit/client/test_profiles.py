"""Profiles are generalised from the command line; what needs no service is brought by another distribution."""

import argparse
import json
from importlib.metadata import EntryPoint
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest

from pratique.cli import main
from pratique.commands import local
from tests.unit.client.scripted import Scripted

RESULT = {
    "profile": 0,
    "gamma": 0.1,
    "entropy_before": 0.5623,
    "entropy": 0.6109,
    "gamma_crit": 0.5,
    "critical_entropy": 0.6931,
    "recoverable": 2,
}


def test_a_request_is_sent_and_shown_a_line_a_result(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "request.json"
    path.write_text('{"profiles": [[3, 1]], "taxonomy": [[[0, 1]]], "gamma": 0.4}')
    service = Scripted(httpx.Response(200, json={"results": [RESULT]}))
    words = ["profile", "generalise", str(path), "--gamma", "0.1", "--gamma", "0.2"]
    assert main(words, connect=lambda _: service.client()) == 0
    assert json.loads(service.asked[0].content)["gamma"] == [0.1, 0.2]
    assert service.asked[0].url.path == "/profiles/generalise"
    out = capsys.readouterr().out
    assert out.splitlines()[0].split() == " ".join(headings()).split()
    assert "0.5623" in out


def headings() -> tuple[str, ...]:
    return ("PROFILE", "GAMMA", "ENTROPY BEFORE", "AFTER", "CRITICAL GAMMA", "CRITICAL ENTROPY", "RECOVERABLE")


def test_local_commands_come_from_elsewhere_and_need_no_service(monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[argparse.Namespace] = []

    def run(options: argparse.Namespace) -> int:
        called.append(options)
        return 2

    brought = SimpleNamespace(
        DESCRIPTION="Say hello.\nMore.", EXAMPLES="example:", add_arguments=lambda p: p.add_argument("word"), run=run
    )
    monkeypatch.setattr(EntryPoint, "load", lambda _: brought)
    entry = EntryPoint("hello", "nowhere", local.ENTRIES)
    monkeypatch.setattr(local, "entry_points", lambda group: [entry] if group == local.ENTRIES else [])

    def unreachable(_: argparse.Namespace) -> None:
        pytest.fail("a local command asked for a service")

    assert main(["local", "hello", "world"], connect=unreachable) == 2  # type: ignore[arg-type]
    assert called[0].word == "world"


def test_without_such_a_distribution_there_is_no_local_noun(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(local, "entry_points", lambda group: [])
    with pytest.raises(SystemExit):
        main(["local"])
    assert "invalid choice" in capsys.readouterr().err
