"""Sessions: which subscriber was at which gNB in which five minutes, from the UE contexts of NGAP (TS 38.413, 8.3)."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from ipaddress import ip_address

from pratique_ingest.protocols.findings import Context, Findings, Kind, Slice
from pratique_ingest.records import SessionRecord, instant

WINDOW = 300 * 1_000_000_000
# A gNB serves some thousand UEs at a time; beyond the limit new contexts are counted and not kept.
MAX_CONTEXTS = 100_000
MAX_WINDOWS = 200_000
# What names a subscriber, best first: a permanent identity, then a concealed, then a temporary one.
NAMED_BY: tuple[Kind, ...] = ("imsi", "suci", "guti")


@dataclass(slots=True)
class _Presence:
    """One UE context at one gNB: its identities, its slice, and frames and bytes by window."""

    gnb: bytes
    amf: bytes
    names: dict[Kind, str] = field(default_factory=dict, repr=False)
    slice: Slice | None = None
    windows: dict[int, list[int]] = field(default_factory=dict)


class Sessions:
    """UE contexts by gNB and RAN UE NGAP ID, and the temporary identities that are known to be a permanent one's."""

    def __init__(self) -> None:
        self._open: dict[tuple[bytes, int], _Presence] = {}
        self._all: list[_Presence] = []
        self._aliases: dict[str, str] = {}
        self._windows = 0
        self.dropped = 0

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
            if "imsi" in presence.names and "guti" in presence.names:
                self._aliases[presence.names["guti"]] = presence.names["imsi"]
            self._count(presence, time // WINDOW, length)

    def _count(self, presence: _Presence, window: int, length: int) -> None:
        counts = presence.windows.get(window)
        if counts is None:
            if self._windows >= MAX_WINDOWS:
                self.dropped += 1
                return
            self._windows += 1
            counts = presence.windows[window] = [0, 0]
        counts[0] += 1
        counts[1] += length

    def _presence(self, gnb: bytes, amf: bytes, context: Context) -> _Presence | None:
        """Return the context that a message belongs to; an initial message opens a new one under its number."""
        key = (gnb, context.ran_id)
        presence = self._open.get(key)
        if presence is None or context.opens:
            if len(self._all) >= MAX_CONTEXTS:
                self.dropped += 1
                return None
            presence = self._open[key] = _Presence(gnb, amf)
            self._all.append(presence)
        return presence

    def _subscriber(self, presence: _Presence) -> str | None:
        name = next((presence.names[kind] for kind in NAMED_BY if kind in presence.names), None)
        return None if name is None else self._aliases.get(name, name)

    def records(self, pilot: str | None) -> Iterator[SessionRecord]:
        """Yield one record for each named subscriber, gNB and window, in the order in which they began."""
        together: dict[tuple[str, bytes, int], tuple[_Presence, list[int]]] = {}
        for presence in self._all:
            subscriber = self._subscriber(presence)
            for window, counts in presence.windows.items() if subscriber else ():
                key = (subscriber or "", presence.gnb, window)
                first, sums = together.setdefault(key, (presence, [0, 0]))
                first.slice = first.slice or presence.slice
                sums[:] = [sums[0] + counts[0], sums[1] + counts[1]]
        for (subscriber, gnb, window), (presence, sums) in together.items():
            yield SessionRecord(
                subscriber=subscriber,
                gnb=str(ip_address(gnb)),
                amf=str(ip_address(presence.amf)),
                sst=presence.slice.sst if presence.slice else None,
                sd=presence.slice.sd if presence.slice else None,
                region=None,
                window=instant(window * WINDOW) or "",
                role="UE",
                packets=sums[0],
                bytes=sums[1],
                pilot=pilot,
            )
