"""A shell completes the words of the command line from its own grammar."""

import shutil
import subprocess
from pathlib import Path

import pytest

from pratique.cli import main, parser
from pratique.commands.completion import SHELLS, places

BASH = shutil.which("bash") or ""


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("completion") / "pratique.bash"
    path.write_text(SHELLS["bash"](tuple(places(parser()))))
    return path


def completed(script: Path, *words: str, folder: Path | None = None) -> list[str]:
    """What bash offers for the last of these words."""
    program = (
        f'source "{script}"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _pratique; printf "%s\\n" "${{COMPREPLY[@]}}"'
    )
    asked = [BASH, "--norc", "-c", program, "bash", "pratique", *words]
    said = subprocess.run(asked, capture_output=True, text=True, timeout=20, cwd=folder, check=True)
    assert said.stderr == ""
    return said.stdout.split()


needs_bash = pytest.mark.skipif(not BASH, reason="bash is not installed")


@needs_bash
@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["po"], ["policy", "posture"]),
        (["release", "re"], ["records"]),
        (["--json", "--url", "http://a", "webhook", "red"], ["redeliver"]),
        (["release", "create", "--unit", ""], ["host", "session"]),
        (["release", "records", "rel_1", "--format", "c"], ["csv"]),
        (["completion", "z"], ["zsh"]),
        (["risk", "rel_1", "--by", "a"], ["attribute"]),
        (["release", "create", "--wa"], ["--wait"]),
    ],
)
def test_bash_offers_what_the_grammar_allows_there(script: Path, words: list[str], offered: list[str]) -> None:
    assert completed(script, *words) == offered


@needs_bash
def test_bash_offers_every_noun_at_the_start_and_files_where_a_file_is_meant(script: Path, tmp_path: Path) -> None:
    nouns = {place.words[0] for place in places(parser()) if len(place.words) == 1}
    assert nouns <= set(completed(script, ""))
    (tmp_path / "night.pcapng").touch()
    assert completed(script, "capture", "push", "ni", folder=tmp_path) == ["night.pcapng"]
    assert completed(script, "release", "records", "rel_1", "-o", "ni", folder=tmp_path) == ["night.pcapng"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_for_each_shell_names_every_command(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    for place in places(parser()):
        assert all(word in script for word in place.words)


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_the_other_shells_can_read_their_scripts(shell: str, tmp_path: Path) -> None:
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed")
    path = tmp_path / shell
    path.write_text(SHELLS[shell](tuple(places(parser()))))
    assert subprocess.run([program, "-n", str(path)], timeout=20, check=False).returncode == 0
