"""Examples, as the OpenAPI document shows them: ids, bodies that can be sent, and what is answered to them."""

import json
from functools import cache
from importlib.resources import files
from typing import Any, Final

MOMENT: Final = "01jx3v8q6w0000000000000000"  # every id of the examples: a moment, and no chance
OTHER: Final = "01jx3v8q6w0000000000000001"  # of what an example takes away


# Of a parameter of the path, by its name.
PLACES: Final[dict[str, str]] = {
    "capture_id": f"cap_{MOMENT}",
    "dataset_id": f"dst_{MOMENT}",
    "release_id": f"rel_{MOMENT}",
    "attack_id": f"atk_{MOMENT}",
    "sweep_id": f"swp_{MOMENT}",
    "utility_id": f"utl_{MOMENT}",
    "recommendation_id": f"rec_{MOMENT}",
    "profiles_id": f"prf_{MOMENT}",
    "webhook_id": f"whk_{MOMENT}",
    "delivery_id": f"dlv_{MOMENT}",
    "key_id": f"key_{OTHER}",
    "kid": "5f" * 32,
    "job_id": "posture-watch-1",
    "name": "networks",
}
# Of an operation that ends what it names: another one than all others speak of.
ENDED: Final[dict[str, dict[str, str]]] = {
    "deleteCapture": {"capture_id": f"cap_{OTHER}"},
    "deleteDataset": {"dataset_id": f"dst_{OTHER}"},
    "withdrawRelease": {"release_id": f"rel_{OTHER}"},
    "deleteWebhook": {"webhook_id": f"whk_{OTHER}"},
}

CAPTURE: Final[dict[str, Any]] = {"source": {"capture": PLACES["capture_id"]}}
TRIAL: Final[dict[str, Any]] = {
    "source": {"records": [{"ip": "192.0.2.7", "protocols": ["sctp"]}, {"ip": "192.0.2.9", "protocols": ["tcp"]}]},
    "attributes": {"quasi_identifiers": ["ip"], "sensitive": ["protocols"]},
    "policy": {"steps": [{"column": "ip", "op": "ip_prefix", "v4": 24, "v6": 64}]},
}
RELEASES: Final[dict[str, Any]] = {
    "built_in": {**CAPTURE, "policy": "C4"},
    "inline": {
        "name": "night shift",
        "recipient": "fl-aggregator-1",
        **TRIAL,
        "attacks": {"partial_qi": {"forget": 0.5}, "linkage": {"accuracy": 0.8}, "repetitions": 20, "seed": 1},
        "gate": {"k": {"min": 2}},
    },
}
ATTACKS: Final[dict[str, Any]] = {
    "sharper": {"partial_qi": {"forget": 0.25}, "linkage": {"accuracy": 0.95}, "repetitions": 50, "seed": 7}
}
SWEEPS: Final[dict[str, Any]] = {
    "all_configurations": {
        "sources": [CAPTURE["source"]["capture"]],
        "configurations": ["C0", "C1", "C2", "C3", "C4", "C5", "C6", "C7"],
    },
    "own_configuration": {
        "sources": [CAPTURE["source"]["capture"]],
        "configurations": ["C4", {"name": "roles by subnet", "policy": "C2"}],
        "attacks": {"repetitions": 20},
        "seed": 1,
    },
}
UTILITIES: Final[dict[str, Any]] = {
    "roles": {"sources": [CAPTURE["source"]["capture"]], "label": "role", "taus": [1, 2, 3, 5, 8, 12], "repeats": 20},
    "one_split": {"sources": [CAPTURE["source"]["capture"]], "taus": [1, 2], "repeats": 1, "trees": 20, "seed": 1},
}
TABLES: Final[dict[str, Any]] = {
    "text/csv": "station,hour,kwh\nA,08,11.5\nA,08,7.25\nB,09,30\n",
    "application/x-ndjson": '{"station": "A", "kwh": 11.5}\n{"station": "B", "kwh": 30}\n',
    "application/json": {"rows": [{"station": "A", "kwh": 11.5}, {"station": "B", "kwh": 30}]},
}


@cache
def shown() -> dict[str, dict[str, Any]]:
    """Return what is answered to the examples: by operation, the status and the content; long lists are cut."""
    found: dict[str, dict[str, Any]] = json.loads(files(__package__).joinpath("shown.json").read_bytes())
    return found
