"""Chance is a parameter: no generator without a seed, no random function of a module."""

import ast
from collections.abc import Iterator

import pytest

from tests.unit.repo.source import MEMBERS, Module, at, calls, dotted, modules, parsed

SEEDED = {"default_rng", "SeedSequence", "PCG64", "PCG64DXSM", "Philox", "SFC64", "MT19937", "Random"}
CLASSES = {"Generator", "BitGenerator", "SeedSequence", "Random"}
OWN_STREAMS = {"chance", "rng", "stream", "_chance"}  # a generator that was handed in may draw as it likes


def unseeded(module: Module) -> Iterator[str]:
    """Name every draw that no seed decides. `secrets` is another matter: its draws must not be repeatable."""
    for node in ast.walk(module.tree):
        match node:
            case ast.ImportFrom("random" | "numpy.random", names):
                yield from (at(module, node, f"imports {n.name}") for n in names if n.name not in SEEDED | CLASSES)
            case ast.Attribute():
                base, _, last = dotted(node).rpartition(".")
                if base in {"random", "np.random", "numpy.random"} and last not in SEEDED | CLASSES:
                    yield at(module, node, f"{base}.{last}")
    for call in calls(module.tree):
        base, _, last = dotted(call.func).rpartition(".")
        if last in SEEDED and not [a for a in call.args if not _is_none(a)] and not call.keywords:
            yield at(module, call, f"{last} without a seed")
        if base and last in {"sample", "shuffle"} and base.rpartition(".")[2] not in OWN_STREAMS and not _seeded(call):
            yield at(module, call, f"{base}.{last} without a seed")


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _seeded(call: ast.Call) -> bool:
    return any(word.arg == "seed" and not _is_none(word.value) for word in call.keywords)


@pytest.mark.parametrize("member", [*MEMBERS, "benchmarks", "tests"])
def test_nothing_is_drawn_without_a_seed(member: str) -> None:
    assert [finding for module in modules(member) for finding in unseeded(module)] == []


@pytest.mark.parametrize(
    "line",
    [
        "import numpy as np\nnp.random.rand(3)",
        "from numpy.random import shuffle",
        "import numpy as np\nchance = np.random.default_rng()",
        "import numpy as np\nchance = np.random.default_rng(None)",
        "from numpy.random import default_rng\nchance = default_rng()",
        "import numpy as np\nchance = np.random.Generator(np.random.PCG64())",
        "import random\nrandom.choice([1, 2])",
        "import random\nrandom.seed(3)",
        "from random import choice",
        "from random import Random\nRandom().choice([1, 2])",
        "import random\nrandom.SystemRandom()",
        "table.sample(10)",
        "table['age'].shuffle()\ncolumn.shuffle(seed=None)",
    ],
)
def test_an_unseeded_draw_is_found(line: str) -> None:
    assert len(list(unseeded(parsed(line)))) == 1


def test_seeded_streams_and_secrets_are_no_findings() -> None:
    text = """
import secrets
from random import Random
import numpy as np
chance = np.random.Generator(np.random.PCG64(np.random.SeedSequence(173, spawn_key=(1, 0))))
other = np.random.default_rng(7)
chance.shuffle(codes)
Random(4).random()
table.sample(10, seed=3)
secrets.token_hex(12)
"""
    assert list(unseeded(parsed(text))) == []
