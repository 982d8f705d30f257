"""The one-time link: what opens the dashboard on this machine, made with the admin key of the data folder."""

import json
from pathlib import Path
from urllib.request import ProxyHandler, Request, build_opener

_LOOPBACK = build_opener(ProxyHandler({}))


def one_time_link(url: str, key_file: Path) -> str | None:
    """Return an address that signs one browser in within ten minutes; None where the key is gone or is refused."""
    try:
        bearer = {"Authorization": f"Bearer {key_file.read_text().strip()}"}
        asked = Request(f"{url}/session/tickets", method="POST", headers=bearer)  # noqa: S310 - our own address
        with _LOOPBACK.open(asked, timeout=10) as answer:
            return f"{url}/#ticket={json.load(answer)['ticket']}"
    except (OSError, ValueError, KeyError):
        return None
