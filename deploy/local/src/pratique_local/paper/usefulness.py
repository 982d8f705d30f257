"""Usefulness: the section on what a classifier still learns (Table V)."""

from collections.abc import Iterator, Sequence

from pratique_local.paper.charts import Line, line_chart
from pratique_local.paper.disclosure import NONE
from pratique_local.paper.document import Block, Figure, Heading, Paragraph, Table
from pratique_local.paper.learning import FEATURES, LABEL, Learned
from pratique_local.paper.published import UTILITY
from pratique_shared.contracts.utility import UtilityRow, UtilityTask

SCORES = ("macro_f1", "accuracy", "edge_recall")
SHORT = {"macro_f1": "macro-F1", "accuracy": "accuracy", "edge_recall": "recall, rarest"}
NAMES = {"macro_f1": "macro-F1", "accuracy": "accuracy", "edge_recall": "recall on the two rarest"}


def utility_section(learned: Learned | None, task: UtilityTask) -> Iterator[Block]:
    """Yield Table V over repeated splits and over one, and the curve of usefulness against survival."""
    yield Heading("What a classifier still learns (Table V)")
    if learned is None:
        yield Paragraph("The captures hold fewer than two roles to tell apart: there is nothing to learn.")
        return
    yield Paragraph(
        f"{learned.records} hosts of all captures; the {LABEL} is predicted from {', '.join(FEATURES)} by a random "
        f"forest of {task.trees} trees with balanced class weights. Labels of fewer than six hosts are one label, "
        f"Other; there are {len(learned.labels)} labels, and the two rarest are {' and '.join(learned.edge)}. "
        "Training rows leave when fewer than tau of them share all three features; the test part is untouched. "
        "“exempt” keeps the training rows of the two rarest labels."
    )
    yield _table(f"Table V: means over {task.repeats} stratified splits, 95 % intervals", learned.rows)
    yield _table("Table V: one stratified split, as in the paper", learned.single)
    yield _published()
    yield _curve(learned.rows)


def _table(caption: str, rows: Sequence[UtilityRow]) -> Table:
    columns = ["tau", "survival", *NAMES.values(), "F1 retained", "nothing left"]
    cells = []
    for row in rows:
        figures = [_figure(row, name) for name in ("survival", *SCORES, "f1_retained")]
        cells.append([_variant(row), *figures, f"{row.untrained}/{row.repeats}"])
    return Table(caption, columns, cells)


def _figure(row: UtilityRow, name: str) -> str:
    value: float | None = getattr(row, name)
    interval: tuple[float, float] | None = getattr(row.ci95, name)
    if value is None:
        return NONE
    return f"{value:.2f}" if interval is None else f"{value:.2f} [{interval[0]:.2f}, {interval[1]:.2f}]"


def _variant(row: UtilityRow) -> str:
    return f"{row.tau}, exempt" if row.exempt_rarest else str(row.tau)


def _published() -> Table:
    rows = [[str(tau), *(f"{value:.2f}" for value in values)] for tau, values in UTILITY.items()]
    return Table("Table V as printed", ["tau", "survival", *NAMES.values(), "F1 retained"], rows)


def _curve(rows: Sequence[UtilityRow]) -> Figure:
    plain = [row for row in rows if not row.exempt_rarest]
    exempt = [row for row in rows if row.exempt_rarest or row.tau == 1]
    series = [_line(SHORT[name], name, plain) for name in SCORES]
    if len(exempt) > 1:
        series += [
            _line("macro-F1, exempt", "macro_f1", exempt, dashed=True),
            _line("recall, exempt", "edge_recall", exempt, dashed=True),
        ]
    svg = line_chart(
        "Usefulness against survival",
        series,
        x_title="share of training rows that survive",
        y_title="score on the test part",
        x=(0.0, 1.0),
        y=(0.0, 1.0),
    )
    caption = "What a classifier scores as suppression leaves it fewer rows; one mark for each tau, 95 % intervals."
    return Figure("usefulness", caption, svg)


def _line(title: str, name: str, rows: Sequence[UtilityRow], *, dashed: bool = False) -> Line:
    ordered = sorted(rows, key=lambda row: row.survival)
    return Line(
        title,
        [row.survival for row in ordered],
        [getattr(row, name) for row in ordered],
        [getattr(row.ci95, name) for row in ordered],
        dashed,
    )
