"""Identifiers stay out of logs, error texts and reprs (3GPP TS 23.003 names the subscriber's; keys and tokens too)."""

import ast
import re
from collections.abc import Iterator

import pytest

from tests.unit.repo.source import MEMBERS, Module, at, dotted, modules, parsed

SUBSCRIBER = {"imsi", "supi", "suci", "guti", "tmsi", "imei", "imeisv", "msisdn", "gpsi", "msin"}
SECRET = {"secret", "secrets", "token", "tokens", "password", "salt", "pepper", "pseudonym", "pseudonyms", "credential"}
KEY_MATERIAL = {"master_key", "data_key", "tenant_key", "storage_key", "api_key", "private_key", "key_bytes"}
RECORD = {"value", "values", "cell", "cells", "row", "rows", "record", "records", "payload", "sample"}
SHORTHANDS = {"ip", "ips", "mac", "address", "addresses"}
LEVELS = {"debug", "info", "warning", "error", "exception", "critical", "log"}
SILENT = {"len", "type", "isinstance", "id", "sum"}  # what these tell of their argument is no identifier
ERRORS = {"error", "exc", "exception", "err"}
MESSAGE_PARTS = {"FieldError", "Warned", "Failure", "SystemExit"}  # they end in an answer or on a terminal

COUNTED = {"most", "max", "least", "min", "count", "number", "limit", "bytes"}  # `most_rows` is a number, not rows

# Place and name, and why it tells nothing that its reader did not know.
ALLOWED = {
    "clients/python/src/pratique/access.py address": "the URL of the service, which may hold no password",
    "deploy/local/src/pratique_local/demo.py text of error": "the client's own errors, on the terminal of who ran it",
}


def words_of(name: str) -> set[str]:
    """The words of a name: `_raw_imsi` and `rawImsi` both say imsi."""
    return set(re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower().strip("_").split("_"))


def telling(name: str) -> bool:
    """Whether a thing of this name may be an identifier, a secret or a value of a record."""
    words = words_of(name)
    if name.isupper() or (words & COUNTED and not words & (SUBSCRIBER | SECRET)):
        return False
    return bool(words & (SUBSCRIBER | SECRET | RECORD | SHORTHANDS)) or name.lower().strip("_") in KEY_MATERIAL


def told(node: ast.AST) -> Iterator[str]:
    """Yield the names that an argument tells of, leaving out those of which only a count or a type is told."""
    match node:
        case ast.Call():
            yield from _told_by_call(node)
        case ast.FormattedValue(value):
            yield from _text_of_error(value)
            yield from told(value)
        case ast.Name(name) if telling(name):
            yield name
        case ast.Attribute(_, name) if telling(name):
            yield dotted(node) or name
        case ast.Attribute(_, name) if name.startswith("__"):  # `type(value).__name__` and the like
            return
        case _:
            for child in ast.iter_child_nodes(node):
                yield from told(child)


def _told_by_call(call: ast.Call) -> Iterator[str]:
    if dotted(call.func) in SILENT:
        return
    if dotted(call.func) in {"str", "repr"}:
        for argument in call.args:
            yield from _text_of_error(argument)
    if isinstance(call.func, ast.Attribute):  # of `value.strip()`, the value
        yield from told(call.func.value)
    for part in _handed(call):
        yield from told(part)


def _text_of_error(node: ast.expr) -> Iterator[str]:
    if words_of(dotted(node)) & ERRORS:
        yield f"text of {dotted(node)}"


def _handed(call: ast.Call) -> list[ast.expr]:
    """What a call is handed; of `exc_info` the log keeps type and place alone."""
    return [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg != "exc_info")]


def speaks(node: ast.AST) -> bool:
    """Whether what is handed to this call may be read by somebody: a log, or a part of an error."""
    if not isinstance(node, ast.Call):
        return False
    base, _, last = dotted(node.func).rpartition(".")
    return (last in LEVELS and "log" in base.lower()) or last in MESSAGE_PARTS or dotted(node.func) == "print"


def leaks(module: Module) -> Iterator[str]:
    """Name every place where a log or an error is handed something that may be an identifier."""
    seen = set()
    for node in ast.walk(module.tree):
        call = node.exc if isinstance(node, ast.Raise) else node
        if isinstance(call, ast.Call) and (isinstance(node, ast.Raise) or speaks(call)):
            for part in _handed(call):
                for name in told(part):
                    finding = f"{module.path} {name}"
                    if finding not in seen:
                        seen.add(finding)
                        yield at(module, call, name)


def shown(module: Module) -> Iterator[str]:
    """Name every field of a dataclass whose repr would show an identifier or a secret."""
    for node in ast.walk(module.tree):
        if not isinstance(node, ast.ClassDef) or not any("dataclass" in ast.unparse(d) for d in node.decorator_list):
            continue
        for field in node.body:
            match field:
                case ast.AnnAssign(target=ast.Name(name), annotation=annotation, value=value):
                    hidden = value is not None and "repr=False" in ast.unparse(value)
                    holds = re.search(r"\b(str|bytes)\b", ast.unparse(annotation)) is not None
                    secret = words_of(name) & (SUBSCRIBER | SECRET) or name in KEY_MATERIAL
                    if secret and holds and not hidden:
                        yield at(module, field, f"{node.name}.{name}")


@pytest.mark.parametrize("member", MEMBERS)
def test_no_log_and_no_error_is_handed_an_identifier(member: str) -> None:
    found = [re.sub(r":\d+", "", finding) for module in modules(member) for finding in leaks(module)]
    assert [finding for finding in found if finding not in ALLOWED] == []


@pytest.mark.parametrize("member", MEMBERS)
def test_no_dataclass_shows_an_identifier_in_its_repr(member: str) -> None:
    assert [finding for module in modules(member) for finding in shown(module)] == []


def test_every_exception_is_still_needed() -> None:
    found = {re.sub(r":\d+", "", finding) for module in modules(*MEMBERS) for finding in leaks(module)}
    assert sorted(set(ALLOWED) - found) == []


@pytest.mark.parametrize(
    "line",
    [
        '_log.info(f"registered {imsi}")',
        '_log.warning("registered %s", subscriber.imsi)',
        '_log.error("registered", extra={"who": subscriber.suci})',
        'logger.exception("no key for " + tenant_key.hex())',
        'raise ValueError(f"bad cell {value!r}")',
        'raise Unprocessable("bad-cell", "No such value: " + row["age"])',
        'raise Refused("bad", "A cell is wrong.", [FieldError("/rows/0", raw_msisdn)])',
        "raise ChildDied(str(error)) from error",
        'problem = Failure("x", f"it said {error}")',
        "print(api_key)",
        'raise SystemExit(f"wrong password {password}")',
    ],
)
def test_a_leak_is_found(line: str) -> None:
    assert len(list(leaks(parsed(line)))) == 1


def test_counts_types_and_codes_are_no_leak() -> None:
    text = """
raise ValueError(f"{len(values)} cells of type {type(value).__name__} in column {column}")
_log.error("a request ended in a defect", exc_info=error, extra={"request_id": request_id})
raise ChildDied(type(error).__name__) from error
"""
    assert list(leaks(parsed(text))) == []


def test_a_field_that_shows_an_identifier_is_found() -> None:
    text = """
@dataclass(frozen=True)
class Subscriber:
    imsi: str
    suci: bytes = field(repr=False)
    imsi_count: int = 0
"""
    assert [finding.split()[1] for finding in shown(parsed(text))] == ["Subscriber.imsi"]
