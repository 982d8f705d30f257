"""What the contract tester does not know of this service: a media type, what must stay, and what no schema can say."""

import re
from typing import Any

import schemathesis
from schemathesis import Case, CheckContext, HookContext, Response, SerializationContext

from pratique_privacy.http.examples import MOMENT, OTHER
from pratique_privacy.http.invalid import TEXTS, UNKNOWN_FORM

# Refusals of form: whoever keeps to the document never meets one. The others are of what no schema can say: a policy
# that does not fit the columns, a table with a ragged row, an address that leads nowhere, fields that contradict.
OF_FORM = frozenset({"cursor-invalid", "parameter-unknown", "parameter-twice", "not-json", "digest-malformed"})
_OF_A_FIELD = re.compile(
    "|".join(re.sub(r"\\\{\w+\\\}", ".*", re.escape(text)) for text in (*TEXTS.values(), UNKNOWN_FORM)), re.DOTALL
)


@schemathesis.serializer("application/x-ndjson")
def lines(ctx: SerializationContext, value: object) -> bytes | None:
    """Send lines as they are."""
    return value if isinstance(value, bytes) else str(value).encode()


@schemathesis.hook
def before_call(context: HookContext, case: Case[Any], kwargs: dict[str, object]) -> None:
    """Let nothing be deleted that all other operations speak of."""
    if case.method == "DELETE":
        for name, value in case.path_parameters.items():
            if isinstance(value, str) and value.endswith(MOMENT):
                case.path_parameters[name] = value.replace(MOMENT, OTHER)


@schemathesis.check
def refused_for_its_meaning(ctx: CheckContext, response: Response, case: Case[Any]) -> bool | None:
    """Hold what follows the document to be refused for what it means at most, never for its form."""
    meta = case.meta
    if meta is None or not meta.generation.mode.is_positive or response.status_code not in (400, 415, 422):
        return None
    problem = response.json()
    assert problem["code"] not in OF_FORM, f"refused for its form: {response.text[:300]}"
    if problem["code"] in ("body-invalid", "query-invalid"):
        wrong = [error for error in problem.get("errors", ()) if _OF_A_FIELD.fullmatch(error["detail"])]
        assert not wrong, f"refused for the form of a field: {wrong[:3]}"
    return None
