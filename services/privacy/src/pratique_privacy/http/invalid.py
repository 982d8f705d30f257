"""Invalid fields: what pydantic found, as JSON pointers and texts of ours that repeat nothing of the body."""

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any, Final

from pratique_shared.contracts.problems import FieldError, pointer

MOST_READ = 200  # complaints looked at: the rest of a hopeless body says nothing new
# What is said of a whole because of a part of it: the branch of a union that was not meant, as of text where an object
# came; and a list that is too short by the entries that are wrong.
_BY_A_PART: Final = frozenset({"string_type", "model_type", "dict_type", "too_short"})
UNKNOWN_FORM: Final = "has the wrong type or form"
TEXTS: Final[Mapping[str, str]] = {
    "missing": "is required",
    "extra_forbidden": "is no field here: check its spelling",
    "union_tag_not_found": "give `op`, the operation",
    "union_tag_invalid": "`op` is none of {expected_tags}",
    "literal_error": "must be one of {expected}",
    "string_pattern_mismatch": "must have the form {pattern}",
    "string_too_short": "must have at least {min_length} characters",
    "string_too_long": "must have at most {max_length} characters",
    "string_unicode": "must be well-formed Unicode",
    "string_type": "must be text",
    "too_short": "must have at least {min_length} entries",
    "too_long": "must have at most {max_length} entries",
    "greater_than": "must be greater than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be at most {le}",
    "multiple_of": "must be a multiple of {multiple_of}",
    "finite_number": "must be a finite number",
    "int_type": "must be an integer",
    "int_from_float": "must be an integer",
    "int_parsing": "must be an integer",
    "int_parsing_size": "must be an integer of at most 64 bits",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "tuple_type": "must be a list",
    "list_type": "must be a list",
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "timezone_aware": "must be a time with its offset, as in RFC 3339",
}


def field_errors(found: Iterable[Mapping[str, Any]], body: object) -> list[FieldError]:
    """Return what is wrong with `body`, one entry a pointer, in the order in which it was found."""
    kept: dict[str, tuple[str, str]] = {}
    for error in islice(found, MOST_READ):
        where = pointer(*_path(error["loc"], body, missing=error["type"] == "missing"))
        if where not in kept or kept[where][0] in _BY_A_PART:
            kept[where] = (error["type"], _text(error))
    deeper = [where for where, (kind, _) in kept.items() if kind not in _BY_A_PART]
    return [
        FieldError(where, text)
        for where, (kind, text) in kept.items()
        if kind not in _BY_A_PART or not any(other.startswith(where + "/") for other in deeper)
    ]


def made_whole(found: Iterable[Mapping[str, Any]], body: Any) -> bool:  # noqa: ANN401 - JSON
    """Turn floats without a fraction into integers where integers are asked for; return whether there was one.

    To a JSON schema 5.0 is an integer; elsewhere, in records and in profiles, the two are told apart.
    """
    changed = False
    for error in found:
        path = _path(error["loc"], body, missing=False)
        if error["type"] not in ("int_type", "int_from_float") or not path:
            continue
        here = body
        for part in path[:-1]:
            here = here[part]
        value = here[path[-1]]
        if isinstance(value, float) and value.is_integer():
            here[path[-1]], changed = int(value), True
    return changed


def _path(location: Iterable[str | int], body: object, *, missing: bool) -> list[str | int]:
    """Follow a location down the body: what is not in it is the tag of a union, or the field that is missing."""
    parts, path, here = list(location), list[str | int](), body
    if parts and parts[0] in ("query", "path", "header"):
        return parts[1:]
    for part in parts:
        match here, part:
            case dict(), _ if part in here:
                here = here[part]
            case list(), int() if part < len(here):
                here = here[part]
            case _:
                continue
        path.append(part)
    return [*path, parts[-1]] if missing and parts else path


def _text(error: Mapping[str, Any]) -> str:
    context = error.get("ctx") or {}
    if error["type"] == "value_error":  # raised by the contracts, whose texts are constants
        return str(context.get("error", "cannot stand"))
    template = TEXTS.get(error["type"], UNKNOWN_FORM)
    known = {key: value for key, value in context.items() if key != "tag"}
    return template.format_map(known)
