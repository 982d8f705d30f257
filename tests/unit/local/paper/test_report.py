"""The paper report: generated captures go in, tables, figures and verdicts come out."""

import json
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

import polars as pl
import pytest

from pratique_local.paper import Studied, write_report
from pratique_local.paper.corpus import Corpora, generated_corpora, read_corpora
from pratique_local.paper.document import Table
from pratique_local.paper.learning import Learned
from pratique_local.paper.releases import sweep
from pratique_local.paper.statements import findings_section
from pratique_local.sample import write_sample
from pratique_privacy.sweeps.figures import FIGURES
from pratique_shared.contracts.adversary import Attacks
from pratique_shared.contracts.utility import UtilityInterval, UtilityRow
from tests.support.beside import captures

QUICK = Studied(repeats=1, trees=3)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two corpora of two captures, one of them cut short, and a file that is none."""
    root = tmp_path_factory.mktemp("captures")
    for group, seed, size in (("site", 1, None), ("site", 2, 40_000), ("bench", 3, 20_000), ("bench", 4, 60_000)):
        (root / group).mkdir(exist_ok=True)
        path = root / group / f"{seed}.pcap"
        write_sample(path, seed=seed, subscribers=2)
        if size is not None:
            path.write_bytes(path.read_bytes()[:size])
    (root / "bench" / "none.pcap").write_bytes(b"no capture")
    return root


@pytest.fixture(scope="module")
def corpora(folder: Path) -> Corpora:
    return read_corpora(folder, least_hosts=2)


def test_folders_are_groups_and_what_is_no_capture_is_named(corpora: Corpora) -> None:
    assert corpora.groups == ("bench", "site")
    assert [table.name for table in corpora.tables] == ["3.pcap", "4.pcap", "1.pcap", "2.pcap"]
    assert corpora.left_out == ("none.pcap",)


def test_captures_of_fewer_hosts_are_left_out(folder: Path, corpora: Corpora) -> None:
    most = max(table.hosts.height for table in corpora.tables)
    kept = read_corpora(folder, least_hosts=most)
    assert [table.hosts.height for table in kept.tables] == [most]


def test_generated_captures_are_two_corpora_of_different_size(tmp_path: Path) -> None:
    found = generated_corpora(tmp_path, labs=2, fields=1)
    sizes = [(table.group, table.hosts.height) for table in found.tables]
    assert [group for group, _ in sizes] == ["lab", "lab", "field"]
    assert 2 <= sizes[0][1] <= sizes[1][1] < sizes[2][1]


@pytest.mark.parametrize(
    ("names", "groups"),
    [(["a__1.pcap", "b__1.pcap"], ("a", "b")), (["1.pcap", "2.pcap"], ("mobile",)), (["a__1.pcap"], ("mobile",))],
    ids=["two prefixes", "no prefix", "one prefix"],
)
def test_prefixes_are_groups_else_signalling_tells(
    folder: Path, tmp_path: Path, names: Sequence[str], groups: tuple[str, ...]
) -> None:
    for name in names:
        (tmp_path / name).write_bytes((folder / "bench" / "4.pcap").read_bytes())
    assert read_corpora(tmp_path, 2).groups == groups


def test_every_capture_is_released_under_every_configuration_and_the_simulations_agree(corpora: Corpora) -> None:
    swept = list(sweep(corpora.tables[:2], Attacks(repetitions=5)))
    assert [one.figures.configuration for one in swept] == [f"C{n}" for n in range(8)] * 2
    plain, hashed = swept[0].figures, swept[1].figures
    assert [plain.figure(name) for name in FIGURES] == [hashed.figure(name) for name in FIGURES]
    # One address a host: exact 1, partial (1 + 1/N)/2, linkage .8 + .2/N.
    hosts = corpora.tables[0].hosts.height
    assert (plain.exact, plain.partial, plain.linkage) == pytest.approx((1, (1 + 1 / hosts) / 2, 0.8 + 0.2 / hosts))
    assert [(one.simulations, one.disagreements) for one in swept] == [(2, 0)] * 16


def test_the_report_has_tables_figures_and_verdicts(folder: Path, tmp_path: Path) -> None:
    told: list[str] = []
    results = write_report(folder, tmp_path, QUICK, told.append)
    assert len(results.releases) == 32
    assert told == ["4 captures in 2 groups: bench, site", "32 releases measured and attacked"]
    report, page = (tmp_path / "report.md").read_text(), (tmp_path / "report.html").read_text()
    for heading in ("Table II, bench", "Table II, all captures", "Table III, site", "Table IV", "Which findings hold"):
        assert heading in report
        assert heading in page
    assert "|C0 = C1 in every figure|all captures|all|holds|0 of 4 captures differ|" in report
    pictures = sorted(tmp_path.glob("*.svg"))
    assert [picture.stem for picture in pictures] == [
        "exact-by-group", "generalisation", "index-exact", "index-partial", "measures", "usefulness",
    ]  # fmt: skip
    for picture in pictures:
        assert f"({picture.name})" in report
        assert ElementTree.fromstring(picture.read_text()).get("role") == "img"
    assert page.count("<svg") == len(pictures)
    assert pl.read_csv(tmp_path / "releases.csv").height == pl.read_parquet(tmp_path / "releases.parquet").height == 32
    rows = [json.loads(line) for line in (tmp_path / "utility.ndjson").read_text().splitlines()]
    assert [row["tau"] for row in rows] == [1, 2, 2, 3, 3, 5, 5, 8, 8, 12, 12]


def test_no_capture_of_enough_hosts_is_told(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no capture has 2 hosts or more"):
        write_report(tmp_path, tmp_path / "out", QUICK, lambda _: None)


def row(tau: int, accuracy: float, edge: float, retained: float, *, exempt: int = 0) -> UtilityRow:
    none = UtilityInterval(survival=None, macro_f1=None, accuracy=None, edge_recall=None, f1_retained=None)
    return UtilityRow(
        tau=tau, exempt_rarest=exempt, repeats=1, untrained=0, survival=1, macro_f1=retained, accuracy=accuracy,
        edge_recall=edge, f1_retained=retained, ci95=none,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "verdicts"),
    [
        # The printed Table V with its exemption at tau = 8.
        ([row(1, 0.83, 0.92, 1), row(2, 0.74, 0.42, 0.53), row(8, 0.76, 0.42, 0.37), row(8, 0.8, 0.92, 0.68, exempt=2)],
         ["holds"] * 4),
        ([row(1, 0.8, 0.5, 1), row(2, 0.7, 0.5, 0.9), row(8, 0.1, 0.5, 0.9), row(8, 0.8, 0.5, 0.9, exempt=2)],
         ["does not hold"] * 4),
        ([row(1, 0.8, 0.0, 1), row(2, 0.7, 0.0, 0.9), row(8, 0.8, 0.0, 0.9), row(8, 0.8, 0.0, 0.9, exempt=2)],
         ["holds", "holds", "cannot be told", "cannot be told"]),
    ],
    ids=["as printed", "the other way", "rarest never recognised"],
)  # fmt: skip
def test_statements_on_usefulness_follow_the_rows(rows: Sequence[UtilityRow], verdicts: Sequence[str]) -> None:
    *_, table = findings_section([], Learned(60, ("a", "b"), ("a", "b"), tuple(rows), tuple(rows)))
    assert isinstance(table, Table)
    assert [cells[1] for cells in table.rows] == verdicts


def test_real_captures_stand_in_the_groups_of_their_names(tmp_path: Path) -> None:
    for prefix in ("open5gs", "scapy"):
        for path in captures().glob(f"{prefix}__*.pcap*"):
            (tmp_path / path.name).symlink_to(path)
    found = read_corpora(tmp_path, least_hosts=2)
    assert found.groups == ("open5gs", "scapy")
    signalling = {
        table.group for table in found.tables for cell in table.hosts["protocols"].to_list() if "ngap" in cell
    }
    assert signalling == {"open5gs"}
