"""Sessions: which subscriber was at which gNB in which five minutes, with what it said and what it sent and received.

The contexts of UEs come from NGAP (TS 38.413, 8.3), and so do the tunnels of their PDU sessions, or from PFCP where it
was captured. A frame counts once for each subscriber that its messages are about; a user's packet in GTP-U counts for
the one who holds the tunnel end to which it goes, at that frame of the capture: see `tunnels`. A UE that comes to
another gNB takes its names, slices and the UPF's ends along: when the new gNB asks to switch the path, or, where the
core directs the handover, when it says that the UE has arrived.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from ipaddress import ip_address

from pratique_ingest.budget import ALIAS, CONTEXT, SESSION, SESSIONS, WINDOW, Budget
from pratique_ingest.lines import NOWHERE, Lines
from pratique_ingest.plan import NO_PLAN
from pratique_ingest.presences import NAMED_BY, SPAN, Place, Presence
from pratique_ingest.protocols.findings import NUMBERED, Context, Findings, Handover, Kind, Slice
from pratique_ingest.records import SessionRecord, instant
from pratique_ingest.tunnels import Tunnels

Region = Callable[[bytes], str | None]
# UEs that are asked for at another gNB, and tunnel ends that one may take along.
ASKED, EXPECTED = 1024, 8


NEVER = 1 << 62
UE = "UE"


@dataclass(slots=True)
class _Sums:
    """Frames and bytes of one subscriber at one gNB in one window.

    `number` is that of the first presence; `amf`, `slice` and `role` are those of the first one that has any, with its
    number: the order in which presences end changes nothing.
    """

    number: int
    amf: tuple[int, bytes | None]
    slice: tuple[int, Slice | None]
    role: tuple[int, str | None]
    packets: int
    bytes: int

    @classmethod
    def of(cls, presence: Presence, packets: int, octets: int) -> "_Sums":
        """Return what a presence has counted in a window."""
        number, amf, chosen, role = presence.number, presence.amf, presence.slice, presence.role
        return cls(
            number,
            (NEVER if amf is None else number, amf),
            (NEVER if chosen is None else number, chosen),
            (NEVER if role is None else number, role),
            packets,
            octets,
        )

    def add(self, other: "_Sums") -> None:
        """Add what another presence has counted."""
        self.number = min(self.number, other.number)
        self.amf = min(self.amf, other.amf, key=lambda one: one[0])
        self.slice = min(self.slice, other.slice, key=lambda one: one[0])
        self.role = min(self.role, other.role, key=lambda one: one[0])
        self.packets += other.packets
        self.bytes += other.bytes


Stay = tuple[str, bytes, int]


class Sessions:
    """UE contexts by gNB and RAN UE NGAP ID, and the temporary identities that are known to be a permanent one's.

    A gNB is told by its end of the association, address and port: several may share an address, and number their UEs
    alike. A context that ended is folded into the sums of its subscriber: what is kept grows with subscribers and
    windows, not with the number of their contexts. `region` says in which region a gNB lies.
    """

    def __init__(self, budget: Budget, region: Region = NO_PLAN.region) -> None:
        self.tunnels = Tunnels(budget)
        self._lines = Lines(budget, self.tunnels, self._begin, self._fold)
        self._open: OrderedDict[tuple[bytes, int], Presence] = OrderedDict()
        self._cores: dict[tuple[bytes, int], Presence] = {}
        self._asked: OrderedDict[tuple[bytes, bytes, int], Context] = OrderedDict()
        self._sums: dict[Stay, _Sums] = {}
        self._aliases: dict[str, str | None] = {}
        self._budget, self._region = budget, region
        self._begun = 0

    def note(
        self, source: bytes, destination: bytes, length: int, time: int | None, found: Findings, frame: int = 0
    ) -> None:
        """Take in what a frame says about subscribers, and count it for those that it belongs to."""
        if time is None:
            return
        self.tunnels.frame, window = frame, time // SPAN
        counted: list[Presence] = []
        for context in found.contexts:
            gnb, amf = (source, destination) if context.from_ran else (destination, source)
            ends = found.association
            node = gnb if ends is None else ends.source if context.from_ran else ends.destination
            presence = self._told(node, gnb, amf, context)
            if presence is not None and presence not in counted:
                counted.append(presence)
                presence.count(window, 1, length, self._budget)
        for line in found.lines:
            for place in self._lines.note(destination, line):
                self._join(place)
        if found.teid is not None:
            self.tunnels.carry((destination, found.teid), window, length)

    def carry(self, frame: int, place: Place, window: int, length: int) -> None:
        """Count one user's packet."""
        self.tunnels.frame = frame
        self.tunnels.carry(place, window, length)

    def add(self, presence: Presence, window: int, packets: int, octets: int) -> None:
        """Count users' packets of a presence, which may have ended since they came."""
        if presence.ended:
            self._sum(presence, window, packets, octets)
        else:
            presence.count(window, packets, octets, self._budget)

    def _told(self, node: bytes, gnb: bytes, amf: bytes, context: Context) -> Presence | None:
        """Take in what one message says about its UE."""
        if context.ran_id is None:
            self._ask(node, amf, context)
            return None
        presence = self._presence((node, context.ran_id), gnb, amf, context)
        if presence is None:
            return None
        if context.core_id is not None and presence.core_id != context.core_id:
            self._forget_core(presence)
            presence.core_id = context.core_id
            self._cores[amf, context.core_id] = presence
        for kind, value in context.identities:
            if kind in NAMED_BY:
                presence.names[kind] = value
        presence.allowed = context.slice or presence.allowed
        presence.role = context.role or presence.role
        presence.released = presence.released or context.closes
        self._move(node, amf, presence, context)
        for end in context.ends:
            presence.chosen = presence.chosen or end.slice
            self._take((end.address, end.teid), presence, end.session, at_ran=end.at_ran)
        self._learn(presence.names)
        return presence

    def _take(self, place: Place, presence: Presence, session: int, *, at_ran: bool) -> None:
        """Give a tunnel end to a context in place of its session's former one on that side."""
        for other, kept in list(presence.ends.items()):
            if kept == (session, at_ran) and len(other[0]) == len(place[0]) and other != place:
                self.tunnels.drop(other, presence)
        if self.tunnels.take(place, presence, session, at_ran=at_ran):
            self._join(place)

    def _join(self, place: Place) -> None:
        """Name a UE context by the PFCP session that has the same tunnel end."""
        context, line = self.tunnels.context(place), self.tunnels.line(place)
        if context is not None and line is not None and "imsi" in line.names:
            context.names.setdefault("imsi", line.names["imsi"])
            context.chosen = context.chosen or line.chosen
            self._learn(context.names)

    def _ask(self, node: bytes, amf: bytes, context: Context) -> None:
        """Remember a UE that a gNB is asked to take, until it answers."""
        if context.core_id is not None:
            self._asked[node, amf, context.core_id] = context
            if len(self._asked) > ASKED:
                self._asked.popitem(last=False)

    def _move(self, node: bytes, amf: bytes, presence: Presence, context: Context) -> None:
        """Follow a handover."""
        match context.handover:
            case Handover.SWITCH if context.source_id is not None:
                former = self._cores.get((amf, context.source_id))
                if former is not None and former is not presence:
                    self._inherit(presence, former)
                    self._arrive(presence)
            case Handover.ACCEPTED if context.core_id is not None:
                asked = self._asked.pop((node, amf, context.core_id), None)
                if asked is not None:
                    self._accept(presence, asked)
            case Handover.ARRIVED:
                self._arrive(presence)

    def _accept(self, presence: Presence, asked: Context) -> None:
        """Let a gNB take a UE: whose the UPF's ends are so far tells which one it is."""
        presence.allowed = asked.slice or presence.allowed
        for end in asked.ends[:EXPECTED]:
            place = (end.address, end.teid)
            presence.chosen = presence.chosen or end.slice
            presence.expected[place] = (end.session, end.at_ran)
            former = self.tunnels.holder(place)
            if former is not None and former is not presence:
                self._inherit(presence, former)

    def _inherit(self, presence: Presence, former: Presence) -> None:
        presence.role = presence.role or former.role
        for kind, value in former.names.items():
            presence.names.setdefault(kind, value)
        presence.allowed, presence.chosen = presence.allowed or former.allowed, presence.chosen or former.chosen
        for place, (session, at_ran) in former.ends.items():
            if not at_ran and former.amf is not None and len(presence.expected) < EXPECTED:
                presence.expected.setdefault(place, (session, at_ran))

    def _arrive(self, presence: Presence) -> None:
        for place, (session, at_ran) in presence.expected.items():
            self._take(place, presence, session, at_ran=at_ran)
        presence.expected = {}

    def _learn(self, names: dict[Kind, str]) -> None:
        """Keep whose a temporary identity is; one that two have had says nobody's name where it stands alone."""
        if "imsi" in names and "guti" in names:
            temporary, permanent = names["guti"], names["imsi"]
            if temporary in self._aliases:
                if self._aliases[temporary] != permanent:
                    self._aliases[temporary] = None
            elif self._budget.keep(SESSIONS, ALIAS):
                self._aliases[temporary] = permanent

    def _begin(self, gnb: bytes, amf: bytes | None) -> Presence:
        self._begun += 1
        return Presence(self._begun - 1, gnb, amf)

    def _presence(self, key: tuple[bytes, int], gnb: bytes, amf: bytes, context: Context) -> Presence | None:
        """Return the context that a message belongs to; an initial message opens a new one under its number.

        A released one stays until another message comes: its last one may have been captured twice.
        """
        presence = self._open.get(key)
        opens = context.opens or context.handover in NUMBERED
        if presence is not None and not opens and (context.closes or not presence.released):
            self._open.move_to_end(key)
            return presence
        if presence is not None:
            self._fold(self._open.pop(key))
        while self._open and not self._budget.fits(CONTEXT + WINDOW):
            # The one that was silent longest makes room; what it still had to say is lost.
            _, oldest = self._open.popitem(last=False)
            self._budget.cut[SESSIONS] += not oldest.released
            self._fold(oldest)
        if not self._budget.keep(SESSIONS, CONTEXT):
            return None
        presence = self._open[key] = self._begin(gnb, amf)
        return presence

    def _forget_core(self, presence: Presence) -> None:
        if presence.amf is not None and presence.core_id is not None:
            key = (presence.amf, presence.core_id)
            if self._cores.get(key) is presence:
                del self._cores[key]

    def _fold(self, presence: Presence) -> None:
        """Close a presence: its frames go to its subscriber, its memory goes back."""
        self.tunnels.leave(presence)
        self._forget_core(presence)
        self._budget.release(CONTEXT + WINDOW * len(presence.windows))
        for window, (packets, octets) in presence.windows.items():
            self._sum(presence, window, packets, octets)
        presence.windows, presence.ended = {}, True

    def _sum(self, presence: Presence, window: int, packets: int, octets: int) -> None:
        name = presence.name if presence.gnb != NOWHERE else None
        if name is None:
            return
        stay, more = (name, presence.gnb, window), _Sums.of(presence, packets, octets)
        sums = self._sums.get(stay)
        if sums is not None:
            sums.add(more)
        elif self._budget.keep(SESSIONS, SESSION):
            self._sums[stay] = more

    def _together(self) -> dict[Stay, _Sums]:
        """Return the sums by subscriber, once it is known which temporary identities are whose."""
        while self._open:
            self._fold(self._open.popitem(last=False)[1])
        self._lines.end()
        together: dict[Stay, _Sums] = {}
        while self._sums:
            (name, gnb, window), sums = self._sums.popitem()
            if sums.amf[1] is None and gnb in self._lines.anchors:
                continue  # a tunnel between two UPFs: its packets are in another one on the side of the gNBs
            stay = (self._aliases.get(name) or name, gnb, window)
            if stay in together:
                together[stay].add(sums)
            else:
                together[stay] = sums
        return together

    def records(self, pilot: str | None) -> Iterator[SessionRecord]:
        """Yield one record for each named subscriber, gNB and window, in the order in which they began."""
        together = self._together()
        for (subscriber, gnb, window), sums in sorted(together.items(), key=lambda one: (one[1].number, one[0][2])):
            amf, chosen = sums.amf[1], sums.slice[1]
            yield SessionRecord(
                subscriber=subscriber,
                gnb=str(ip_address(gnb)),
                amf=None if amf is None else str(ip_address(amf)),
                sst=chosen.sst if chosen else None,
                sd=chosen.sd if chosen else None,
                region=self._region(gnb),
                window=instant(window * SPAN) or "",
                role=sums.role[1] or UE,
                packets=sums.packets,
                bytes=sums.bytes,
                pilot=pilot,
            )
