"""A user is advised item by item, so that the items left behind are the optimal profile, and keeps the last word."""

import argparse
import io
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pratique_local.advise.adviser import Adviser, Settings
from pratique_local.advise.command import add_arguments, run
from pratique_local.advise.leaves import BadTable, Leaves, read_leaves
from pratique_local.advise.running import RunningProfile
from pratique_local.advise.stream import advised
from pratique_privacy.generalisation.mechanism import Task, generalise

TABLE = """
[taxonomy]
football = ["sports", "all"]
tennis = ["sports", "all"]
politics = ["news", "all"]
weather = ["news", "all"]
[items]
"scores.example" = "tennis"
"*football*" = "football"
"*.example" = "politics"
[profile]
football = 6
politics = 2
weather = 2
[population]
football = 0.4
tennis = 0.4
politics = 0.1
weather = 0.1
"""


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "table.toml"
    path.write_text(TABLE)
    return path


def adviser(
    table: Path, profile: Sequence[float] | None = None, seed: int = 1, gamma: float = 0.2, training: int = 0
) -> Adviser:
    leaves = read_leaves(table)
    running = (
        RunningProfile.inferred(4, "zero", 0) if profile is None else RunningProfile(np.array(profile), declared=True)
    )
    return Adviser(leaves, running, Settings(gamma, training), np.random.default_rng(seed))


def told(words: Sequence[str], items: str, tmp_path: Path, table: Path) -> tuple[int, list[dict[str, Any]], str]:
    """Run the command on these items; its status, lines and complaints."""
    source, out, err = tmp_path / "items", io.StringIO(), io.StringIO()
    source.write_text(items)
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    status = run(parser.parse_args([str(table), "--input", str(source), *words]), out, err)
    return status, [json.loads(line) for line in out.getvalue().splitlines()], err.getvalue()


@pytest.mark.parametrize(
    ("item", "leaf"),
    [
        ("tennis", "tennis"),
        ("scores.example", "tennis"),
        ("my football.example", "football"),
        ("a.example", "politics"),
    ],
)
def test_a_name_goes_before_patterns_and_the_first_pattern_counts(table: Path, item: str, leaf: str) -> None:
    assert adviser(table).answer(item).leaf == leaf


def test_what_matches_nothing_is_not_guessed(table: Path) -> None:
    found = adviser(table).answer("Football")
    assert (found.leaf, found.advice) == (None, "unknown")


def test_items_are_generalised_as_often_as_the_optimal_strategy_says(table: Path) -> None:
    leaves, counts = read_leaves(table), [600, 0, 200, 200]
    shares = np.array(counts) / 1000
    strategy = generalise(Task(leaves.taxonomy(), shares[None], np.array([0.2]))).strategy[0]
    asked = adviser(table, counts)
    seen = Counter((found.leaf, found.level) for found in (asked.answer("football") for _ in range(4000)))
    for level in (1, 2):
        wanted = strategy[0, level - 1] / 0.6
        assert seen["football", level] / 4000 == pytest.approx(wanted, abs=4 * (wanted / 4000) ** 0.5 + 1e-3)
    # All that is generalised is football: a third of it.
    assert 1 - seen["football", 0] / 4000 == pytest.approx(1 / 3, abs=0.03)


def test_one_seed_gives_one_stream_of_advice(table: Path) -> None:
    items = ["football", "tennis", "football", "weather"] * 30
    first, again, other = ([adviser(table, seed=seed)] for seed in (5, 5, 6))
    answers = [[a.answer(item) for item in items] for a in (*first, *again, *other)]
    assert answers[0] == answers[1]
    assert answers[0] != answers[2]


def test_training_learns_and_publishes_only(table: Path) -> None:
    asked = adviser(table, training=50, gamma=1.0)
    learnt = [asked.answer("football") for _ in range(50)]
    assert {(found.advice, found.training) for found in learnt} == {("publish", True)}
    assert asked.answer("football").advice == "generalise"


def test_an_inferred_profile_forgets_and_a_declared_one_does_not_learn() -> None:
    running = RunningProfile.inferred(2, "zero", decay=0.5)
    assert running.shares() is None
    for leaf in (0, 0, 1):
        running.see(leaf)
    # 1, then 1/2 + 1, then 3/4 beside 1.
    assert running.weights.tolist() == [0.75, 1]
    assert RunningProfile.inferred(2, "uniform", 0).shares() == pytest.approx([0.5, 0.5])
    declared = RunningProfile(np.array([3.0, 1.0]), declared=True)
    declared.see(1)
    assert declared.shares() == pytest.approx([0.75, 0.25])


def test_the_user_has_the_last_word(table: Path) -> None:
    asked = adviser(table, [6, 0, 2, 2], gamma=1.0)
    lines, words = ['{"item": "football", "id": 1}', '"football"', '"football"'], io.StringIO("n\n\n")
    prompts = io.StringIO()
    found = list(advised(lines, asked, prompts, words))
    assert [line["decision"] for line in found] == ["publish", "generalise", "generalise"]
    assert found[0]["id"] == 1
    assert prompts.getvalue().count("[Y/n]") == 3


def test_a_line_that_is_no_item_does_not_end_the_stream(tmp_path: Path, table: Path) -> None:
    items = 'nonsense\n\n{"item": 3}\n["x"]\n"football"\n'
    status, lines, _ = told(["--gamma", "0", "--seed", "1"], items, tmp_path, table)
    assert status == 0
    assert [set(line) for line in lines[:3]] == [{"error"}] * 3
    assert lines[3] == {"item": "football", "leaf": "football", "advice": "publish", "chance": 1.0}


@pytest.mark.parametrize(
    "words", [["--declared"], ["--spread", "proportional"], ["--start", "uniform", "--decay", "0.01"]]
)
def test_every_way_to_know_the_user_is_answered(words: list[str], tmp_path: Path, table: Path) -> None:
    items = "\n".join(['"football"'] * 12 + ['"weather"'] * 8)
    status, lines, _ = told(["--gamma", "0.3", "--seed", "2", *words], items, tmp_path, table)
    assert status == 0
    assert {line["advice"] for line in lines} <= {"publish", "generalise"}
    assert {line["as"] for line in lines if line["advice"] == "generalise"} <= {"sports", "news", "all"}


@pytest.mark.parametrize(
    ("text", "words", "said"),
    [
        ("x", [], "neither TOML nor"),
        ("[items]", [], "needs [taxonomy]"),
        ('[taxonomy]\na = ["x"]\nb = ["x", "y"]', [], "same number"),
        ("[taxonomy]\na = []", [], "ancestors of a"),
        ('[taxonomy]\na = ["x"]\n[items]\n"*" = "b"', [], "does not have: b"),
        ('[taxonomy]\na = ["x"]\n[profile]\na = -1', [], "[profile] needs"),
        ('[taxonomy]\na = ["x"]', ["--declared"], "needs [profile]"),
        ('[taxonomy]\na = ["x"]', ["--spread", "proportional"], "needs [population]"),
    ],
)
def test_a_table_that_cannot_stand_is_told_with_what_would(
    text: str, words: list[str], said: str, tmp_path: Path
) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(text)
    status, lines, complaint = told(["--gamma", "0.1", *words], '"a"', tmp_path, path)
    assert (status, lines) == (2, [])
    assert said in complaint


def test_the_same_table_may_be_json(tmp_path: Path) -> None:
    path = tmp_path / "table.json"
    path.write_text(json.dumps({"taxonomy": {"a": "x", "b": ["x"]}, "items": {"*b*": "b"}}))
    leaves = read_leaves(path)
    assert isinstance(leaves, Leaves)
    assert leaves.leaf_of("abc") == 1
    path.write_text("[]")
    with pytest.raises(BadTable):
        read_leaves(path)
