"""The command line of one machine: what it cannot use is refused with what to give instead."""

import pytest

from pratique_local.__main__ import grammar


@pytest.mark.parametrize(
    ("words", "advice"),
    [
        (("run", "--port", "99999"), "argument --port: '99999' is no port: give a number from 1 to 65535"),
        (("run", "--port", "-1"), "argument --port: '-1' is no port: give a number from 1 to 65535"),
        (("run", "--attack-workers", "0"), "argument --attack-workers: '0' is not above 0"),
        (("demo", "--max-packets", "0"), "argument --max-packets: '0' is not above 0"),
        (("sample", "out.pcap", "--subscribers", "241"), "argument --subscribers: '241' is no number from 1 to 240"),
    ],
)
def test_a_number_that_cannot_be_used_is_refused_with_what_to_give(
    words: tuple[str, ...], advice: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        grammar().parse_args(words)
    assert ended.value.code == 2
    assert capsys.readouterr().err.rstrip().endswith(advice)


def test_a_port_of_the_environment_is_held_like_one_of_the_command_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PRATIQUE_PORT", "80a")
    with pytest.raises(SystemExit):
        grammar().parse_args(["run"])
    assert "'80a' is no port" in capsys.readouterr().err
