"""Releases to look at: one table, handed over as it is and after suppression, with figures worked here."""

from dataclasses import dataclass
from typing import Any

from pratique import Client

# (station, hour, connector): rows. 36 rows in 5 classes, two of which are one row; plans alternate.
CLASSES = {
    ("A", "08", "CCS"): 20,
    ("B", "09", "CCS"): 10,
    ("C", "10", "Type2"): 4,
    ("D", "11", "CCS"): 1,
    ("E", "08", "Type2"): 1,
}
RECIPIENT = "grid-lab"


@dataclass(frozen=True)
class Released:
    """Ids: `raw` fails k >= 2, `suppressed` (34 rows, 3 classes, k = 4) passes it."""

    raw: str
    suppressed: str


def charging() -> list[dict[str, str]]:
    """The table, row by row."""
    names = ("station", "hour", "connector")
    rows = [dict(zip(names, key, strict=True)) for key, count in CLASSES.items() for _ in range(count)]
    return [{**row, "plan": "day" if place % 2 else "night"} for place, row in enumerate(rows)]


def request(name: str, steps: list[dict[str, Any]]) -> dict[str, Any]:
    """Ask for the table under some steps."""
    return {
        "name": name,
        "recipient": RECIPIENT,
        "purpose": "load forecast",
        "source": {"records": charging()},
        "attributes": {"quasi_identifiers": ["station", "hour", "connector"], "sensitive": ["plan"]},
        "policy": {"steps": steps},
        "gate": {"k": {"min": 2}},
    }


def release_both(client: Client) -> Released:
    """Ask for both releases and wait until they are there."""
    raw = client.create_release(request("charging as it is", []))["id"]
    suppressed = client.create_release(request("charging from four", [{"op": "class_support", "tau": 4}]))["id"]
    for identity in (raw, suppressed):
        client.wait_release(identity, 60)
    return Released(raw, suppressed)
