"""Children: spawned, pre-warmed processes with limits, for work that takes a core or reads what may be hostile.

A child answers one call at a time over a pipe. What travels is JSON and plain bytes, never a pickled object. A child
that dies takes nothing with it: its parent sees `ChildDied` and the next call gets a fresh one. It is spawned, never
forked, since polars hangs in forked children.
"""

import asyncio
import json
import logging
import multiprocessing
import os
import signal
import socket
import threading
from collections.abc import AsyncIterable, AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

from pratique_shared.contracts.problems import Problem, Unavailable
from pratique_shared.runtime.child_process import (
    BLOB,
    END,
    JSON,
    OUT_OF_MEMORY,
    PROGRESS,
    READY,
    Body,
    Limits,
    Reply,
    child_main,
    problem_from,
)

GONE = 1.0  # seconds that a process may take from closing its pipe to its end
TOLD = 64 << 10  # bytes of a word of progress; ours have some dozens
KEPT = 64  # bytes that a part of an answer takes beside its own
START = 120  # seconds that the imports of a child may take on a busy machine

_log = logging.getLogger("pratique.children")


class ChildDied(Exception):
    """A child ended without an answer; `code` says why: `time-limit`, `memory-limit`, or `task-crashed`."""

    def __init__(self, code: str = "task-crashed") -> None:
        super().__init__(code)
        self.code = code


class Child:
    """One child process and the pipe to it.

    `entry` is `module:function`, imported in the child only: its parent need not carry polars too.
    """

    def __init__(self, entry: str, limits: Limits) -> None:
        self._entry, self._limits = entry, limits
        self._process: BaseProcess | None = None
        self._pipe: Connection | None = None
        self._in_use = threading.Lock()  # held by the thread that reads or writes
        self._is_ready = False

    def start(self) -> None:
        """Spawn the process; it imports what its entry needs while nobody waits."""
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=child_main, args=(theirs, self._entry, self._limits), daemon=True)
        self._process.start()
        theirs.close()

    def kill(self) -> None:
        """End the process at once."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
        if self._pipe is not None:
            _hang_up(self._pipe)
            with self._in_use:  # else a thread might go on with what is opened next under the same number
                self._pipe.close()
        self._process = self._pipe = None
        self._is_ready = False

    async def ready(self) -> Connection:
        """Return the pipe to a child that has imported what it needs; raise `Unavailable` where it cannot."""
        if self._process is None or not self._process.is_alive():
            self.kill()
            self.start()
        pipe = self._pipe
        assert pipe is not None
        try:
            if not self._is_ready:
                async with asyncio.timeout(START):
                    await self._receive(pipe, len(READY))
                self._is_ready = True
        except (EOFError, OSError, TimeoutError) as error:
            self.kill()
            raise Unavailable("child-unavailable", "A process that does the work did not start: try again.") from error
        except asyncio.CancelledError:
            self.kill()
            raise
        return pipe

    async def call(self, body: Body, blobs: AsyncIterable[bytes], told: Callable[[Body], None]) -> Reply:
        """Send a call and await its answer.

        Raises the `Problem` that the child answered with, or `ChildDied`. A call that ends in any other way, be it
        cancelled, late, or cut off by its own blobs, kills the child: what is left in the pipe belongs to nobody else.
        """
        pipe, answered = await self.ready(), False
        try:
            async with asyncio.timeout(self._limits.seconds):
                answer = await self._exchange(pipe, body, blobs, told)
            answered = True
        except TimeoutError as error:
            raise ChildDied("time-limit") from error
        except (EOFError, OSError) as error:
            raise ChildDied(await self._cause()) from error
        finally:
            if not answered:
                self.kill()
        if isinstance(answer, Problem):
            raise answer
        return answer

    async def _cause(self) -> str:
        """Return why a child closed its pipe, as its exit status tells: it is gone, or will be in a moment."""
        process = self._process
        assert process is not None
        await asyncio.to_thread(process.join, GONE)
        _log.warning("a child ended without an answer", extra={"entry": self._entry, "status": process.exitcode})
        match process.exitcode:
            case status if status == -signal.SIGXCPU:
                return "time-limit"
            case status if status == OUT_OF_MEMORY:
                return "memory-limit"
            case _:
                return "task-crashed"

    async def _exchange(
        self, pipe: Connection, body: Body, blobs: AsyncIterable[bytes], told: Callable[[Body], None]
    ) -> Reply | Problem:
        await self._send(pipe, JSON + json.dumps(body).encode())
        async for piece in blobs:
            await self._send(pipe, BLOB + piece)
            while pipe.poll(0):  # progress is read as it comes, or both ends would wait with full pipes
                frame = await self._receive(pipe, TOLD)
                if frame[:1] != PROGRESS:
                    raise EOFError
                told(json.loads(frame[1:]))
        await self._send(pipe, END)
        answer: list[bytes] = []
        left = self._limits.answer
        while True:
            frame = await self._receive(pipe, left)
            match frame[:1]:
                case b"P":
                    told(json.loads(frame[1:]))
                case b"B":
                    answer.append(frame[1:])
                    left -= len(frame) + KEPT
                case b"X":
                    return problem_from(json.loads(frame[1:]))
                case _:
                    return Reply(json.loads(frame[1:]), tuple(answer))

    async def _send(self, pipe: Connection, frame: bytes) -> None:
        def send() -> None:
            with self._in_use:
                pipe.send_bytes(frame)

        await asyncio.to_thread(send)

    async def _receive(self, pipe: Connection, most: int) -> bytes:
        """Return the next frame; raises `OSError` for one that is longer.

        A child may send a part of one and stop: a thread waits for the rest, never the loop that watches the time.
        """

        def receive() -> bytes:
            with self._in_use:
                return pipe.recv_bytes(max(0, most))

        return await asyncio.to_thread(receive)


def _hang_up(pipe: Connection) -> None:
    """Let whoever reads from a pipe of ours or writes to it do so no longer, whoever holds its other end."""
    with suppress(OSError), socket.socket(fileno=os.dup(pipe.fileno())) as end:  # a duplex pipe is a pair of sockets
        end.shutdown(socket.SHUT_RDWR)


async def no_blobs() -> AsyncIterator[bytes]:
    """No blobs come with the call."""
    return
    yield b""


async def these(*blobs: bytes) -> AsyncIterator[bytes]:
    """Blobs that are in memory already."""
    for blob in blobs:
        yield blob


class Children:
    """A fixed number of children of one kind, each lent to one caller at a time.

    At most `most_waiting` callers wait for one, None for any number: whoever comes then is sent away at once, since an
    answer after minutes is of no use and every caller that waits holds its body in memory.
    """

    def __init__(self, entry: str, limits: Limits, count: int, most_waiting: int | None = None) -> None:
        self._all = [Child(entry, limits) for _ in range(count)]
        self._waiting, self._most_waiting = 0, most_waiting
        self._free: asyncio.Queue[Child] = asyncio.Queue()
        for child in self._all:
            child.start()
            self._free.put_nowait(child)

    async def ready(self) -> None:
        """Wait until all of them can work; raise `Unavailable` where one cannot, before any task has counted on it."""
        await asyncio.gather(*(child.ready() for child in self._all))

    @asynccontextmanager
    async def lent(self) -> AsyncIterator[Child]:
        """Lend a child, waiting for one that is free; raises `Unavailable` where too many wait already."""
        if self._most_waiting is not None and self._free.empty() and self._waiting >= self._most_waiting:
            raise Unavailable("busy", "Too many requests wait for a table to be worked on: try again in a moment.")
        self._waiting += 1
        try:
            child = await self._free.get()
        finally:
            self._waiting -= 1
        try:
            yield child
        finally:
            self._free.put_nowait(child)

    async def call(
        self, body: Body, blobs: AsyncIterable[bytes] | None = None, told: Callable[[Body], None] = lambda _: None
    ) -> Reply:
        """Call whichever child is free."""
        async with self.lent() as child:
            return await child.call(body, no_blobs() if blobs is None else blobs, told)

    def close(self) -> None:
        """End all of them."""
        for child in self._all:
            child.kill()
