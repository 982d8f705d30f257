"""What is shared has two users; what has one belongs to that one."""

import ast
from collections.abc import Iterable, Iterator

import pytest

from tests.unit.repo.source import Module, modules, parsed

PACKAGES = ("services/ingest", "services/privacy", "services/attack-sim", "deploy/local")

# Module, and why it may be shared all the same.
ALLOWED = {
    "pratique_shared.frames.datasets": "the same table rules as records.py, which it fills",
}


def imported(module: Module) -> Iterator[str]:
    """The modules of `pratique_shared` that a module imports; `from package import name` may mean either."""
    for node in ast.walk(module.tree):
        match node:
            case ast.Import(names):
                yield from (name.name for name in names if name.name.startswith("pratique_shared"))
            case ast.ImportFrom(str(source), names) if source.startswith("pratique_shared"):
                yield source
                yield from (f"{source}.{name.name}" for name in names)


def users(shared: Iterable[Module], packages: dict[str, Iterable[Module]]) -> dict[str, set[str]]:
    """The packages that use each shared module, by an import of their own or through other shared modules."""
    shared = [module for module in shared if not module.path.endswith("__init__.py")]
    found: dict[str, set[str]] = {module.name: set() for module in shared}
    for package, its_modules in packages.items():
        for module in its_modules:
            for name in imported(module):
                found.get(name, set()).add(package)
    changed = True
    while changed:
        changed = False
        for module in shared:
            for name in imported(module):
                if name in found and not found[module.name] <= found[name]:
                    found[name] |= found[module.name]
                    changed = True
    return found


def test_every_shared_module_has_two_users() -> None:
    found = users(modules("shared"), {package: modules(package) for package in PACKAGES})
    lonely = {name: sorted(who) for name, who in found.items() if len(who) < 2 and name not in ALLOWED}
    assert lonely == {}


def test_every_exception_is_still_needed() -> None:
    found = users(modules("shared"), {package: modules(package) for package in PACKAGES})
    assert [name for name in ALLOWED if len(found.get(name, ())) != 1] == []


@pytest.mark.parametrize(
    ("line", "count"),
    [("from pratique_shared.runtime import clock", 1), ("import pratique_shared.runtime.clock", 1), ("import json", 0)],
)
def test_a_module_with_one_user_is_found(line: str, count: int) -> None:
    clock = parsed("", "pratique_shared.runtime.clock")
    assert len(users([clock], {"services/ingest": [parsed(line)]})[clock.name]) == count


def test_a_user_through_another_shared_module_counts() -> None:
    model = parsed("", "pratique_shared.contracts.model")
    gate = parsed("from pratique_shared.contracts.model import Contract", "pratique_shared.contracts.gate")
    line = parsed("from pratique_shared.contracts.gate import Gate")
    assert users([model, gate], {"a": [line], "b": [line]})[model.name] == {"a", "b"}
