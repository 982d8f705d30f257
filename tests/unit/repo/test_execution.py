"""Nothing that was sent is ever run: no pickle, no eval, no shell (CWE-502, CWE-95, CWE-78)."""

import ast
from collections.abc import Iterator

import pytest

from tests.unit.repo.source import MEMBERS, Module, at, calls, dotted, modules, parsed

UNSAFE_MODULES = {"pickle", "cPickle", "_pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib"}
UNSAFE_CALLS = {"eval", "exec", "compile", "__import__", "os.system", "os.popen", "yaml.load", "yaml.unsafe_load"}
SHELLS = {"subprocess.getoutput", "subprocess.getstatusoutput", "asyncio.create_subprocess_shell"}
UNSAFE_FLAGS = {"shell", "allow_pickle"}


def runs(module: Module) -> Iterator[str]:
    """Name every import and call by which data could become code."""
    for node in ast.walk(module.tree):
        match node:
            case ast.Import(names):
                found = [name.name for name in names]
            case ast.ImportFrom(source, _):
                found = [source or ""]
            case _:
                continue
        yield from (at(module, node, f"imports {name}") for name in found if name.split(".")[0] in UNSAFE_MODULES)
    for call in calls(module.tree):
        if dotted(call.func) in UNSAFE_CALLS | SHELLS:
            yield at(module, call, dotted(call.func))
        for word in call.keywords:
            harmless = isinstance(word.value, ast.Constant) and word.value.value is False
            if word.arg in UNSAFE_FLAGS and not harmless:
                yield at(module, call, f"{word.arg}={ast.unparse(word.value)}")
        # A pipe of `multiprocessing` pickles what is sent by `send` and unpickles in `recv`; bytes go as they are.
        owner = dotted(call.func).rpartition(".")
        if owner[2] in {"send", "recv"} and owner[0].rpartition(".")[2] in {"pipe", "_pipe", "theirs"}:
            yield at(module, call, f"{owner[0]}.{owner[2]} pickles")


@pytest.mark.parametrize("member", MEMBERS)
def test_nothing_that_was_sent_is_run(member: str) -> None:
    assert [finding for module in modules(member) for finding in runs(module)] == []


@pytest.mark.parametrize(
    "line",
    [
        "import pickle",
        "from pickle import loads",
        "import marshal as m",
        "eval(text)",
        "exec(text)",
        "os.system(line)",
        "subprocess.run(line, shell=True)",
        "subprocess.run(line, shell=flag)",
        "np.load(path, allow_pickle=True)",
        "self._pipe.send(answer)",
    ],
)
def test_a_way_from_data_to_code_is_found(line: str) -> None:
    assert len(list(runs(parsed(line)))) == 1


def test_bytes_over_a_pipe_and_a_list_of_arguments_are_no_findings() -> None:
    text = "pipe.send_bytes(frame)\nsubprocess.run([program, name], shell=False)\nre.compile(pattern)"
    assert list(runs(parsed(text))) == []
