"""Sessions: which subscriber was at which gNB in which five minutes, from the UE contexts of NGAP (TS 38.413, 8.3)."""

from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from ipaddress import ip_address

from pratique_ingest.budget import ALIAS, CONTEXT, SESSION, WINDOW, Budget
from pratique_ingest.protocols.findings import Context, Findings, Kind, Slice
from pratique_ingest.records import SessionRecord, instant

SPAN = 300 * 1_000_000_000
# What names a subscriber, best first: a permanent identity, then a concealed, then a temporary one.
NAMED_BY: tuple[Kind, ...] = ("imsi", "suci", "guti")
SESSIONS = "sessions"


@dataclass(slots=True)
class _Presence:
    """One UE context at one gNB: its identities, its slice, and frames and bytes by window."""

    number: int
    gnb: bytes
    amf: bytes
    released: bool = False
    names: dict[Kind, str] = field(default_factory=dict, repr=False)
    slice: Slice | None = None
    windows: dict[int, list[int]] = field(default_factory=dict)

    @property
    def name(self) -> str | None:
        return next((self.names[kind] for kind in NAMED_BY if kind in self.names), None)


@dataclass(slots=True)
class _Sums:
    """Frames and bytes of one subscriber at one gNB in one window; `number` is that of the first context."""

    number: int
    amf: bytes
    slice: Slice | None
    packets: int
    bytes: int

    def add(self, other: "_Sums") -> None:
        if other.number < self.number:
            self.number, self.amf = other.number, other.amf
            self.slice = other.slice or self.slice
        self.slice = self.slice or other.slice
        self.packets += other.packets
        self.bytes += other.bytes


Place = tuple[str, bytes, int]


class Sessions:
    """UE contexts by gNB and RAN UE NGAP ID, and the temporary identities that are known to be a permanent one's.

    A context that ended is folded into the sums of its subscriber: what is kept grows with subscribers and windows, not
    with the number of their contexts.
    """

    def __init__(self, budget: Budget, region: Callable[[bytes], str | None] = lambda _: None) -> None:
        self._region = region
        self._open: OrderedDict[tuple[bytes, int], _Presence] = OrderedDict()
        self._sums: dict[Place, _Sums] = {}
        self._aliases: dict[str, str] = {}
        self._budget = budget
        self._contexts = 0

    def note(self, source: bytes, destination: bytes, length: int, time: int | None, found: Findings) -> None:
        """Count a frame for each UE context that its messages belong to."""
        if time is None:
            return
        for context in found.contexts:
            gnb, amf = (source, destination) if context.from_ran else (destination, source)
            presence = self._presence(gnb, amf, context)
            if presence is None:
                continue
            for kind, value in context.identities:
                if kind in NAMED_BY:
                    presence.names[kind] = value
            presence.slice = context.slice or presence.slice
            presence.released = presence.released or context.closes
            self._learn(presence.names)
            counts = presence.windows.get(time // SPAN)
            if counts is None:
                if not self._budget.keep(SESSIONS, WINDOW):
                    continue
                counts = presence.windows[time // SPAN] = [0, 0]
            counts[0] += 1
            counts[1] += length

    def _learn(self, names: dict[Kind, str]) -> None:
        """Keep whose a temporary identity is."""
        if "imsi" in names and "guti" in names:
            temporary, permanent = names["guti"], names["imsi"]
            if temporary in self._aliases or self._budget.keep(SESSIONS, ALIAS):
                self._aliases[temporary] = permanent

    def _presence(self, gnb: bytes, amf: bytes, context: Context) -> _Presence | None:
        """Return the context that a message belongs to; an initial message opens a new one under its number.

        A released one stays until another message comes: its last one may have been captured twice.
        """
        key = (gnb, context.ran_id)
        presence = self._open.get(key)
        if presence is not None and not context.opens and (context.closes or not presence.released):
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
        presence = self._open[key] = _Presence(self._contexts, gnb, amf)
        self._contexts += 1
        return presence

    def _fold(self, presence: _Presence) -> None:
        """Close a context: its frames go to its subscriber, its memory goes back."""
        self._budget.release(CONTEXT + WINDOW * len(presence.windows))
        name = presence.name
        for window, (packets, octets) in presence.windows.items() if name else ():
            place = (name or "", presence.gnb, window)
            more = _Sums(presence.number, presence.amf, presence.slice, packets, octets)
            sums = self._sums.get(place)
            if sums is not None:
                sums.add(more)
            elif self._budget.keep(SESSIONS, SESSION):
                self._sums[place] = more

    def _together(self) -> dict[Place, _Sums]:
        """Return the sums by subscriber, once it is known which temporary identities are whose."""
        while self._open:
            self._fold(self._open.popitem(last=False)[1])
        together: dict[Place, _Sums] = {}
        while self._sums:
            (name, gnb, window), sums = self._sums.popitem()
            place = (self._aliases.get(name, name), gnb, window)
            if place in together:
                together[place].add(sums)
            else:
                together[place] = sums
        return together

    def records(self, pilot: str | None) -> Iterator[SessionRecord]:
        """Yield one record for each named subscriber, gNB and window, in the order in which they began."""
        together = self._together()
        for (subscriber, gnb, window), sums in sorted(together.items(), key=lambda one: (one[1].number, one[0][2])):
            yield SessionRecord(
                subscriber=subscriber,
                gnb=str(ip_address(gnb)),
                amf=str(ip_address(sums.amf)),
                sst=sums.slice.sst if sums.slice else None,
                sd=sums.slice.sd if sums.slice else None,
                region=self._region(gnb),
                window=instant(window * SPAN) or "",
                role="UE",
                packets=sums.packets,
                bytes=sums.bytes,
                pilot=pilot,
            )
