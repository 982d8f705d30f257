"""The exact adversaries against golden values, which were made as exact fractions from the definitions."""

import json
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from pratique_attack_sim.adversaries.exact import exact_qi
from pratique_attack_sim.adversaries.known import exact_linkage_of, exact_partial_qi_of, exact_qi_of
from pratique_attack_sim.adversaries.linkage_exact import exact_linkage
from pratique_attack_sim.adversaries.partial_qi import exact_partial_qi
from pratique_attack_sim.adversaries.subsets import exposure
from tests.support.beside import golden

Codes = npt.NDArray[np.int32]
FORGET = {"partial_p1/2": 0.5, "partial_p1/4": 0.25, "partial_p3/4": 0.75}


def same_value(value: object) -> object:
    """Give equal cells equal keys: 1 is 1.0, "1" and true are others, a list is a set."""
    if isinstance(value, list):
        return ("set", tuple(sorted({str(element) for element in value})))
    if isinstance(value, bool) or not isinstance(value, int | float):
        return (type(value).__name__, value)
    return ("number", float(value))


def coded(rows: Sequence[dict[str, Any]], qi: Sequence[str]) -> tuple[Codes, list[dict[object, int]]]:
    """Number the values of each column by first appearance; a missing key is null."""
    numbers: list[dict[object, int]] = [{} for _ in qi]
    codes = [
        [known.setdefault(same_value(row.get(name)), len(known)) for name, known in zip(qi, numbers, strict=True)]
        for row in rows
    ]
    return np.array(codes, dtype=np.int32).reshape(len(rows), len(qi)), numbers


def cases(kind: str) -> list[dict[str, Any]]:
    found = [json.loads(path.read_text()) for path in sorted(golden("cases").glob("*.json"))]
    return [case for case in found if case["kind"] == kind]


def near(expected: dict[str, str]) -> object:
    return pytest.approx(float(Fraction(expected["frac"])), abs=1e-12, rel=0)


def test_every_adversary_of_a_golden_table_equals_its_fraction() -> None:
    held = 0
    for case in cases("table"):
        codes, _ = coded(case["input"]["rows"], case["input"]["qi"])
        exposed, rows = exposure(codes), len(codes)
        answers: dict[str, Callable[[], float | None]] = {
            "exact_qi": lambda e=exposed, n=rows: exact_qi(e, n),  # type: ignore[misc]
            "linkage_uniform": lambda c=codes: exact_linkage(c, accuracy=0.8, wrong_value="uniform"),  # type: ignore[misc]
            "linkage_exclude": lambda c=codes: exact_linkage(c, accuracy=0.8, wrong_value="exclude"),  # type: ignore[misc]
        }
        for name, expected in case["expected"]["attacks"].items():
            if name in FORGET:
                assert exact_partial_qi(exposed, rows, forget=FORGET[name]) == near(expected), (case["id"], name)
            elif name in answers:
                assert answers[name]() == near(expected), (case["id"], name)
            held += name in FORGET or name in answers
    assert held >= 6 * 20


def test_the_worked_tables_have_the_published_expectations() -> None:
    worked = json.loads(golden("metrics_worked.json").read_text())["cases"]
    assert len(worked) == 12
    for case in worked:
        codes, _ = coded(case["rows"], case["qi"])
        exposed, expected = exposure(codes), case["expected"]
        found = (
            exact_qi(exposed, len(codes)),
            exact_partial_qi(exposed, len(codes), forget=0.5),
            exact_linkage(codes, accuracy=0.8, wrong_value="uniform"),
        )
        names = ("prosecutor_avg", "partial_qi_expected_p05", "linkage_expected_08")
        wanted = tuple(float(Fraction(expected[name]["exact"])) for name in names)
        assert found == pytest.approx(wanted, abs=1e-12, rel=0), case["id"]


def test_a_known_table_that_is_not_the_release_earns_its_golden_credit() -> None:
    found = cases("external_attack")
    assert len(found) >= 2
    for case in found:
        qi = case["input"]["qi"]
        codes, numbers = coded(case["input"]["rows"], qi)
        known = np.array(
            [
                [column.get(same_value(row.get(name)), -1) for name, column in zip(qi, numbers, strict=True)]
                for row in case["input"]["known"]
            ],
            dtype=np.int32,
        )
        expected = case["expected"]
        assert exact_qi_of(codes, known) == near(expected["exact_qi"]), case["id"]
        assert exact_partial_qi_of(codes, known, forget=0.5) == near(expected["partial"]), case["id"]
        linkage = exact_linkage_of(codes, known, accuracy=0.8, wrong_value="uniform")
        assert linkage == near(expected["linkage_uniform"]), case["id"]
