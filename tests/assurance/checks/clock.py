"""Clock jumps: the calendar of every process is set forward and back by an hour and a day while releases run.

The queue server keeps its own clock. Retention is asked by its rule, since the hour that it waits is an hour.
"""

import base64
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from pratique_privacy.retention.rule import CONFIRMED, Keep, Watch, looked, overdue
from pratique_shared.runtime.clock import id_at
from tests.assurance.figures import Figure, Profile, none, some
from tests.assurance.traffic import JSON, Caller, request_of, unfinished
from tests.support.house import House, house

HOUR, DAY = 3600, 86_400
JUMPS = (0, HOUR, 0, -HOUR, 0, DAY, 0, -DAY, 0)  # seconds that the calendar is off by, one after the other
RELEASES = {Profile.CI: 3, Profile.FULL: 20}  # posted under each
BACKLOG = 300
JUMPING = Path(__file__).resolve().parents[2] / "support" / "jumping"


def clock_jumps(profile: Profile, folder: Path) -> Iterator[Figure]:
    """Post releases under every jump, jump while they are worked on, and look at what became of them."""
    offset = folder / "offset"
    offset.write_text("0")
    path = os.pathsep.join([str(JUMPING), os.environ.get("PYTHONPATH", "")])
    with house(folder / "house", PYTHONPATH=path, CLOCK_OFFSET=str(offset)) as running:
        found = Jumped(running, offset)
        for number, jump in enumerate(JUMPS):
            found.jump(jump)
            found.post(number, RELEASES[profile])
        yield from found.figures()
    yield from retention()


@dataclass
class Jumped:
    """A house whose calendar jumps, and the releases that it accepted."""

    running: House
    offset: Path

    def __post_init__(self) -> None:
        self.caller = Caller(self.running)
        self.accepted: list[str] = []
        self.other_answers = 0
        self.dates: set[str] = set()

    def jump(self, seconds: int) -> None:
        """Set the calendar of every process."""
        draft = self.offset.with_suffix(".next")
        draft.write_text(str(seconds))
        draft.replace(self.offset)

    def post(self, number: int, count: int) -> None:
        """Ask for releases, and for the first of the round before once more, with the same key."""
        for each in range(count):
            answer = self._ask(f"{number}-{each}")
            if answer is not None:
                self.accepted.append(answer)
                created = json.loads(self.caller.ask("GET", f"/releases/{answer}").body)["created_at"]
                self.dates.add(created[:10])
        if number and abs(JUMPS[number] - JUMPS[number - 1]) < DAY:  # a key is kept for a day of the calendar
            self.other_answers += self._ask(f"{number - 1}-0") != self.accepted[(number - 1) * count]

    def _ask(self, key: str) -> str | None:
        body = request_of(100, key)
        answer = self.caller.ask("POST", "/releases", body, Content_Type=JSON, Idempotency_Key=key)
        return answer.id if answer.status in (200, 202) else None

    def figures(self) -> Iterator[Figure]:
        """Wait for all of them, and hold them against each other and against their dates."""
        yield some("releases accepted under nine settings of the calendar", len(self.accepted), len(JUMPS))
        yield some("days that they were dated", len(self.dates), 3)
        yield none("releases that did not end", unfinished(self.running, self.accepted, BACKLOG))
        with self.running.client() as client:
            listed = [release["id"] for release in client.releases()]
            postures = [client.posture(identity) for identity in self.accepted]
        yield none("releases lost", len(set(self.accepted) - set(listed)))
        yield none("releases made twice", len(listed) - len(set(self.accepted)))
        yield none("repeated requests that were answered with another release", self.other_answers)
        first = postures[0]
        different = [one for one in postures if (one["after"], one["attacks"]) != (first["after"], first["attacks"])]
        yield none("releases with other figures", len(different))
        yield none("certificates dated before their data", sum(map(self._is_early, self.accepted)))

    def _is_early(self, identity: str) -> bool:
        created = json.loads(self.caller.ask("GET", f"/releases/{identity}").body)["created_at"]
        envelope = json.loads(self.caller.ask("GET", f"/releases/{identity}/certificate").body)
        statement: dict[str, Any] = json.loads(base64.b64decode(envelope["payload"]))
        issued: str = statement["predicate"]["issued_at"]
        return datetime.fromisoformat(issued) < datetime.fromisoformat(created)


def retention() -> Iterator[Figure]:
    """Let the rule of retention look every ten minutes through each jump, over things that are kept for seven days."""
    start, keep = datetime(2026, 3, 1, tzinfo=UTC), Keep(captures=timedelta(days=7))
    young = [id_at("cap", start - timedelta(days=7) + timedelta(hours=n), n) for n in (6, 30)]
    old = [id_at("cap", start - timedelta(days=8), 1)]
    for jump, lasts, name in ((DAY, 0.8, "put right within the hour"), (-DAY, 0.8, "set back")):
        gone = _deleted([*young, *old], keep, start, jump, lasts * CONFIRMED)
        yield none(f"young captures deleted by a day's jump {name}", len(gone & set(young)))
    stays = _deleted([*young, *old], keep, start, DAY, 3 * CONFIRMED)
    yield some("captures of age deleted all the same", len(stays & set(old)))
    yield some(
        "young captures deleted by a day's jump that stood for three hours (it is believed)", len(stays & {young[0]})
    )


def _deleted(held: list[str], keep: Keep, start: datetime, jump: int, lasts: float) -> set[str]:
    """Return what goes within four hours, of which the calendar is off by `jump` for so long from the first hour on."""
    watch: Watch | None = None
    gone: set[str] = set()
    for second in range(0, 4 * HOUR, 600):
        off = jump if HOUR <= second < HOUR + lasts else 0
        calendar = start + timedelta(seconds=second + off)
        watch, ripe = looked(watch, overdue([one for one in held if one not in gone], keep, calendar), calendar, second)
        gone |= ripe
    return gone
