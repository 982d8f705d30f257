"""Patience: how long a connection may take to say what it wants, and to take what it asked for."""

import asyncio
import logging
import socket
import struct
from dataclasses import dataclass
from typing import Any, Literal

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

LOOK = 1.0  # seconds between two looks at a connection
HEAD = 10.0  # seconds for a whole head of a request
GRACE = 20.0  # seconds that a body, or the taking of an answer, may stand still in all
PACE = 512.0  # bytes; each so many buy a body or an answer one second more
Debt = Literal["head", "body", "reading"]

_log = logging.getLogger("pratique.http")


@dataclass
class Waiting:
    """For how long we have waited for one thing that a client owes us, and how much of it has come."""

    debt: Debt | None = None
    seconds: float = 0.0
    moved: int = 0

    def look(self, debt: Debt | None, moved: int, seconds: float) -> bool:
        """Take down what was owed over the last `seconds` and how many bytes of it moved; return whether it is enough.

        A debt that is paid, or followed by another, begins anew. A head has its time however much of it comes: a byte
        a second would keep a connection for hours.
        """
        if debt != self.debt or debt is None:
            self.debt, self.seconds, self.moved = debt, 0.0, 0
            return False
        self.seconds, self.moved = self.seconds + seconds, self.moved + moved
        return self.seconds > (HEAD if debt == "head" else GRACE + self.moved / PACE)


class Patient(H11Protocol):
    """A connection that is ended when its client keeps us waiting: uvicorn itself waits without an end."""

    def __init__(self, *arguments: Any, **named: Any) -> None:  # noqa: ANN401 - those of uvicorn
        super().__init__(*arguments, **named)
        self._waiting, self._came, self._held = Waiting(), 0, 0
        self._next: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to look."""
        super().connection_made(transport)
        self._waiting.look(self._owed(), 0, 0.0)
        self._next = self.loop.call_later(LOOK, self._look)

    def connection_lost(self, exc: Exception | None) -> None:
        """Look no more."""
        if self._next is not None:
            self._next.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Count what comes."""
        self._came += len(data)
        super().data_received(data)

    def _look(self) -> None:
        debt, held = self._owed(), self.transport.get_write_buffer_size()
        moved = max(0, self._held - held) if debt == "reading" else self._came
        self._came, self._held = 0, held
        if self._waiting.look(debt, moved, LOOK):
            _log.info("a connection was ended: its client kept us waiting", extra={"owed": debt})
            self._end()
        else:
            self._next = self.loop.call_later(LOOK, self._look)

    def _end(self) -> None:
        """Reset the connection: the kernel, too, lets go of what the client has not read (socket(7), SO_LINGER)."""
        connection = self.transport.get_extra_info("socket")
        if connection is not None:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.transport.abort()

    def _owed(self) -> Debt | None:
        """Return what the client owes now: nothing while it is we who are at work, or have stopped reading."""
        if self.transport.get_write_buffer_size():
            return "reading"
        if self.flow.read_paused or self.timeout_keep_alive_task is not None:  # uvicorn ends a connection at rest
            return None
        if self.conn.their_state is h11.IDLE:
            return "head"
        asked_to_wait = self.conn.they_are_waiting_for_100_continue
        return "body" if self.conn.their_state is h11.SEND_BODY and not asked_to_wait else None
