"""The listener: a receiver of webhooks on this machine, for as long as somebody looks."""

import argparse
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, HTTPServer

from pratique.columns import plain
from pratique.commands import exits
from pratique.commands.shell import Shell
from pratique.exchange import Json
from pratique.webhooks import NotGenuine, verify

MOST_BYTES = 1 << 20
PATIENCE = 10.0  # seconds that a sender may take for its message

Hear = Callable[[str, Json], None]


class Receiver(HTTPServer):
    """Listens on loopback and hands on what is genuine."""

    def __init__(self, port: int, hear: Hear, doubt: Callable[[NotGenuine], None]) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.secret, self.hear, self.doubt = "", hear, doubt


class _Handler(BaseHTTPRequestHandler):
    server: Receiver
    timeout = PATIENCE

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > MOST_BYTES:
            self._answer(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
            return
        body = self.rfile.read(int(length))
        headers = {name.lower(): value for name, value in self.headers.items()}
        try:
            event = verify(self.server.secret, headers, body)
        except NotGenuine as error:
            self.server.doubt(error)
            self._answer(HTTPStatus.UNAUTHORIZED)
            return
        self._answer(HTTPStatus.NO_CONTENT)
        self.server.hear(headers["webhook-id"], event)

    def _answer(self, status: HTTPStatus) -> None:
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as the base class has it
        """Keep silent: what is printed are events."""


def listen(shell: Shell, options: argparse.Namespace) -> int:
    """Print events until enough came or Ctrl-C."""
    enough, seen = threading.Event(), set[str]()

    def hear(identity: str, event: Json) -> None:
        if identity in seen:  # at least once: the same message may come again
            return
        seen.add(identity)
        print(json.dumps(event, ensure_ascii=False) if shell.json else line(event), file=shell.out, flush=True)
        if options.count and len(seen) >= options.count:
            enough.set()

    def doubt(error: NotGenuine) -> None:
        shell.remark(f"refused: {plain(error.detail)}")

    with Receiver(options.port, hear, doubt) as receiver, _secret(shell, options, receiver.server_port) as secret:
        receiver.secret = secret
        thread = threading.Thread(target=receiver.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            enough.wait()
        finally:
            receiver.shutdown()
            thread.join()
    return exits.OK


@contextmanager
def _secret(shell: Shell, options: argparse.Namespace, port: int) -> Iterator[str]:
    """Lend the secret of a webhook: one that there is, or one made for as long as this lasts."""
    if options.secret_file is not None:
        shell.remark(f"listening on http://127.0.0.1:{port}/")
        yield options.secret_file.read_text(encoding="ascii").strip()
        return
    asked = {"url": options.at or f"http://127.0.0.1:{port}/", "events": options.event, "recipient": options.recipient}
    body = {name: value for name, value in asked.items() if value is not None}
    made = shell.client.create_webhook({**body, "name": "pratique webhook listen"})
    shell.remark(f"listening on http://127.0.0.1:{port}/ as {plain(made['id'])}; Ctrl-C ends it")
    try:
        yield made["secret"]
    finally:
        shell.client.delete_webhook(made["id"])


def line(event: Json) -> str:
    """Return an event as a line: when, what, of which, and how it ended."""
    data = event.get("data") if isinstance(event.get("data"), dict) else {}
    assert isinstance(data, dict)
    outcome = data.get("verdict") or (data.get("error") or {}).get("code") or data.get("status") or ""
    return "  ".join(plain(event.get(name) or "-") for name in ("time", "type", "subject")) + f"  {plain(outcome)}"
