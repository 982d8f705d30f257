"""Corpora: the host records of captures, in groups that are set side by side."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from pratique_ingest.profile import NotACapture, host_row, profile_capture
from pratique_local.sample import write_sample
from pratique_shared.frames.records import table_of

SUFFIXES = (".pcap", ".pcapng", ".cap", ".pcap.gz", ".pcapng.gz")
MOST_GROUPS = 4  # that a table can hold side by side
# Control and tunnel protocols that only a mobile network speaks.
RADIO = ("ngap", "s1ap", "xnap", "x2ap", "f1ap", "e1ap", "e2ap", "nas-5gs", "nas-eps", "nr-rrc")
CORE = ("pfcp", "gtp", "gtpv2", "sbi", "diameter")
SIGNALLING = frozenset((*RADIO, *CORE))
WITH_SIGNALLING, WITHOUT_SIGNALLING = "mobile", "other"


@dataclass(frozen=True)
class HostTable:
    """The hosts of one capture, by its name and its group."""

    group: str
    name: str
    hosts: pl.DataFrame = field(repr=False)


@dataclass(frozen=True)
class Corpora:
    """The tables that are studied, and the names of captures that had too few hosts or were none."""

    tables: tuple[HostTable, ...]
    left_out: tuple[str, ...]

    @property
    def groups(self) -> tuple[str, ...]:
        """The names of the groups in order of first appearance."""
        return tuple(dict.fromkeys(table.group for table in self.tables))


def read_corpora(folder: Path, least_hosts: int) -> Corpora:
    """Profile every capture of a folder and group them.

    Folders inside are the groups; else what stands before `__` in the file names, where that makes two to four; else
    captures with signalling of a mobile network stand apart from those without.
    """
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and path.name.lower().endswith(SUFFIXES))
    group_of = _grouping(folder, paths)
    tables, left_out = [], []
    for path in paths:
        hosts = _hosts(path)
        if hosts is None or hosts.height < least_hosts:
            left_out.append(path.name)
        else:
            tables.append(HostTable(group_of(path, hosts), path.name, hosts))
    return Corpora(tuple(tables), tuple(left_out))


def generated_corpora(folder: Path, labs: int = 10, fields: int = 8) -> Corpora:
    """Generate two corpora of different character in a folder and profile them.

    `lab`: captures of few subscribers that end early, down to a handful of hosts, like the ten internal captures of
    the paper. `field`: captures of whole visits of many subscribers, like its eight external ones.
    """
    tables = []
    for number in range(labs):
        path = folder / f"lab-{number}.pcap"
        write_sample(path, seed=100 + number, subscribers=1 + number)
        with path.open("r+b") as file:
            file.truncate(2_000 * 2**number)  # the tap was taken off in the middle of a record
        tables.append(("lab", path))
    for number in range(fields):
        path = folder / f"field-{number}.pcap"
        write_sample(path, seed=200 + number, subscribers=24 + 30 * number)
        tables.append(("field", path))
    found = [(group, path.name, _hosts(path)) for group, path in tables]
    return Corpora(tuple(HostTable(group, name, hosts) for group, name, hosts in found if hosts is not None), ())


def _hosts(path: Path) -> pl.DataFrame | None:
    with path.open("rb") as file:
        try:
            profile = profile_capture(file, pilot=None)
        except NotACapture:
            return None
    return table_of([host_row(host) for host in profile.hosts]) if profile.hosts else None


def _grouping(folder: Path, paths: Sequence[Path]) -> Callable[[Path, pl.DataFrame], str]:
    if len({path.parent for path in paths}) > 1:
        return lambda path, _: path.relative_to(folder).parts[0] if path.parent != folder else folder.name
    if all("__" in path.name for path in paths):
        prefixes = {_prefix(path) for path in paths}
        if 1 < len(prefixes) <= MOST_GROUPS:
            return lambda path, _: _prefix(path)
    return lambda _, hosts: WITH_SIGNALLING if SIGNALLING & set(_protocols(hosts)) else WITHOUT_SIGNALLING


def _prefix(path: Path) -> str:
    return path.name.partition("__")[0]


def _protocols(hosts: pl.DataFrame) -> Iterator[str]:
    for protocols in hosts["protocols"].to_list():
        yield from protocols or ()
