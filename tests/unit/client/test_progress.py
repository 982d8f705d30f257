"""A person is told how far it is, by a bar at a terminal and by plain lines elsewhere; nobody else is."""

import io
import sys
from pathlib import Path

import httpx
import pytest

from pratique.cli import main
from pratique.commands.shell import follow
from pratique.progress import Bar
from tests.unit.client.scripted import Scripted


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_bar_shows_how_far_and_is_gone_at_the_end() -> None:
    stream = Terminal()
    ticks = iter((0.0, 1.0, 2.0))
    with Bar("sending", stream=stream, clock=lambda: next(ticks)) as bar:
        bar(0, 200)
        bar(50, 200)
        bar(200, 200)
    drawn = stream.getvalue().split("\r\x1b[K")
    assert drawn[1:] == [
        f"sending [{'.' * 24}]   0 %",
        f"sending [{'#' * 6}{'.' * 18}]  25 %",
        f"sending [{'#' * 24}] 100 %",
        "",
    ]


def test_a_bar_is_drawn_at_most_ten_times_a_second_and_always_at_the_end() -> None:
    stream = Terminal()
    bar = Bar("sending", stream=stream, clock=lambda: 0.05)
    for done in range(1, 101):
        bar(done, 100)
    assert stream.getvalue().count("sending") == 2


def test_nothing_is_drawn_where_nobody_wants_it() -> None:
    pipe, terminal = io.StringIO(), Terminal()
    ticks = iter((0.0, 60.0))
    for stream in (pipe, terminal):
        with Bar("sending", stream=stream, shown=False, clock=lambda: next(ticks)) as bar:
            bar(1, 2)
    assert (pipe.getvalue(), terminal.getvalue()) == ("", "")


def test_where_there_is_no_terminal_a_plain_line_is_written_every_five_seconds() -> None:
    stream = io.StringIO()
    ticks = iter((0.0, 1.0, 5.5, 7.0, 11.0))
    with Bar("running", stream=stream, clock=lambda: next(ticks)) as bar:
        for done in (10, 55, 70, 100):
            bar(done, 1000, note=f"{done} packets")
    assert stream.getvalue() == "running 5 %, 55 packets\nrunning 10 %, 100 packets\n"


def test_the_progress_of_a_capture_is_its_share_and_its_packets() -> None:
    stream = Terminal()
    with Bar("profiling", stream=stream) as bar:
        follow(bar)({"status": "running", "progress": {"packets": 12_288, "bytes": 500, "share": 0.25}})
    assert f"running [{'#' * 6}{'.' * 18}]  25 %, 12,288 packets" in stream.getvalue()


@pytest.mark.parametrize("options", ["--json ", "--quiet "])
def test_neither_a_program_nor_a_script_is_told_how_far_it_is(options: str, tmp_path: Path) -> None:
    file, terminal = tmp_path / "night.pcap", Terminal()
    file.write_bytes(b"x")
    running = {"id": "cap_1", "status": "running", "progress": {"packets": 1, "bytes": 1, "share": 0.5}}
    service = Scripted(*(httpx.Response(200, json=each) for each in (running, running, running | {"status": "ready"})))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stderr", terminal)
        assert main(f"{options}capture push {file}".split(), connect=lambda _: service.client()) == 0
    assert terminal.getvalue() == ""


def test_a_person_at_a_terminal_sees_how_much_of_a_capture_is_profiled(tmp_path: Path) -> None:
    file, terminal = tmp_path / "night.pcap", Terminal()
    file.write_bytes(b"x")
    running = {"id": "cap_1", "status": "running", "progress": {"packets": 4096, "bytes": 1, "share": 0.5}}
    service = Scripted(*(httpx.Response(200, json=each) for each in (running, running, running | {"status": "ready"})))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stderr", terminal)
        assert main(f"capture push {file}".split(), connect=lambda _: service.client()) == 0
    assert "50 %, 4,096 packets" in terminal.getvalue()


def test_a_total_that_nobody_knows_is_no_division_by_zero() -> None:
    stream = Terminal()
    with Bar("queued", stream=stream) as bar:
        bar(0, 0, "running")
    assert "running [" in stream.getvalue()
