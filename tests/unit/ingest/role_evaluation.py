"""The roles of labelled hosts: what the rules gave, held against what the laboratories say of their own hosts.

`python -m tests.unit.ingest.role_evaluation` prints the figures of docs/roles.md, `--write` puts them there.
"""

import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from pratique_ingest.profile import profile_capture
from pratique_ingest.protocols.findings import Sign
from pratique_ingest.roles import COMMON, MESSAGE, PORT, RULES, SERVICE, SHARED, UNKNOWN
from tests.support.beside import REPOSITORY, captures

LABELS = Path(__file__).with_name("role_labels.toml")
DOCUMENT = REPOSITORY / "docs" / "roles.md"
STRENGTHS = {
    MESSAGE: "a message that only one side sends", SHARED: "a message that functions of 4G and 5G share",
    SERVICE: "a named service", PORT: "a server's port", COMMON: "a port or protocol that both sides use",
}  # fmt: skip
# What is said where a message was seen but not which side a host is on, or only a port.
VAGUE = {rule.role for rule in RULES if rule.strength == COMMON} - {
    rule.role for rule in RULES if rule.strength > COMMON
}


class Label(NamedTuple):
    """What the documentation says of a host; the first role is the one that a reader would name."""

    file: str
    ip: str
    roles: tuple[str, ...]


class Judged(NamedTuple):
    """A labelled host and the roles that the rules gave, strongest first."""

    label: Label
    given: tuple[str, ...]

    @property
    def first_right(self) -> bool:
        """Whether the first role is one of the host's."""
        return self.given[0] in self.label.roles

    @property
    def any_right(self) -> bool:
        """Whether one of the roles is one of the host's."""
        return bool(set(self.given) & set(self.label.roles))

    @property
    def verdict(self) -> str:
        """Right, vague, silent or wrong, by the first role."""
        if self.first_right:
            return "right"
        if self.given[0] == UNKNOWN:
            return "silent"
        return "vague" if self.given[0] in VAGUE else "wrong"


def labels() -> Iterator[Label]:
    """Read the labels."""
    for capture in tomllib.loads(LABELS.read_text(encoding="utf-8"))["capture"]:
        for ip, roles in capture["roles"].items():
            yield Label(capture["file"], ip, tuple(roles))


def judge(folder: Path) -> list[Judged]:
    """Profile the labelled captures and lay the roles beside the labels; raises KeyError for a host that is none."""
    given: dict[tuple[str, str], tuple[str, ...]] = {}
    asked = list(labels())
    for file in dict.fromkeys(label.file for label in asked):
        with (folder / file).open("rb") as source:
            profile = profile_capture(source, pilot=None)
        given |= {(file, host.ip): host.roles for host in profile.hosts}
    return [Judged(label, given[label.file, label.ip]) for label in asked]


def report(judged: list[Judged]) -> str:
    """Return the figures as Markdown."""
    single = [one for one in judged if len(one.label.roles) == 1]
    several = [one for one in judged if len(one.label.roles) > 1]
    return "\n".join(
        [*_summary(judged, single, several), "", *_roles(judged), "", *_confusion(single), "", *_missed(judged)]
    )


def _share(some: int, all_: int) -> str:
    return f"{some} of {all_}" + (f" ({100 * some / all_:.1f} %)" if all_ else "")


def _table(*rows: Iterable[object]) -> list[str]:
    laid = ["| " + " | ".join(map(str, row)) + " |" for row in rows]
    return [laid[0], "|" + "---|" * laid[0].count(" | ") + "---|", *laid[1:]]


def _summary(judged: list[Judged], single: list[Judged], several: list[Judged]) -> list[str]:
    files = len({one.label.file for one in judged})
    verdicts = Counter(one.verdict for one in judged)

    def right(some: list[Judged]) -> str:
        return _share(sum(one.first_right for one in some), len(some))

    return _table(
        ("", "hosts"),
        (f"labelled, in {files} captures", len(judged)),
        ("the first role is right", right(judged)),
        ("of hosts with one function", right(single)),
        ("of hosts with several", right(several)),
        ("any of the roles is right", _share(sum(one.any_right for one in judged), len(judged))),
        ("the first role leaves the side open", verdicts["vague"]),
        ("no role, where there is one", verdicts["silent"]),
        ("another role", verdicts["wrong"]),
    )


def _roles(judged: list[Judged]) -> list[str]:
    rows: list[tuple[object, ...]] = [("role", "labelled", "found", "recall", "given first", "precision")]
    for role in sorted({role for one in judged for role in (*one.label.roles, one.given[0])} - VAGUE):
        held = [one for one in judged if role in one.label.roles]
        found = sum(role in one.given for one in held)
        first = [one for one in judged if one.given[0] == role]
        right = sum(one.first_right for one in first)
        recall = f"{found / len(held):.2f}" if held else ""
        rows.append((role, len(held), found, recall, len(first), f"{right / len(first):.2f}" if first else ""))
    return _table(*rows)


def _confusion(single: list[Judged]) -> list[str]:
    rows: list[tuple[object, ...]] = [("is", "hosts", "first role given")]
    for role in sorted({one.label.roles[0] for one in single}):
        given = Counter(one.given[0] for one in single if one.label.roles[0] == role)
        rows.append((role, given.total(), ", ".join(f"{name} {count}" for name, count in given.most_common())))
    return _table(*rows)


def _missed(judged: list[Judged]) -> list[str]:
    rows: list[tuple[object, ...]] = [("capture", "host", "is", "roles given")]
    missed = [one for one in judged if not one.first_right]
    rows += [(one.label.file, one.label.ip, ", ".join(one.label.roles), ", ".join(one.given)) for one in missed]
    return _table(*rows)


def rules() -> str:
    """Return the rule table as Markdown, strongest first; the rules of SBI are one row."""
    rows: dict[tuple[int, str], list[str]] = {}
    for rule in sorted(RULES, key=lambda one: -one.strength):
        evidence = rule.evidence
        if rule.sign.name.startswith("SBI_") and rule.sign is not Sign.SBI_RELAY:
            evidence = evidence.replace(rule.role, "such")
        rows.setdefault((rule.strength, evidence), []).append(rule.role)
    laid = [(STRENGTHS[strength], ", ".join(roles), evidence) for (strength, evidence), roles in rows.items()]
    return "\n".join(_table(("strength", "role", "evidence"), *laid))


def block(document: str, name: str) -> str:
    """Return what stands between the marks of a block."""
    return document.partition(f"<!-- {name}: begin -->\n")[2].partition(f"\n<!-- {name}: end -->")[0]


def written(document: str, name: str, text: str) -> str:
    """Return the document with this text in a block."""
    begin, end = f"<!-- {name}: begin -->\n", f"\n<!-- {name}: end -->"
    before, _, rest = document.partition(begin)
    return before + begin + text + end + rest.partition(end)[2]


def main() -> None:
    """Print the figures, and write them where that was asked."""
    figures = report(judge(captures()))
    sys.stdout.write(figures + "\n")
    if "--write" in sys.argv:
        document = written(DOCUMENT.read_text(encoding="utf-8"), "measured", figures)
        DOCUMENT.write_text(written(document, "rules", rules()), encoding="utf-8")


if __name__ == "__main__":
    main()
