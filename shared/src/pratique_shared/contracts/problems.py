"""Every way in which Pratique turns something down.

    Problem                        code, HTTP status, may a retry help
    ├── BadRequest                 400  the body is no JSON
    ├── Unauthorized               401  no key, or one that is not known
    ├── Forbidden                  403  the role may not; gate-failed
    ├── NotFound                   404  not there, or another tenant's
    ├── NotAcceptable              406  in none of the forms that there are
    ├── Conflict                   409  not in this state
    ├── Gone                       410  withdrawn or deleted
    ├── TooLarge                   413
    ├── Unsupported                415  not a capture, not a format we read
    ├── RangeNotSatisfiable        416  no byte of that range is there
    ├── Unprocessable              422  well formed, and wrong; `errors` point at the fields
    │   └── PolicyRefused              a policy or its attributes cannot stand
    ├── TooManyRequests            429  more than the caller's share; says when to come back
    ├── Unavailable                503  Redis, store or a worker is missing: retry
    └── StoreFull                  507

A problem is an answer, not a crash: its texts are written by us and never hold a value of a record,
an identifier or a piece of the body.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True)
class FieldError:
    """One wrong field of a body: its JSON pointer (RFC 6901) and what to do about it."""

    pointer: str
    detail: str


def pointer(*parts: str | int) -> str:
    """Return the JSON pointer of nested names and places (RFC 6901: `~` and `/` are escaped)."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)


class Problem(Exception):
    """An answer that says no: `code` is stable, `detail` says what to do, `errors` name the fields."""

    status: ClassVar[int] = 500
    title: ClassVar[str] = "Internal error"
    retryable: ClassVar[bool] = False

    def __init__(self, code: str, detail: str, errors: Sequence[FieldError] = ()) -> None:
        super().__init__(code)
        self.code = code
        self.detail = detail
        self.errors = tuple(errors)


class BadRequest(Problem):
    """The body is not what its media type says."""

    status = 400
    title = "Bad request"


class Unauthorized(Problem):
    """No credentials, or none that is known."""

    status = 401
    title = "Unauthorized"


class Forbidden(Problem):
    """Known, and not allowed."""

    status = 403
    title = "Forbidden"


class NotFound(Problem):
    """Not there, or another tenant's: the two look the same."""

    status = 404
    title = "Not found"


def no_such(what: str) -> NotFound:
    """Return the refusal of an id that names nothing here, or something of another tenant."""
    return NotFound("not-found", f"There is no such {what}: a list shows those that you may see.")


class NotAcceptable(Problem):
    """The caller takes none of the forms that there are."""

    status = 406
    title = "Not acceptable"


class Conflict(Problem):
    """The resource is not in a state that allows this."""

    status = 409
    title = "Conflict"


class Gone(Problem):
    """It was here and has been withdrawn or deleted."""

    status = 410
    title = "Gone"


class TooLarge(Problem):
    """The body is larger than the service takes."""

    status = 413
    title = "Too large"


class Unsupported(Problem):
    """The content is of a kind that the service does not read."""

    status = 415
    title = "Unsupported content"


class RangeNotSatisfiable(Problem):
    """No byte of the range that was asked for is there; `content_range` says how many there are (RFC 9110, 15.5.17)."""

    status = 416
    title = "Range not satisfiable"

    def __init__(self, content_range: str) -> None:
        super().__init__("range-not-satisfiable", "Ask for bytes that are there: `Content-Range` says how many.")
        self.content_range = content_range


class Unprocessable(Problem):
    """Well formed, and wrong."""

    status = 422
    title = "Unprocessable content"


class PolicyRefused(Unprocessable):
    """A policy, or the attributes that it works on, cannot stand."""


class TooManyRequests(Problem):
    """More requests than the caller's share (RFC 6585, 4): there is one again in `retry_after` seconds."""

    status = 429
    title = "Too many requests"
    retryable = True
    retry_after: int = 1


class Unavailable(Problem):
    """A part of the service is missing for now."""

    status = 503
    title = "Unavailable"
    retryable = True


class StoreFull(Problem):
    """The artifact store takes no more."""

    status = 507
    title = "Store full"
    retryable = True
