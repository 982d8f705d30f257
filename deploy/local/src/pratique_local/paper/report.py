"""The report: everything that is computed, put into one document and written as Markdown and HTML."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from pratique_local.paper.corpus import Corpora, generated_corpora, read_corpora
from pratique_local.paper.disclosure import configurations_section, index_section
from pratique_local.paper.document import Block, Heading, Items, Paragraph, as_html, as_markdown, figures_of
from pratique_local.paper.generalisation import generalisation_section
from pratique_local.paper.learning import Learned, learn
from pratique_local.paper.mechanisms import Solved
from pratique_local.paper.releases import Swept, sweep
from pratique_local.paper.statements import findings_section
from pratique_local.paper.usefulness import utility_section
from pratique_privacy.sweeps.results import Section, SweepResults, part_csv, part_parquet, summarise
from pratique_shared.contracts.adversary import Attacks
from pratique_shared.contracts.utility import UtilityTask

PARTS: tuple[Section, ...] = ("releases", "averages", "correlations", "leads", "findings")


@dataclass(frozen=True)
class Studied:
    """What a report is made of: least hosts of a capture, repeated splits, trees, and the seed of all chance."""

    least_hosts: int = 2
    repeats: int = 20
    trees: int = 400
    seed: int = 1


def write_report(captures: Path | None, out: Path, asked: Studied, say: Callable[[str], None] = print) -> SweepResults:
    """Study the captures of a folder, or generated ones, and write the report with its figures and tables to `out`.

    Raises ValueError where no capture has enough hosts.
    """
    with TemporaryDirectory(prefix="pratique-") as folder:
        corpora = generated_corpora(Path(folder)) if captures is None else read_corpora(captures, asked.least_hosts)
    if not corpora.tables:
        raise ValueError(f"no capture has {asked.least_hosts} hosts or more")
    say(f"{len(corpora.tables)} captures in {len(corpora.groups)} groups: {', '.join(corpora.groups)}")
    swept = list(sweep(corpora.tables, Attacks(seed=asked.seed)))
    chance = np.random.Generator(np.random.PCG64(np.random.SeedSequence(asked.seed)))
    results = summarise([one.figures for one in swept], chance)
    say(f"{len(swept)} releases measured and attacked")
    task = UtilityTask(repeats=asked.repeats, seed=asked.seed, exempt_rarest=2, trees=asked.trees)
    learned = learn(corpora.tables, task)
    blocks = [
        *_opening(corpora, swept, asked, generated=captures is None),
        *findings_section(results.findings, learned),
        *configurations_section(results, corpora.groups),
        *index_section(results, corpora.groups),
        *utility_section(learned, task),
        *generalisation_section(Solved(), chance),
    ]
    _write(out, blocks, results, learned)
    return results


def _opening(corpora: Corpora, swept: list[Swept], asked: Studied, *, generated: bool) -> Iterator[Block]:
    yield Heading("What the paper found, on these captures", 1)
    kind = "generated captures" if generated else "captures"
    yield Paragraph(
        f"{len(corpora.tables)} {kind} under the configurations C0 to C7 of Kekatos et al. 2026 "
        f"({len(swept)} releases), each through the policy, the metrics and both adversaries. Seed {asked.seed}."
    )
    for_each = [[table for table in corpora.tables if table.group == group] for group in corpora.groups]
    described = [
        f"{tables[0].group}: {len(tables)} captures of {min(table.hosts.height for table in tables)} to "
        f"{max(table.hosts.height for table in tables)} hosts, {sum(table.hosts.height for table in tables)} in all"
        for tables in for_each
    ]
    if corpora.left_out:
        described.append(
            f"left out: {len(corpora.left_out)} captures with fewer than {asked.least_hosts} hosts, or none at all"
        )
    simulations, wrong = sum(one.simulations for one in swept), sum(one.disagreements for one in swept)
    described.append(f"{simulations} simulations stand beside exact expectations; {wrong} disagree with them")
    yield Items(described)


def _write(out: Path, blocks: list[Block], results: SweepResults, learned: Learned | None) -> None:
    out.mkdir(parents=True, exist_ok=True)
    (out / "report.md").write_text(as_markdown(blocks))
    (out / "report.html").write_text(as_html(blocks))
    for figure in figures_of(blocks):
        (out / f"{figure.name}.svg").write_text(figure.svg)
    for part in PARTS:
        (out / f"{part}.csv").write_bytes(part_csv(results, part))
        (out / f"{part}.parquet").write_bytes(part_parquet(results, part))
    rows = [] if learned is None else [row.model_dump_json() for row in learned.rows]
    (out / "utility.ndjson").write_text("".join(f"{row}\n" for row in rows))
