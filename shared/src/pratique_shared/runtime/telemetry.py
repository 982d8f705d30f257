"""The log: one JSON object a line, with ids that say nothing and never a value of a record."""

import json
import logging
import sys
from typing import Final

# Below WARNING they write what is not theirs to tell: httpx whole URLs, arq its jobs, urllib3 where a redirect leads.
QUIET: Final = ("arq", "httpx", "httpcore", "urllib3", "opentelemetry")
_PLAIN: Final = frozenset(logging.LogRecord("", 0, "", 0, "", (), None).__dict__) | {"message", "asctime", "taskName"}


class JsonLines(logging.Formatter):
    """Formats a record as JSON. Of an exception only its type and place are kept: its text may hold a value."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
        line = {"at": self.formatTime(record), "level": record.levelname, "logger": record.name}
        line["message"] = record.getMessage()
        line |= {key: value for key, value in record.__dict__.items() if key not in _PLAIN}
        if record.exc_info and record.exc_info[0] is not None:
            line["exception"] = record.exc_info[0].__name__
            trace = record.exc_info[2]
            frames = []
            while trace is not None:
                frames.append(f"{trace.tb_frame.f_code.co_qualname}:{trace.tb_lineno}")
                trace = trace.tb_next
            line["frames"] = " > ".join(frames[-6:])
        return json.dumps(line, default=str)


def log_as_json(level: str) -> None:
    """Send every log record of this process to standard error as JSON lines."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=level, handlers=[handler], force=True)
    for name in QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)
