"""The log: one JSON object a line, with ids that say nothing and never a value of a record."""

import json
import logging
import re
import sys
import threading
from types import TracebackType
from typing import Final, TextIO

# Below WARNING they write what is not theirs to tell: httpx whole URLs, arq its jobs, urllib3 where a redirect leads.
QUIET: Final = ("arq", "httpx", "httpcore", "urllib3", "opentelemetry")
OURS: Final = "pratique"
FRAMES = 6  # the last ones of an exception that are told
_PLAIN: Final = frozenset(logging.LogRecord("", 0, "", 0, "", (), None).__dict__) | {"message", "asctime", "taskName"}
_ARGUMENTS: Final = re.compile(r"[(<\n]")  # where asyncio goes on with a call's arguments or the repr of a task

_log = logging.getLogger(OURS)


class JsonLines(logging.Formatter):
    """Formats a record as JSON. Of an exception only its type and place are kept: its text may hold a value."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
        line = {"at": self.formatTime(record), "level": record.levelname, "logger": record.name}
        line["message"] = _message(record)
        line |= {key: value for key, value in record.__dict__.items() if key not in _PLAIN}
        if record.exc_info and record.exc_info[0] is not None:
            line["exception"] = record.exc_info[0].__name__
            line["frames"] = _frames(record.exc_info[2])
        return json.dumps(line, default=str)


def _message(record: logging.LogRecord) -> str:
    """Return the message of a record, without the text of an exception that a library puts into it."""
    if record.name == OURS or record.name.startswith(f"{OURS}."):
        return record.getMessage()
    if record.name == "asyncio":
        return _ARGUMENTS.split(record.getMessage(), maxsplit=1)[0].rstrip()
    message = _spared(record.msg)
    if isinstance(record.args, tuple) and record.args:
        return str(message) % tuple(_spared(each) for each in record.args)
    return str(message) % record.args if record.args else str(message)


def _spared(part: object) -> object:
    return type(part).__name__ if isinstance(part, BaseException) else part


def _frames(trace: TracebackType | None) -> str:
    frames = []
    while trace is not None:
        frames.append(f"{trace.tb_frame.f_code.co_qualname}:{trace.tb_lineno}")
        trace = trace.tb_next
    return " > ".join(frames[-FRAMES:])


def log_as_json(level: str, stream: TextIO | None = None) -> None:
    """Send every log record of this process to standard error as JSON lines, and what ends it or a thread as one.

    The interpreter's own tracebacks print an exception's text. A `SystemExit` goes by none of these ways: its text is
    ours, for whoever started the process.
    """
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=level, handlers=[handler], force=True)
    logging.raiseExceptions = False  # a record that cannot be formatted would be printed with its values
    for name in QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)
    sys.excepthook = _on_uncaught
    threading.excepthook = _on_dead_thread
    sys.unraisablehook = _on_unraisable


def _on_uncaught(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    _log.critical("the process ended in an error", exc_info=(kind, error, trace))


def _on_dead_thread(ended: "threading.ExceptHookArgs") -> None:
    if ended.exc_type is not SystemExit:
        _tell("a thread ended in an error", ended)


def _on_unraisable(raised: "sys.UnraisableHookArgs") -> None:
    _tell("an error came up where nothing could catch it", raised)


def _tell(message: str, found: "threading.ExceptHookArgs | sys.UnraisableHookArgs") -> None:
    error = found.exc_type() if found.exc_value is None else found.exc_value
    _log.error(message, exc_info=(found.exc_type, error, found.exc_traceback))
