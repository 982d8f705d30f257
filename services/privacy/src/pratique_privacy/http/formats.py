"""Formats: which form of a table a reader asked for, by name or by `Accept`."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from fastapi import Request

from pratique_shared.contracts.media import Form
from pratique_shared.contracts.problems import NotAcceptable

MEDIA_TYPES: Final[dict[Form, str]] = {
    "parquet": "application/vnd.apache.parquet",
    "arrow": "application/vnd.apache.arrow.stream",
    "csv": "text/csv",
    "ndjson": "application/x-ndjson",
    "json": "application/json",
}
# Other names under which readers ask for the same.
_ALSO: Final[dict[str, Form]] = {"application/x-parquet": "parquet", "application/ndjson": "ndjson"}
_WEIGHT: Final = re.compile(r"0(\.[0-9]{0,3})?|1(\.0{0,3})?")


@dataclass(frozen=True)
class _Accepted:
    """One entry of `Accept`: a media range, how closely it names one, and its weight."""

    type: str
    subtype: str
    weight: float

    @property
    def closeness(self) -> int:
        return (self.type != "*") + (self.subtype != "*")

    def covers(self, media: str) -> bool:
        kind, _, name = media.partition("/")
        return self.type in ("*", kind) and self.subtype in ("*", name)


def form_asked(request: Request, given: Form | None, default: Form) -> Form:
    """Return `?format=`, else the form that `Accept` gives the greatest weight (RFC 9110, 12.5.1).

    The closest range decides the weight of a form; of equal weights the form that is named most closely comes first,
    then the default. Raises `NotAcceptable` where every form has the weight 0.
    """
    if given is not None:
        return given
    accepted = list(_accepted(",".join(request.headers.getlist("accept"))))
    if not accepted:
        return default
    order = (default, *(form for form in MEDIA_TYPES if form != default))
    best = max(order, key=lambda form: _standing(form, accepted))  # the first of equals
    if _standing(best, accepted)[0] == 0:
        raise NotAcceptable("not-acceptable", f"There is {', '.join(MEDIA_TYPES.values())}: accept one of them.")
    return best


def _standing(form: Form, accepted: list[_Accepted]) -> tuple[float, int]:
    names = [MEDIA_TYPES[form], *(name for name, also in _ALSO.items() if also == form)]
    covering = [entry for entry in accepted if any(map(entry.covers, names))]
    if not covering:
        return 0, 0
    closest = max(entry.closeness for entry in covering)
    return max(entry.weight for entry in covering if entry.closeness == closest), closest


def _accepted(header: str) -> Iterator[_Accepted]:
    """Yield the media ranges of a header; what cannot be read says nothing."""
    for entry in header.lower().split(","):
        media, *parameters = [part.strip() for part in entry.split(";")]
        kind, slash, name = media.partition("/")
        weights = [text[2:].strip() for text in parameters if text.startswith("q=")]
        if kind and slash and name and all(map(_WEIGHT.fullmatch, weights[:1])):
            yield _Accepted(kind, name, float(weights[0]) if weights else 1.0)
