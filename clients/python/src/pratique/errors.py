"""Errors: what may come back instead of an answer.

PratiqueError            code, detail: what happened, in a word for programs and a sentence for people
├── LocalFault           nothing was sent: an address, a key or a file on this side does not do
├── Unreachable          no answer after the retries, or one that is not Pratique's
├── Refused              the service said no: status, errors, request_id, retry_after (a problem document, RFC 9457)
├── RunFailed            a capture, dataset or release ended as failed or cancelled
├── StillRunning         not finished in the time given; it goes on and may be asked for again
├── GateFailed           the release does not pass its gate or the profile: verdict, checks
├── NotCertified         its certificate is missing, expired, or not true of it
└── DigestMismatch       the bytes are not those that the service announced; nothing was kept

What the local disk refuses stays an OSError.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Fault:
    """One wrong place in a body: a JSON pointer (RFC 6901) and what is wrong there."""

    pointer: str
    detail: str


class PratiqueError(Exception):
    """The root of every error that this client raises on its own account."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail


class LocalFault(PratiqueError):
    """An address, a key or a file on this side does not do; the service was not asked."""


class Unreachable(PratiqueError):
    """The service gave no answer after the retries, or one that is not Pratique's."""


class Refused(PratiqueError):
    """The service said no, in a problem document (RFC 9457)."""

    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        *,
        errors: Sequence[Fault] = (),
        request_id: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(code, detail)
        self.status = status
        self.errors = tuple(errors)
        self.request_id = request_id
        self.retry_after = retry_after

    @classmethod
    def from_problem(cls, status: int, document: object, retry_after: float | None = None) -> "Refused":
        """Read a problem document; anything else under that status still gives an error that names the status."""
        problem: Mapping[str, Any] = document if isinstance(document, dict) else {}
        code = _text(problem.get("code")) or f"http-{status}"
        detail = (
            _text(problem.get("detail")) or _text(problem.get("title")) or f"The service answered with status {status}."
        )
        return cls(
            status,
            code,
            detail,
            errors=_faults(problem.get("errors")),
            request_id=_text(problem.get("request_id")) or None,
            retry_after=retry_after,
        )


class RunFailed(PratiqueError):
    """A capture, dataset or release ended as failed or cancelled; code and detail are the service's own."""


class StillRunning(PratiqueError):
    """Not finished in the time given: the work goes on, and asking again is free."""


class GateFailed(PratiqueError):
    """The release does not pass its gate or the profile asked for, or that could not be decided: nothing is to be used.

    `checks` are all that were held, `failed` those that did not pass.
    """

    def __init__(
        self, release: str, verdict: str, checks: Sequence[Mapping[str, Any]], profile: str | None = None
    ) -> None:
        self.release = release
        self.verdict = verdict
        self.checks = tuple(checks)
        self.failed = tuple(check for check in self.checks if check.get("status") != "pass")
        reason = f" on {', '.join(_told(check) for check in self.failed)}" if self.failed else ""
        said = f"The gate of {release} says" if profile is None else f"{release} does not keep to the {profile}:"
        super().__init__("gate-failed", f"{said} {verdict}{reason}.")


class NotCertified(PratiqueError):
    """The certificate of a release is missing, expired, not signed by the keys given, or not true of its files."""


class DigestMismatch(PratiqueError):
    """The bytes received are not those that the service announced (`Repr-Digest`, RFC 9530); nothing was kept."""


def _told(check: Mapping[str, Any]) -> str:
    """Return a check as `k >= 3 (2)`."""
    value = check.get("value")
    measured = "not measured" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)
    bound = check.get("bound")
    limit = f"{bound:g}" if isinstance(bound, float) else str(bound)
    return f"{check.get('metric')} {check.get('op')} {limit} ({measured})"


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _faults(value: object) -> list[Fault]:
    listed = value if isinstance(value, list) else []
    return [Fault(_text(each.get("pointer")), _text(each.get("detail"))) for each in listed if isinstance(each, dict)]
