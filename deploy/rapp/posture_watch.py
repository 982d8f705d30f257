"""A sample rApp: asks the Information Coordinator Service for failing postures, and tells what comes.

Only the standard library. Settings by environment: ICS_URL, RESULT_URL (this program as the producer reaches it),
JOB_ID, PILOTS (with commas; all when empty), PORT.
"""

import json
import logging
import os
import signal
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.error import URLError
from urllib.parse import quote
from urllib.request import ProxyHandler, Request, build_opener

POSTURE = "privacy_posture_1.0.0"
AGAIN = 15.0  # seconds between two attempts to be known to the coordinator
MOST_BYTES = 16 << 20

_log = logging.getLogger("posture-watch")
_open = build_opener(ProxyHandler({})).open  # the coordinator is inside: no proxy of the environment stands between


@dataclass(frozen=True)
class Settings:
    """Where the coordinator is, where we are, and what we ask for."""

    ics: str
    result: str
    job: str = "posture-watch-1"
    pilots: tuple[str, ...] = ()
    port: int = 8090

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> "Settings":
        """Read the settings from the environment."""
        pilots = tuple(part.strip() for part in environ.get("PILOTS", "").split(",") if part.strip())
        return cls(
            environ.get("ICS_URL", "http://informationservice.nonrtric:8083").rstrip("/"),
            environ.get("RESULT_URL", "http://posture-watch:8090").rstrip("/"),
            environ.get("JOB_ID", "posture-watch-1"),
            pilots,
            int(environ.get("PORT", "8090")),
        )

    @property
    def job_url(self) -> str:
        """Where our job is, at the coordinator."""
        return f"{self.ics}/data-consumer/v1/info-jobs/{quote(self.job, safe='')}"

    def body(self) -> dict[str, Any]:
        """Return the job: postures that did not pass, gathered for at most a second."""
        definition: dict[str, Any] = {
            "verdicts": ["fail", "indeterminate"],
            "includeHistory": True,
            "bufferTimeout": {"maxSize": 50, "maxTimeMilliseconds": 1000},
        }
        return {
            "info_type_id": POSTURE,
            "job_owner": "posture-watch",
            "job_definition": {**definition, **({"pilots": list(self.pilots)} if self.pilots else {})},
            "job_result_uri": f"{self.result}/postures",
            "status_notification_uri": f"{self.result}/status",
        }


def tell(event: dict[str, Any]) -> str:
    """Say in a line what a posture says."""
    posture = event["data"]
    failed = [f"{c['metric']} {c['op']} {c['bound']}" for c in posture["gate"]["checks"] if c["status"] != "pass"]
    return f"{event['subject']} {posture['verdict']}: {', '.join(failed) or 'no check named'}"


class Handler(BaseHTTPRequestHandler):
    """Takes postures and changes of the job's status; answers at once."""

    def do_POST(self) -> None:
        """Take a body."""
        length = int(self.headers.get("Content-Length", "0"))
        if length > MOST_BYTES:
            self._answer(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
            return
        try:
            body = json.loads(self.rfile.read(length))
            lines = self._lines(body)
        except (ValueError, KeyError, TypeError):
            self._answer(HTTPStatus.BAD_REQUEST)
            return
        for line in lines:
            print(line, flush=True)
        self._answer(HTTPStatus.NO_CONTENT)

    def do_GET(self) -> None:
        """Say that we live."""
        self._answer(HTTPStatus.NO_CONTENT)

    def _lines(self, body: Any) -> list[str]:  # noqa: ANN401 - JSON holds anything
        if self.path == "/status":
            return [f"job {body['eiJobStatus']}"]
        events = body if isinstance(body, list) else [body]
        return [tell(event) for event in events]

    def _answer(self, status: HTTPStatus) -> None:
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as the base class has it
        """Keep silent: every line of output is a posture."""


def subscribe(settings: Settings) -> bool:
    """Put our job; whether the coordinator took it. Until a producer is registered the type is not known (404)."""
    request = Request(  # noqa: S310 - the address is the operator's
        settings.job_url,
        json.dumps(settings.body()).encode(),
        {"Content-Type": "application/json"},
        method="PUT",
    )
    try:
        with _open(request, timeout=35):
            return True
    except (URLError, OSError) as error:
        _log.warning("the coordinator did not take the job: %s", type(error).__name__)
        return False


def unsubscribe(settings: Settings) -> None:
    """Take our job back."""
    try:
        with _open(Request(settings.job_url, method="DELETE"), timeout=10):  # noqa: S310 - as above
            return
    except (URLError, OSError) as error:
        _log.warning("the coordinator did not end the job: %s", type(error).__name__)


def main() -> None:
    """Serve until SIGTERM."""
    logging.basicConfig(level="INFO", stream=sys.stderr)
    settings, stopping = Settings.of(os.environ), threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.set())
    server = ThreadingHTTPServer(("", settings.port), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    while not subscribe(settings) and not stopping.wait(AGAIN):
        pass
    stopping.wait()
    unsubscribe(settings)
    server.shutdown()


if __name__ == "__main__":
    main()
