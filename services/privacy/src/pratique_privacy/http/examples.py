"""Examples of requests, as the OpenAPI document shows them."""

from typing import Any, Final

CAPTURE: Final[dict[str, Any]] = {"source": {"capture": "cap_01jx3v8q6w0000000000000000"}}
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
    "one_split": {"sources": [CAPTURE["source"]["capture"]], "repeats": 1, "exempt_rarest": 2, "seed": 1},
}
