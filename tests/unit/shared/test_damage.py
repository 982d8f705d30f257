"""Damage: one object that cannot be read holds up no other, and the log says which without a word of its content."""

import json
import logging

import pytest

from pratique_shared.contracts.facts import Deleted
from pratique_shared.contracts.problems import Conflict, Problem, Unavailable
from pratique_shared.runtime.damage import one_round, passed_over
from pratique_shared.runtime.meters import REGISTRY
from pratique_shared.runtime.sealing import BrokenSeal
from pratique_shared.runtime.telemetry import JsonLines

ENTITY = "cap_00000000000000000000000001"
SECRET = "001010123456789"


def lines(caplog: pytest.LogCaptureFixture) -> list[dict[str, str]]:
    return [json.loads(JsonLines().format(record)) for record in caplog.records]


def counted(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(f"pratique_{name}_total", labels) or 0


def test_what_cannot_be_read_is_passed_over_counted_and_named_by_its_id(caplog: pytest.LogCaptureFixture) -> None:
    before, served = counted("store_errors", code="stored-bytes-damaged"), []
    for name in ("one", "damaged", "foreign", "two"):
        with passed_over(ENTITY):
            if name == "damaged":
                raise BrokenSeal(SECRET)
            if name == "foreign":
                Deleted.model_validate_json(f'{{"imsi": "{SECRET}"}}')
            served.append(name)
    assert served == ["one", "two"]
    assert counted("store_errors", code="stored-bytes-damaged") == before + 2
    assert [(line["entity"], line["exception"]) for line in lines(caplog)] == [
        (ENTITY, "BrokenSeal"),
        (ENTITY, "ValidationError"),
    ]
    assert SECRET not in json.dumps(lines(caplog))


def test_a_defect_is_no_damage() -> None:
    with pytest.raises(KeyError), passed_over(ENTITY):
        raise KeyError


@pytest.mark.parametrize("defect", [KeyError(SECRET), BrokenSeal(SECRET), Conflict("not-finished", "")])
def test_a_round_that_a_defect_ends_is_counted_and_logged_with_its_frames(
    caplog: pytest.LogCaptureFixture, defect: Exception
) -> None:
    before = counted("round_errors", task="sweep")
    with one_round("sweep"):
        raise defect
    assert counted("round_errors", task="sweep") == before + 1
    (line,) = lines(caplog)
    assert (line["level"], line["task"], line["exception"]) == ("ERROR", "sweep", type(defect).__name__)
    assert "one_round" in line["frames"]
    assert SECRET not in json.dumps(line)


def test_a_store_that_does_not_answer_is_a_warning_and_no_defect(caplog: pytest.LogCaptureFixture) -> None:
    before = counted("round_errors", task="sweep")
    problem: Problem = Unavailable("store-unavailable", "")
    with one_round("sweep"):
        raise problem
    assert counted("round_errors", task="sweep") == before
    assert [(line["level"], line["code"]) for line in lines(caplog)] == [(logging.getLevelName(30), problem.code)]
