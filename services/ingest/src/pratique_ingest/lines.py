"""Lines: PFCP sessions as the user plane knows them, each the tunnels of one subscriber (TS 29.244, 5.2).

They name the subscriber of a UE context whose NAS is ciphered, and are presences of their own where the capture has no
NGAP: at the gNB whose address stands in the forwarding rule towards the access side.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from pratique_ingest.budget import CONTEXT, SESSIONS, Budget
from pratique_ingest.presences import Place, Presence
from pratique_ingest.protocols.findings import Line, LineStep, Rule
from pratique_ingest.tunnels import Tunnels

NOWHERE = b""
# More rules than this for one subscriber are no network's.
MAX_RULES, MAX_NAMES = 64, 4


@dataclass(slots=True, eq=False)
class _Open:
    """A session: its presence, its numbers at both nodes, and which of its rules are about the access side."""

    presence: Presence
    seids: tuple[Place, ...] = ()
    access: set[tuple[bool, int]] = field(default_factory=set)
    others: set[tuple[bool, int]] = field(default_factory=set)


class Lines:
    """PFCP sessions by the address and number that either node gave them.

    `begin` makes a presence at a gNB; `fold` takes what an ended presence has counted.
    """

    def __init__(
        self,
        budget: Budget,
        tunnels: Tunnels,
        begin: Callable[[bytes, bytes | None], Presence],
        fold: Callable[[Presence], None],
    ) -> None:
        self._open: dict[Place, _Open] = {}
        self._budget, self._tunnels, self._begin, self._fold = budget, tunnels, begin, fold
        self.anchors: set[bytes] = set()

    def note(self, destination: bytes, line: Line) -> list[Place]:
        """Take in what a message says about a session; return the ends that it names."""
        session = self._session(destination, line)
        if session is None:
            return []
        if line.step is LineStep.CLOSES:
            self._close(session)
            return []
        if line.sender is not None:
            self._name(session, line.sender)
        if line.imsi is not None:
            session.presence.names["imsi"] = line.imsi
        session.presence.chosen = line.slice or session.presence.chosen
        ends: list[Place] = []
        for rule in line.rules:
            if self._access(session, rule):
                ends += self._forward(session, rule) if rule.forwards else self._detect(session, rule)
        return ends

    def end(self) -> None:
        """Close every session."""
        while self._open:
            self._close(next(iter(self._open.values())))

    def _session(self, destination: bytes, line: Line) -> _Open | None:
        if line.step is not LineStep.OPENS:
            return None if line.receiver_id is None else self._open.get((destination, line.receiver_id))
        if line.sender is None:
            return None
        former = self._open.get(line.sender)
        if former is not None:
            self._close(former)
        if not self._budget.keep(SESSIONS, CONTEXT):
            return None
        return _Open(self._begin(NOWHERE, None))

    def _name(self, session: _Open, seid: Place) -> None:
        """Let a session be known by a number, and no other one."""
        former = self._open.get(seid)
        if former is session or len(session.seids) >= MAX_NAMES:
            return
        if former is not None:
            former.seids = tuple(other for other in former.seids if other != seid)
            if not former.seids:
                self._fold(former.presence)
        session.seids = (*session.seids, seid)
        self._open[seid] = session

    def _close(self, session: _Open) -> None:
        for seid in session.seids:
            if self._open.get(seid) is session:
                del self._open[seid]
        self._fold(session.presence)

    def _access(self, session: _Open, rule: Rule) -> bool:
        """Whether a rule is about the access side; one that does not say it is what it was, or is taken for one."""
        key = (rule.forwards, rule.number)
        if rule.access is not None and len(session.access) + len(session.others) < MAX_RULES:
            (session.access if rule.access else session.others).add(key)
            (session.others if rule.access else session.access).discard(key)
        return rule.access is not False and key not in session.others

    def _detect(self, session: _Open, rule: Rule) -> list[Place]:
        self.anchors.update(address for address, _ in rule.ends)
        for place in rule.ends:
            self._tunnels.take(place, session.presence, 0, at_ran=False, by_line=True)
        return list(rule.ends)

    def _forward(self, session: _Open, rule: Rule) -> list[Place]:
        """Let the packets go to a gNB: where it is another one than before, the subscriber has moved there."""
        if not rule.ends:
            return []
        gnb, former = rule.ends[0][0], session.presence
        if former.gnb == NOWHERE:
            former.gnb = gnb
        if former.gnb != gnb:
            if not self._budget.keep(SESSIONS, CONTEXT):
                return []
            session.presence = presence = self._begin(gnb, None)
            presence.names, presence.chosen = dict(former.names), former.chosen
            for place, (number, at_ran) in list(former.ends.items()):
                if not at_ran:
                    self._tunnels.take(place, presence, number, at_ran=False, by_line=True)
            self._fold(former)
        for place, (_, at_ran) in list(session.presence.ends.items()):
            if at_ran and place not in rule.ends:
                self._tunnels.drop(place, session.presence)
        for place in rule.ends:
            self._tunnels.take(place, session.presence, rule.number, at_ran=True, by_line=True)
        return list(rule.ends)
