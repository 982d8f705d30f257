"""A survey: what one pass over a capture has counted, frame by frame."""

from collections import Counter
from typing import NamedTuple

from pratique_ingest.budget import Budget
from pratique_ingest.capture.frames import Frame
from pratique_ingest.capture.link import Place, outermost
from pratique_ingest.capture.network import datagram
from pratique_ingest.conversations import Carriers
from pratique_ingest.dissection import Dissector, Held
from pratique_ingest.effort import Effort
from pratique_ingest.flows import TURN, Flows
from pratique_ingest.hosts import Ledger
from pratique_ingest.plan import NO_PLAN, Plan
from pratique_ingest.protocols.findings import Findings, Sign
from pratique_ingest.sessions import Sessions

BROADCAST_MAC = b"\xff" * 6
# What may stand in place of an IP header and is worth a warning.
NO_HOST = frozenset({"bad-ip", "cut-header", "ecpri", "too-deep", "unknown-link"})


class Examined(NamedTuple):
    """A frame with IP, dissected up to a TCP segment, not counted yet.

    `number` is its place in the capture, `size` its captured bytes as far as the exact path has read them.
    """

    number: int
    source: bytes
    destination: bytes
    length: int
    time: int | None
    found: Findings
    held: Held | None
    size: int


class Survey:
    """The state of one pass: `packets` frames are counted, `started` and `ended` are their times in nanoseconds.

    `broken` counts the frames whose decoder raised, by the name of the exception: its text may hold bytes of the frame.
    """

    def __init__(self, plan: Plan = NO_PLAN) -> None:
        self.ports = plan.ports
        self.budget = Budget()
        self.effort = Effort()
        self.ledger = Ledger(self.budget)
        self.sessions = Sessions(self.budget, plan.region)
        self.dissector = Dissector(plan.ports)
        self.flows = Flows(plan.ports)
        self.cautions: Counter[str] = Counter()
        self.broken: Counter[str] = Counter()
        self.packets = 0
        self.started: int | None = None
        self.ended: int | None = None

    def span(self, first: int, last: int) -> None:
        """Widen the time of the capture."""
        self.started = first if self.started is None or first < self.started else self.started
        self.ended = last if self.ended is None or last > self.ended else self.ended

    def take(self, frame: Frame) -> None:
        """Count one frame for its hosts."""
        if frame.time is not None:
            self.span(frame.time, frame.time)
        examined = self.examine(self.packets, frame)
        if examined is not None:
            self.follow(examined)
            self.conclude(examined)
        self.passed(1)

    def passed(self, frames: int) -> None:
        """Note that so many frames are done; they do not reach over a turn of the flows."""
        self.packets += frames
        if not self.packets % TURN:
            self.flows.turn()

    def examine(self, number: int, frame: Frame, place: Place | None = None) -> Examined | None:
        """Dissect a frame, whose IP header may be known; whatever it does to a decoder is counted, not raised."""
        self.effort.frame()
        link_type, time, length, data = frame
        place = place or outermost(link_type, data)
        if not place.version:
            if place.name in NO_HOST:
                self.cautions[place.name] += 1
            return None
        header = datagram(place.version, data, place.offset, len(data))
        if header is None:
            self.cautions["cut-header"] += 1
            return None
        found, held = Findings(), None
        try:
            held = self.dissector.outermost(header, data, found)
        except Exception as error:  # noqa: BLE001 - the bytes of one packet are hostile; the next one is another matter
            self.broken[type(error).__name__] += 1
        if link_type == 1 and data[:6] == BROADCAST_MAC:
            found.receiver.add(Sign.BROADCAST_FRAME)
        return Examined(number, header.source, header.destination, length, time, found, held, len(data))

    def follow(self, examined: Examined) -> None:
        """Ask the connection of a frame what it says; frames come here in the order of the capture."""
        held = examined.held
        if held is None:
            return
        before = held.found.messages
        try:
            self.flows.segment(*held, Carriers(examined.source, examined.destination))
        except Exception as error:  # noqa: BLE001 - as above
            self.broken[type(error).__name__] += 1
        if held.found is not examined.found:  # it is tunnelled
            examined.found.messages += held.found.messages - before

    def conclude(self, examined: Examined) -> None:
        """Count a frame whose connection has been asked; in the order of the capture, too."""
        number, source, destination, length, time, found, _, size = examined
        self.effort.decoded(found.protocols, found.messages, size)
        if found.troubles:
            self.cautions.update(found.troubles)
        self.ledger.count(source, destination, number, length, time, found)
        if found.contexts or found.lines or found.teid is not None:
            self.sessions.note(source, destination, length, time, found, number)

    def finish(self) -> None:
        """Read what waited for segments that the capture does not hold."""
        for conversation in self.flows.conversations():
            try:
                for carriers, found in conversation.finish():
                    self.cautions.update(found.troubles)
                    self.ledger.see(*carriers, found)
            except Exception as error:  # noqa: BLE001 - as above
                self.broken[type(error).__name__] += 1
