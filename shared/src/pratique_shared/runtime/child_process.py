"""The child's side of a call: the process that works within its limits, and what travels between the two.

What travels is JSON and plain bytes, never a pickled object.
"""

import ctypes
import importlib
import json
import logging
import math
import os
import resource
import signal
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection
from typing import Any, Protocol, TextIO

from pratique_shared.contracts.problems import FieldError, Problem, Unprocessable
from pratique_shared.runtime.confinement import give_up_files, give_up_network
from pratique_shared.runtime.telemetry import log_as_json

PR_SET_PDEATHSIG = 1
FILES = 64  # that a child may have open
OUT_OF_MEMORY = 12  # the status of a child that asked for more than its limit
JSON, BLOB, END, PROGRESS, PROBLEM, READY = b"J", b"B", b"E", b"P", b"X", b"R"
Body = dict[str, Any]

_log = logging.getLogger("pratique.children")


@dataclass(frozen=True)
class Limits:
    """What a child may take: bytes of address space; seconds of one call, and of the processor in one call.

    The threads of a child add up; without `processor` a call may take every processor for as long as it lasts.
    """

    memory: int
    seconds: float
    processor: float | None = None

    @property
    def answer(self) -> int:
        """The bytes that an answer may have: a child holds its parts and their frames at once before it sends any."""
        return self.memory // 2


@dataclass(frozen=True)
class Reply:
    """What a child answered: a JSON body and blobs in order."""

    body: Body
    blobs: tuple[bytes, ...]


class Call(Protocol):
    """A child's side of a call."""

    body: Body

    def blobs(self) -> Iterator[bytes]:
        """Yield the blobs, or the pieces of the one blob, that came with the call."""

    def progress(self, body: Body) -> None:
        """Tell the parent how far it is."""


Entry = Callable[[Call], Reply]


class PipedCall:
    """A call read from the pipe as it comes."""

    def __init__(self, pipe: Connection, body: Body) -> None:
        self._pipe, self.body, self._ended = pipe, body, False

    def blobs(self) -> Iterator[bytes]:
        """Yield the blobs, each as it comes."""
        while not self._ended:
            frame = self._pipe.recv_bytes()
            if frame[:1] == END:
                self._ended = True
            else:
                yield frame[1:]

    def progress(self, body: Body) -> None:
        """Tell the parent how far the call is."""
        self._pipe.send_bytes(PROGRESS + json.dumps(body).encode())


def _die_with_parent() -> None:
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def child_main(pipe: Connection, entry: str, limits: Limits) -> None:
    """Answer calls until the pipe closes. Runs in the child."""
    _die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    log_as_json("WARNING", _own_words())
    try:
        answer = _load(entry)
        processor = limits.processor or limits.seconds * (os.cpu_count() or 1)
        resource.setrlimit(resource.RLIMIT_AS, (limits.memory, limits.memory))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, FILES))
        if not give_up_network():
            _log.warning("this machine has no seccomp filter for us: a child could open a network connection")
        if not give_up_files():
            _log.warning("this machine has no Landlock for us: a child could open what its user can")
        pipe.send_bytes(READY)
        while True:
            _answer(pipe, answer, processor)
    except EOFError:
        return
    except BaseException as error:  # noqa: BLE001 - the outermost loop of a child; a polars panic is no Exception
        # The interpreter's own traceback would print the exception's text, which may hold a value.
        _log.exception("a call ended in an error")
        os._exit(OUT_OF_MEMORY if isinstance(error, MemoryError) else 1)


def _own_words() -> TextIO:
    """Return a stream to standard error, and let nothing else reach it: what native code prints as it dies has values.

    A panic of polars, or a check of Arrow's that fails, asks no logger.
    """
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    os.close(nowhere)
    return os.fdopen(kept, "w")


def _load(entry: str) -> Entry:
    module, _, name = entry.partition(":")
    found: Entry = getattr(importlib.import_module(module), name)
    return found


def _allow(seconds: float) -> None:
    """Let the process have so many seconds of the processor from now on; then SIGXCPU ends it (setrlimit(2)).

    The limit counts from the birth of the process, which serves many calls: only the soft one can be raised again.
    """
    used = resource.getrusage(resource.RUSAGE_SELF)
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    soft = math.ceil(used.ru_utime + used.ru_stime + seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (soft if most == resource.RLIM_INFINITY else min(soft, most), most))


def _answer(pipe: Connection, entry: Entry, processor: float) -> None:
    head = pipe.recv_bytes()
    _allow(processor)
    call = PipedCall(pipe, json.loads(head[1:]))
    try:
        reply = entry(call)
    except Problem as problem:
        frames = [PROBLEM + json.dumps(_problem_body(problem)).encode()]
    else:
        frames = [BLOB + blob for blob in reply.blobs]
        frames.append(JSON + json.dumps(reply.body).encode())
    for _ in call.blobs():  # what the entry did not want to read
        continue
    for frame in frames:
        pipe.send_bytes(frame)


def _problem_body(problem: Problem) -> Body:
    return {
        "kind": type(problem).__name__,
        "code": problem.code,
        "detail": problem.detail,
        "errors": [asdict(error) for error in problem.errors],
    }


def problem_from(body: Body) -> Problem:
    """Return the problem that a child answered with."""
    kinds = {kind.__name__: kind for kind in _problem_kinds(Problem)}
    kind = kinds.get(body["kind"], Unprocessable)
    return kind(body["code"], body["detail"], [FieldError(**error) for error in body["errors"]])


def _problem_kinds(root: type[Problem]) -> Iterator[type[Problem]]:
    for kind in root.__subclasses__():
        yield kind
        yield from _problem_kinds(kind)
