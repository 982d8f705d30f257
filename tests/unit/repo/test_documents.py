"""What the documents tell the reader to type is there to be typed, and every member's modules stand in a layer."""

import configparser
import re
from collections.abc import Iterator

import pytest

from pratique_ingest.protocols.services import SPOKEN
from tests.unit.repo.source import REPOSITORY, SERVER, tracked

FENCE = re.compile(r"```.*?\n(.*?)```", re.DOTALL)


def told(text: str) -> Iterator[str]:
    """Yield the make targets that a document names in code: in a fenced block at a line's start, or in backticks."""
    for block in FENCE.findall(text):
        yield from re.findall(r"^\s*(?:\$ )?(?:[A-Z_]+=\S+ )*make ([a-z][a-z0-9-]*)", block, re.MULTILINE)
    yield from re.findall(r"`(?:[A-Z_]+=\S+ )*make ([a-z][a-z0-9-]*)[^`]*`", FENCE.sub("", text))


def targets(makefile: str) -> set[str]:
    """The targets of a Makefile."""
    return set(re.findall(r"^([a-z][a-z0-9-]*):", makefile, re.MULTILINE))


def test_every_make_target_that_a_document_names_exists() -> None:
    documents = [name for name in tracked() if name.endswith(".md")]
    if not documents:
        pytest.skip("no document is written yet")
    known = targets((REPOSITORY / "Makefile").read_text())
    named = {(name, target) for name in documents for target in told((REPOSITORY / name).read_text())}
    assert {(name, target) for name, target in named if target not in known} == set()


def test_the_table_of_the_network_plan_names_every_protocol_that_it_may() -> None:
    lines = (REPOSITORY / "docs/operations.md").read_text().splitlines()
    for transport, names in SPOKEN.items():
        (row,) = [line for line in lines if line.startswith(f"| `ports.{transport}` |")]
        assert set(re.findall(r"`([^`]+)`", row)) == {f"ports.{transport}", *names}


def test_every_described_target_is_phony_or_a_reader_could_not_run_it_twice() -> None:
    text = (REPOSITORY / "Makefile").read_text()
    described = set(re.findall(r"^([a-z0-9-]+):.*## ", text, re.MULTILINE))
    phony = set(" ".join(re.findall(r"^\.PHONY:(.*)$", text, re.MULTILINE)).split())
    assert described
    assert described <= phony


def test_a_target_that_is_missing_is_found() -> None:
    text = (
        "Run `make demo`:\n```sh\nmake setup\nCAPTURE=a.pcap make demos\n$ make lost POLICY=C4\n```\nmake sure of it."
    )
    makefile = "help: ## list\nsetup: x ## make\ndemo: setup\n"
    assert sorted(set(told(text)) - targets(makefile)) == ["demos", "lost"]


def test_every_server_member_is_laid_out_in_layers_that_leave_no_module_out() -> None:
    layout = configparser.ConfigParser()
    layout.read(REPOSITORY / ".importlinter")
    layered = {
        package
        for name in layout.sections()
        if layout[name].get("type") == "layers" and layout[name].getboolean("exhaustive", fallback=False)
        for package in layout[name]["containers"].split()
    }
    packages = {next((REPOSITORY / member / "src").glob("pratique_*")).name for member in SERVER}
    assert packages <= layered
