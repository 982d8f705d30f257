"""The policy file: the steps of a release and what else is asked of it, in YAML, TOML or JSON."""

import tomllib
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from pratique.exchange import written
from pratique_privacy.gate import check_metrics
from pratique_privacy.http.invalid import field_errors
from pratique_privacy.policy.builtin import BUILT_IN
from pratique_shared.contracts.policy import Policy
from pratique_shared.contracts.problems import Unprocessable
from pratique_shared.contracts.releases import StoredPolicy

LARGEST = 1 << 20  # bytes: what a body of the service may have
TWICE = "a name stands twice"


class _Once(yaml.SafeLoader):
    """Reads plain values alone, and no mapping in which a key stands twice (YAML 1.2.2, 3.2.1.3)."""

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:  # noqa: ANN401 - the stubs say what it is not
        node = super().compose_mapping_node(anchor)
        seen: set[str] = set()
        for key in (key for key, _ in node.value if isinstance(key, yaml.ScalarNode)):
            if key.value in seen:
                raise yaml.MarkedYAMLError(problem=TWICE, problem_mark=key.start_mark)
            seen.add(key.value)
        return node


def read_policy(asked: str) -> tuple[StoredPolicy, str | None]:
    """Return a built-in policy by its name, or the one in a file; with the name of the built-in.

    The file holds `steps`, and where wanted `attributes`, `gate`, `attacks` and `ppi`, as a stored policy does. Raises
    `Unprocessable` with pointers to what is wrong, and OSError.
    """
    if asked in BUILT_IN:
        return StoredPolicy(steps=BUILT_IN[asked].policy.steps), asked
    document = _document(Path(asked))
    try:
        stored = StoredPolicy.model_validate(document)
    except ValidationError as error:
        detail = f"The policy in {asked} cannot stand."
        raise Unprocessable("policy-invalid", detail, field_errors(error.errors(), document)) from None
    check_metrics(stored.gate or {})
    return stored, None


def policy_of(stored: StoredPolicy) -> Policy:
    """Return the steps alone."""
    return Policy(steps=stored.steps)


def _document(path: Path) -> object:
    if not path.exists() and not path.suffix:
        names = ", ".join(BUILT_IN)
        raise Unprocessable("policy-unknown", f"{path} is no file and no built-in policy: there are {names}.")
    data = path.read_bytes()
    if len(data) > LARGEST:
        raise Unprocessable("policy-invalid", f"{path} is larger than a policy can be.")
    try:
        text = data.decode()
        match path.suffix.lower():
            case ".toml":
                return tomllib.loads(text)
            case ".json":
                return written(text)
            case _:
                return _Once(text).get_single_data()
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = "" if mark is None else f" at line {mark.line + 1}"
        twice = f": {TWICE}" if getattr(error, "problem", None) == TWICE else ""
        raise Unprocessable("policy-invalid", f"{path} is no YAML{place}{twice}.") from None
    except (ValueError, RecursionError):
        raise Unprocessable("policy-invalid", f"{path} is not what its ending says, or not UTF-8 text.") from None
