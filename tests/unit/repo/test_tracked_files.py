"""What is in the repository: no path of one machine, no registry, no capture, no silenced rule without its name."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

import pytest

from tests.unit.repo.source import REPOSITORY, tracked

# Spelled so that this file does not find itself.
MACHINE_PATH = re.compile(r"(?<![\w.~-])/(?:wo" + r"rk|ro" + r"ot|ho" + r"me|Us" + r"ers)/")
REGISTRIES = ("py" + "pi.org", "pythonho" + "sted", "np" + "mjs", "deb" + "ian.org", "do" + "cker.io", "gh" + "cr.io")
INDEX = re.compile(r"(?:https?|file)://[^\s\"'<>]*(?:" + "|".join(map(re.escape, REGISTRIES)) + ")")
BARE_IGNORE = re.compile(r"#\s*type:\s*ignore(?!\[)")
BARE_NOQA = re.compile(r"#\s*no" + r"qa(?!:\s*[A-Z]+\d)", re.IGNORECASE)
CAPTURE_NAMES = (".pcap", ".pcapng", ".cap")
# pcap in both byte orders and precisions, pcapng (draft-ietf-opsawg-pcap, draft-ietf-opsawg-pcapng).
CAPTURE_MAGIC = tuple(bytes.fromhex(m) for m in ("d4c3b2a1", "a1b2c3d4", "4d3cb2a1", "a1b23c4d", "0a0d0d0a"))


def text_of(name: str) -> str:
    """The text of a file; of bytes that are none, as much as can be read."""
    return (REPOSITORY / name).read_bytes().decode(errors="replace")


def findings(pattern: re.Pattern[str], text: str) -> Iterator[int]:
    """The lines that a pattern is found on."""
    return (number for number, line in enumerate(text.splitlines(), 1) if pattern.search(line))


def is_capture(name: str, head: bytes) -> bool:
    """Whether a file is a capture by its name or by its first bytes, or by the name under a compression."""
    suffixes = PurePosixPath(name).suffixes
    return any(suffix.lower() in CAPTURE_NAMES for suffix in suffixes) or head.startswith(CAPTURE_MAGIC)


@pytest.mark.parametrize("pattern", [MACHINE_PATH, INDEX], ids=["machine", "registry"])
def test_no_file_names_a_place_of_one_machine(pattern: re.Pattern[str]) -> None:
    assert [f"{name}:{line}" for name in tracked() for line in findings(pattern, text_of(name))] == []


@pytest.mark.parametrize("pattern", [BARE_IGNORE, BARE_NOQA], ids=["types", "lint"])
def test_every_silenced_rule_is_named(pattern: re.Pattern[str]) -> None:
    sources = [name for name in tracked() if name.endswith(".py")]
    assert [f"{name}:{line}" for name in sources for line in findings(pattern, text_of(name))] == []


def test_no_capture_is_in_the_repository() -> None:
    assert [name for name in tracked() if is_capture(name, (REPOSITORY / name).read_bytes()[:4])] == []


@pytest.mark.parametrize(
    ("pattern", "line"),
    [
        (MACHINE_PATH, "path = '/ho" + "me/someone/project'"),
        (MACHINE_PATH, "see /wo" + "rk/main"),
        (INDEX, "https://files.pythonho" + "sted.org/packages/x.whl"),
        (INDEX, "--index-url https://py" + "pi.org/simple"),
        (BARE_IGNORE, "x = y  # type" + ": ignore"),
        (BARE_NOQA, "import x  # no" + "qa"),
        (BARE_NOQA, "import x  # no" + "qa - because"),
    ],
)
def test_a_planted_line_is_found(pattern: re.Pattern[str], line: str) -> None:
    assert list(findings(pattern, f"first\n{line}\n")) == [2]


@pytest.mark.parametrize(
    ("pattern", "line"),
    [
        (MACHINE_PATH, "from frame" + "work/ and ../wo" + "rk/ and a/ro" + "ot/b"),
        (BARE_IGNORE, "x = y  # type" + ": ignore[override]"),
        (BARE_NOQA, "import x  # no" + "qa: F401 - the reason"),
    ],
)
def test_what_only_looks_alike_is_no_finding(pattern: re.Pattern[str], line: str) -> None:
    assert list(findings(pattern, line)) == []


@pytest.mark.parametrize(
    ("name", "head"), [("a.pcap", b""), ("tests/x.pcapng.gz", b""), ("tests/data.bin", b"\xd4\xc3\xb2\xa1")]
)
def test_a_capture_is_known_by_name_and_by_magic(name: str, head: bytes) -> None:
    assert is_capture(name, head)
    assert not is_capture("capture.py", b'"""A')
