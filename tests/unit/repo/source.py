"""The source of the repository as the tests of this folder read it: files, and syntax trees of the members' modules."""

import ast
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[3]
SERVER = ("shared", "services/ingest", "services/privacy", "services/attack-sim")
MEMBERS = (*SERVER, "clients/python", "deploy/local")


@dataclass(frozen=True)
class Module:
    """A module: where it lies in the repository, its dotted name, its text and its tree."""

    path: str
    name: str
    text: str
    tree: ast.Module


def parsed(text: str, name: str = "planted") -> Module:
    """A module that is only text: what the positive controls are made of."""
    return Module(f"{name}.py", name, text, ast.parse(text))


@cache
def modules(*folders: str) -> tuple[Module, ...]:
    """Every module below the `src` of these members, or below folders that have none."""
    found = []
    for folder in folders:
        root = REPOSITORY / folder / "src" if (REPOSITORY / folder / "src").is_dir() else REPOSITORY / folder
        for path in sorted(root.rglob("*.py")):
            name = ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
            text = path.read_text()
            found.append(Module(str(path.relative_to(REPOSITORY)), name, text, ast.parse(text)))
    return tuple(found)


@cache
def tracked() -> tuple[str, ...]:
    """The files that git knows or would take in, or skip the test where this is no clone."""
    listing = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    try:
        answer = subprocess.run(listing, cwd=REPOSITORY, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this is no clone, or git is not installed: nobody can say which files are tracked")
    names = answer.stdout.decode().split("\0")
    return tuple(sorted(name for name in names if name and (REPOSITORY / name).is_file()))


def dotted(node: ast.AST) -> str:
    """The dotted name that an expression spells, as `np.random.default_rng`; empty when it is none."""
    match node:
        case ast.Name(name):
            return name
        case ast.Attribute(base, name):
            return f"{inner}.{name}" if (inner := dotted(base)) else ""
        case _:
            return ""


def calls(tree: ast.AST) -> Iterator[ast.Call]:
    """Every call in a tree."""
    return (node for node in ast.walk(tree) if isinstance(node, ast.Call))


def at(module: Module, node: ast.expr | ast.stmt, what: str) -> str:
    """A finding as a line that names its place."""
    return f"{module.path}:{node.lineno} {what}"
