"""Presences: one subscriber at one gNB for as long as a UE context or a PFCP session holds it there."""

from dataclasses import dataclass, field

from pratique_ingest.budget import SESSIONS, WINDOW, Budget
from pratique_ingest.protocols.findings import Kind, Slice

SPAN = 300 * 1_000_000_000
# What names a subscriber, best first: a permanent identity, then a concealed, then a temporary one.
NAMED_BY: tuple[Kind, ...] = ("imsi", "suci", "guti")
Place = tuple[bytes, int]
"""Where a tunnel ends: an address and a TEID there."""


@dataclass(slots=True, eq=False)
class Presence:
    """A subscriber at a gNB: its identities, its slices, its tunnel ends, and frames and bytes by window.

    `number` counts presences in the order in which they began. `ends` says of each tunnel end which PDU session it
    belongs to, and whether it is the gNB's. `expected` are ends that it takes over when it arrives.
    """

    number: int
    gnb: bytes
    amf: bytes | None
    released: bool = False
    ended: bool = False
    names: dict[Kind, str] = field(default_factory=dict, repr=False)
    core_id: int | None = None
    role: str | None = None
    allowed: Slice | None = None
    chosen: Slice | None = None
    windows: dict[int, list[int]] = field(default_factory=dict)
    ends: dict[Place, tuple[int, bool]] = field(default_factory=dict)
    expected: dict[Place, tuple[int, bool]] = field(default_factory=dict)

    @property
    def name(self) -> str | None:
        """The best of its identities."""
        return next((self.names[kind] for kind in NAMED_BY if kind in self.names), None)

    @property
    def slice(self) -> Slice | None:
        """The slice that the UE is allowed, else that of a PDU session."""
        return self.allowed or self.chosen

    def count(self, window: int, packets: int, octets: int, budget: Budget) -> None:
        """Count frames in a window of five minutes, unless the budget has no room for a new one."""
        counts = self.windows.get(window)
        if counts is None:
            if not budget.keep(SESSIONS, WINDOW):
                return
            counts = self.windows[window] = [0, 0]
        counts[0] += packets
        counts[1] += octets
