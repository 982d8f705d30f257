"""The shell: what a command is given to work with, and the three ways in which it may speak."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TextIO

from pratique.client import Client
from pratique.columns import table
from pratique.exchange import Json
from pratique.progress import Bar
from pratique.waiting import Notice

UNWRAPPED = 1_000_000


@dataclass(frozen=True)
class Screen:
    """The streams, and whether the reader is a person, a program (`json`) or a script (`quiet`)."""

    out: TextIO
    err: TextIO
    width: int
    json: bool = False
    quiet: bool = False

    def show(self, document: Json | list[Json], text: str, short: str = "") -> None:
        """Print a result: as JSON, or as `text`, or under --quiet as `short` (nothing if empty)."""
        if self.json:
            self._write(json.dumps(document, indent=2, ensure_ascii=False))
        elif not self.quiet:
            self._write(text)
        elif short:
            self._write(short)

    def show_list(self, rows: list[Json], headings: Sequence[str], cells: Callable[[Json], Sequence[str]]) -> None:
        """Print a list: as a JSON array, as a table, or under --quiet the first column alone."""
        laid = [cells(row) for row in rows]
        # What a program reads line by line has a row on each line, however wide.
        width = self.width if self.out.isatty() else UNWRAPPED
        self.show(rows, table([headings, *laid], width), short="\n".join(row[0] for row in laid))

    def remark(self, text: str) -> None:
        """Say something beside the result, on standard error, to a person only."""
        if not (self.json or self.quiet):
            print(text, file=self.err)

    def bar(self, label: str) -> Bar:
        """Return what tells a person how far something is: a bar on a terminal, else a line every few seconds."""
        return Bar(label, shown=not (self.json or self.quiet), stream=self.err)

    def _write(self, text: str) -> None:
        if text:
            print(text, file=self.out)


@dataclass(frozen=True)
class Shell(Screen):
    """A screen and a client: what a command has that asks the service."""

    client: Client = field(kw_only=True)


def follow(bar: Bar) -> Notice:
    """Return what moves a bar by the states of a run that is waited for."""

    def notice(state: Json) -> None:
        stage = str(state.get("status", ""))
        match state.get("progress"):
            case {"done": int() as done, "total": int() as total, **further}:
                bar(done, total, str(further.get("stage") or stage))
            case {"share": int() | float() as share, "packets": int() as packets} if 0 <= share <= 1:
                bar(int(1000 * share), 1000, stage, f"{packets:,} packets")
            case int() | float() as share if 0 <= share <= 1:
                bar(int(1000 * share), 1000, stage)
            case _:
                bar(0, 0, stage)

    return notice
