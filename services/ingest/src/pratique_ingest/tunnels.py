"""Tunnels: whose the packets are that go to an address and TEID, as NGAP and PFCP named it last.

A tunnel end is known from the frame that names it until its holder ends or another one is named; frames before and
after are nobody's. So the order of the capture decides, and a TEID that is used again changes hands at a frame. An end
may be named by a UE context and by a PFCP session: then it is the context's, which knows the gNB by its N2 address.
"""

from pratique_ingest.budget import SESSIONS, TUNNEL, Budget
from pratique_ingest.presences import Place, Presence


class Tunnels:
    """Tunnel ends by address and TEID.

    `changes` tells, in order, at which frame which end came into whose hands: None when nobody reads them, or when all
    must be read anew. `frame` is the frame that is being read.
    """

    def __init__(self, budget: Budget) -> None:
        self.frame = 0
        self.changes: list[tuple[int, Place, Presence | None]] | None = None
        self.bounded = True
        self._contexts: dict[Place, Presence] = {}
        self._lines: dict[Place, Presence] = {}
        self._budget = budget
        self.unknown = 0

    def __len__(self) -> int:
        return len(self._contexts) + len(self._lines)

    def holder(self, place: Place) -> Presence | None:
        """Return whose an end is."""
        return self._contexts.get(place) or self._lines.get(place)

    def held(self) -> dict[Place, Presence]:
        """Return all ends and their holders."""
        return self._lines | self._contexts

    def line(self, place: Place) -> Presence | None:
        """Return which PFCP session an end belongs to."""
        return self._lines.get(place)

    def context(self, place: Place) -> Presence | None:
        """Return which UE context an end belongs to."""
        return self._contexts.get(place)

    def take(self, place: Place, presence: Presence, session: int, *, at_ran: bool, by_line: bool = False) -> bool:
        """Give an end to a presence; False when the budget has no room for it."""
        table = self._lines if by_line else self._contexts
        former = table.get(place)
        if former is not presence:
            if former is not None:
                former.ends.pop(place, None)
            elif not self._budget.keep(SESSIONS, TUNNEL):
                return False
            table[place] = presence
            self._changed(place)
        presence.ends[place] = (session, at_ran)
        return True

    def drop(self, place: Place, presence: Presence) -> None:
        """Let a presence give up an end."""
        presence.ends.pop(place, None)
        for table in (self._contexts, self._lines):
            if table.get(place) is presence:
                del table[place]
                self._budget.release(TUNNEL)
                self._changed(place)

    def leave(self, presence: Presence) -> None:
        """Let a presence give up all of its ends."""
        for place in list(presence.ends):
            self.drop(place, presence)

    def _changed(self, place: Place) -> None:
        if self.changes is not None:
            self.changes.append((self.frame, place, self.holder(place)))
            if self.bounded and len(self.changes) > len(self) + 4096:
                self.changes = None  # to read all ends anew is then no more work

    def carry(self, place: Place, window: int, length: int) -> None:
        """Count a user's packet for whoever holds the end that it goes to."""
        presence = self.holder(place)
        if presence is None:
            self.unknown += 1
        else:
            presence.count(window, 1, length, self._budget)
