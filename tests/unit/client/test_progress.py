"""A bar is drawn for a person at a terminal and for nobody else."""

import io

from pratique.progress import Bar


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


def test_nothing_is_drawn_where_there_is_no_terminal_or_nobody_wants_it() -> None:
    pipe, terminal = io.StringIO(), Terminal()
    for bar in (Bar("sending", stream=pipe), Bar("sending", stream=terminal, shown=False)):
        with bar:
            bar(1, 2)
    assert (pipe.getvalue(), terminal.getvalue()) == ("", "")


def test_a_total_that_nobody_knows_is_no_division_by_zero() -> None:
    stream = Terminal()
    with Bar("queued", stream=stream) as bar:
        bar(0, 0, "running")
    assert "running [" in stream.getvalue()
