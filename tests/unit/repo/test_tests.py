"""The tests themselves: each can fail, and each that is left out says why."""

import ast
from collections.abc import Iterable, Iterator

import pytest

from tests.unit.repo.source import Module, at, calls, dotted, modules, parsed

Function = ast.FunctionDef | ast.AsyncFunctionDef
CHECKS = {"expect"}  # Playwright's, which waits
CHECKS |= {"pytest.raises", "pytest.warns", "pytest.fail", "npt.assert_allclose", "np.testing.assert_allclose"}
CHECKS |= {"np.testing.assert_array_equal", "assert_series_equal", "assert_frame_equal", "raises"}


def functions(found: Iterable[Module]) -> Iterator[tuple[Module, Function]]:
    """Every function, nested ones included."""
    for module in found:
        for node in ast.walk(module.tree):
            if isinstance(node, Function):
                yield module, node


def checking(found: Iterable[Module]) -> set[str]:
    """The names of functions that check something, themselves or through one that they call."""
    bodies = [function for _, function in functions(found)]
    names = {function.name for function in bodies if _checks(function, set())}
    while more := {f.name for f in bodies if f.name not in names and _checks(f, names)}:
        names |= more
    return names


def _checks(function: Function, names: set[str]) -> bool:
    if any(isinstance(node, ast.Assert) and not isinstance(node.test, ast.Constant) for node in ast.walk(function)):
        return True
    called = {dotted(call.func) for call in calls(function)}
    return bool(called & CHECKS) or bool({name.rpartition(".")[2] for name in called} & names)


def toothless(found: Iterable[Module]) -> Iterator[str]:
    """Name every test that checks nothing."""
    found = list(found)
    names = checking(found)
    for module, function in functions(found):
        if function.name.startswith("test_") and not _checks(function, names):
            yield at(module, function, function.name)


def unexplained(module: Module) -> Iterator[str]:
    """Name every skip and expected failure without a reason."""
    for node in ast.walk(module.tree):
        name = dotted(node)
        if name in {"pytest.mark.skip", "pytest.mark.skipif", "pytest.mark.xfail", "pytest.skip", "pytest.xfail"}:
            call = next((call for call in calls(module.tree) if call.func is node), None)
            first = call is not None and bool(call.args) and name in {"pytest.skip", "pytest.xfail", "pytest.mark.skip"}
            if call is None or not (first or any(word.arg == "reason" for word in call.keywords)):
                assert isinstance(node, ast.expr)
                yield at(module, node, name)


def test_every_test_checks_something() -> None:
    assert list(toothless(modules("tests"))) == []


def test_every_test_that_is_left_out_says_why() -> None:
    assert [finding for module in modules("tests") for finding in unexplained(module)] == []


def test_a_test_without_a_check_is_found() -> None:
    text = """
def agrees(a, b):
    assert a == b
def through(a):
    agrees(a, 1)
def test_by_assert(): assert 1 + 1 == 2
def test_by_a_helper(): through(1)
def test_by_raises():
    with pytest.raises(ValueError): int("x")
def test_nothing(): int("1")
async def test_always_true(): assert True
"""
    found = [finding.split()[1] for finding in toothless([parsed(text)])]
    assert found == ["test_nothing", "test_always_true"]


@pytest.mark.parametrize(
    "line",
    [
        "@pytest.mark.skip\ndef test_x(): ...",
        "@pytest.mark.skipif(sys.platform == 'win32')\ndef test_x(): ...",
        "@pytest.mark.xfail(strict=True)\ndef test_x(): ...",
        "pytest.skip()",
    ],
)
def test_a_skip_without_a_reason_is_found(line: str) -> None:
    assert len(list(unexplained(parsed(line)))) == 1


def test_a_skip_with_a_reason_is_no_finding() -> None:
    text = "pytest.skip('no golden case')\n@pytest.mark.skipif(x, reason='the large run')\ndef test_x(): ..."
    assert list(unexplained(parsed(text))) == []
