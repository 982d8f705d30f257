"""Arguments: how the words of a command line become values."""

import argparse
import json
import math
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Protocol

from pratique.exchange import Json, written

BOUND = re.compile(r"\s*([a-z][a-z_]*(?:\.[a-z_]+)?)\s*(>=|<=)\s*([-+0-9.eE]+)\s*")
SIDES = {">=": "min", "<=": "max"}


class Misuse(Exception):
    """The words fit the grammar of a command and still do not go together: exit status 2."""


class Commands(Protocol):
    """The part of argparse's nameless sub-parser collection that is used."""

    def add_parser(self, name: str, **settings: Any) -> argparse.ArgumentParser:  # noqa: ANN401 - as argparse has it
        """Add a command and return its parser."""
        ...


def common() -> argparse.ArgumentParser:
    """Return the options that stand before a command as well as after it."""
    parser = argparse.ArgumentParser(add_help=False, argument_default=argparse.SUPPRESS)
    group = parser.add_argument_group("for every command")
    group.add_argument("--url", help="address of the service (PRATIQUE_URL; http://127.0.0.1:8080)")
    group.add_argument(
        "--key-file",
        metavar="FILE",
        help="file with the API key (PRATIQUE_KEY, PRATIQUE_KEY_FILE; ./.data/admin.key for a service on this machine)",
    )
    group.add_argument("--json", action="store_true", help="print JSON as the service gave it, errors included")
    group.add_argument("--quiet", action="store_true", help="print ids and verdicts only, no progress")
    return parser


def group(commands: Commands, name: str, summary: str, text: str = "", epilog: str = "") -> argparse.ArgumentParser:
    """Add a command, or a noun that has commands of its own; `epilog` shows how it is used."""
    parser = commands.add_parser(
        name,
        help=summary,
        description=text or summary,
        epilog=epilog,
        parents=[common()],
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(parser=parser)
    return parser


def add_wait(
    parser: argparse.ArgumentParser, until: str, otherwise: str = "return with the id at once; the work goes on"
) -> None:
    """Add --wait, which is the default, --no-wait and --timeout."""
    parser.add_argument(
        "--wait",
        action=argparse.BooleanOptionalAction,
        default=True,
        help=f"stay until {until} (default), or {otherwise}",
    )
    parser.add_argument(
        "--timeout", type=seconds, default=600.0, metavar="SECONDS", help="how long to stay (default 600)"
    )


def add_limit(parser: argparse.ArgumentParser, default: int = 20) -> None:
    """Add --limit; 0 means all."""
    said = str(default) if default else "all"
    parser.add_argument(
        "--limit", type=count, default=default, metavar="N", help=f"the first N (default {said}; 0: all)"
    )


def bound(text: str) -> tuple[str, str, float]:
    """Read `k>=3` or `t<=0.5` into metric, side and number."""
    found = BOUND.fullmatch(text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no bound: write METRIC>=NUMBER or METRIC<=NUMBER, in quotes")
    metric, operator, digits = found.groups()
    return metric, SIDES[operator], number(digits)


def number(digits: str) -> float:
    """Read a finite number; one without point or exponent stays an integer."""
    try:
        value = int(digits) if re.fullmatch(r"[-+]?\d+", digits) else float(digits)
        finite = math.isfinite(value)
    except (ValueError, OverflowError):  # a whole number may be beyond what a float holds
        finite = False
    if not finite:
        raise argparse.ArgumentTypeError(f"{digits!r} is no number")
    return value


def gate(bounds: Iterable[tuple[str, str, float]]) -> dict[str, dict[str, float]]:
    """Join bounds into the `gate` of a request; raises Misuse where one side of a metric is bound twice."""
    joined: dict[str, dict[str, float]] = {}
    for metric, side, value in bounds:
        if side in joined.setdefault(metric, {}):
            raise Misuse(f"--gate bounds {metric} twice on the same side")
        joined[metric][side] = value
    return joined


def json_object(text: str) -> Json:
    """Read a JSON object from a file, or from standard input for `-`."""
    try:
        content = sys.stdin.read() if text == "-" else Path(text).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise argparse.ArgumentTypeError(f"cannot read {text}: {reason}") from None
    try:
        document = written(content)
    except json.JSONDecodeError as error:
        raise argparse.ArgumentTypeError(f"{text} is not JSON: line {error.lineno}, {error.msg}") from None
    except ValueError:
        advice = "each name once in an object, no NaN, no depth without end"
        raise argparse.ArgumentTypeError(f"{text} is not plain JSON: {advice}") from None
    if not isinstance(document, dict):
        raise argparse.ArgumentTypeError(f"{text} is not a JSON object")
    return document


def policy(text: str) -> str | Json:
    """Read a policy: a name as it stands, or the content of a `.json` file."""
    ending = Path(text).suffix.lower()
    if ending in (".yaml", ".yml"):
        raise argparse.ArgumentTypeError("policy files are JSON; convert the YAML first")
    return json_object(text) if ending == ".json" else text


def seconds(text: str) -> float:
    """Read a positive number of seconds."""
    return _positive(number(text), text)


def example(*lines: str) -> str:
    """Return how a command is used, as the end of its help."""
    return "\n  ".join(["example:" if len(lines) == 1 else "examples:", *lines])


def count(text: str) -> int:
    """Read a whole number from 0."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 0")
    return int(text)


def some(text: str) -> int:
    """Read a whole number from 1."""
    return int(_positive(count(text), text))


def _positive(value: float, text: str) -> float:
    if value <= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not above 0")
    return value
