"""Reports: the posture of a release as a page for people."""

from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

from pratique_privacy.evidence.report.page import CONTENT_SECURITY_POLICY
from pratique_privacy.evidence.report.report import report_of
from pratique_privacy.flow import ReleaseFacts
from pratique_privacy.http.access import Called, Reach, present_release
from pratique_privacy.http.answers import UNCHANGED, answers, tagged
from pratique_privacy.http.bundles import reader_of
from pratique_privacy.http.results import check_not_broken
from pratique_privacy.http.services import Services
from pratique_shared.contracts.facts import Published, Withheld
from pratique_shared.contracts.problems import Conflict

router = APIRouter(prefix="/releases/{release_id}", tags=["evidence"])

GUARDED = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}
ASPECTS = ("class", "subset", "attribute")  # figures; the smallest classes show values and stay out


@router.get(
    "/report",
    operation_id="getReport",
    response_class=HTMLResponse,
    summary="The posture of a release as a page",
    responses={**UNCHANGED, **answers(404, 409, 410)},
)
async def get_report(request: Request, release_id: str, caller: Called, services: Reach) -> Response:
    """Give a page with every figure and all risk results; it loads nothing, and a recipient's shows no `before`."""
    facts = await present_release(services, caller, release_id)
    check_not_broken(facts)
    if not isinstance(facts.outcome, Published | Withheld):
        raise Conflict("not-finished", "The release is not finished: its gate has not been held yet.")
    reader = reader_of(caller.role)
    # Whoever holds the released records can count all of this; of a release that stays behind nobody else may.
    results = await _results(services, facts) if reader.before or isinstance(facts.outcome, Published) else {}
    text = report_of(facts, results, before=reader.before)
    answered = tagged(request, text.encode(), "text/html")
    answered.headers.update(GUARDED)
    return answered


async def _results(services: Services, facts: ReleaseFacts) -> dict[str, Any]:
    assert facts.measured is not None  # it has a verdict
    table = await services.archive.releases_room.blob_bytes(facts.measured.table)
    return await services.tables.risk(facts.measured, table, ASPECTS, facts.requested.ppi.k_target)
