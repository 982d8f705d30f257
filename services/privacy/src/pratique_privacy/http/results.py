"""Results: posture, gate, records, and what explains them."""

import json
from hashlib import sha256
from typing import Annotated, Any, Final, Literal, assert_never

from fastapi import APIRouter, Query, Request, Response

from pratique_privacy.certifying import certificate_of
from pratique_privacy.flow import ReleaseFacts, state
from pratique_privacy.http.access import Called, Reach, present_release
from pratique_privacy.http.answers import (
    UNCHANGED,
    UNKEPT,
    After,
    Limit,
    answer,
    answers,
    files,
    is_known,
    offset_cursor,
    private,
    unchanging,
)
from pratique_privacy.http.digests import digest_header
from pratique_privacy.http.downloads import served, stored
from pratique_privacy.http.formats import MEDIA_TYPES, form_asked
from pratique_privacy.http.problems import RETRY_AFTER
from pratique_privacy.http.resources import (
    GateSoFar,
    PageOf,
    PostureSoFar,
    Suggestion,
    release_resource,
)
from pratique_privacy.http.services import Services
from pratique_privacy.notices.subscription import may_leave
from pratique_privacy.posture import posture_of, shown_to_all
from pratique_privacy.sources import Sources
from pratique_privacy.tables import Row, SourceBytes
from pratique_shared.contracts.facts import Cancelled, Measured, Published, ReleaseFailed, Withheld, epoch_of
from pratique_shared.contracts.gate import GateResult
from pratique_shared.contracts.media import Form, file_name
from pratique_shared.contracts.model import Contract
from pratique_shared.contracts.posture import AttackResult, Posture
from pratique_shared.contracts.problems import Conflict, FieldError, Forbidden, Unprocessable

router = APIRouter(prefix="/releases/{release_id}", tags=["results"])

Aspect = Literal["class", "subset", "attribute", "record"]
ASPECTS: Final[tuple[Aspect, ...]] = ("class", "subset", "attribute", "record")
MOST_PREVIEWED = 1000
_ASPECT = f" *({'|'.join(ASPECTS)}) *"


class ReleasePreview(Contract):
    """Rows before and after. They are raw, and no part of what is released."""

    note: Literal["not released"] = "not released"
    rows: tuple[dict[str, Any], ...]


@router.get(
    "/posture",
    operation_id="getPosture",
    response_model=Posture,
    responses={
        202: {"description": "Still running: what there is so far.", "model": Posture | PostureSoFar},
        **UNCHANGED,
        **answers(404, 409, 410),
    },
)
async def get_posture(request: Request, release_id: str, caller: Called, services: Reach) -> Response:
    """Give every figure before and after, the adversaries and the gate; while it runs, what there is (202)."""
    facts = await present_release(services, caller, release_id)
    check_not_broken(facts)
    posture = posture_of(facts)
    if posture is None:
        shown = release_resource(facts)
        so_far = PostureSoFar(release=shown.id, status=shown.status, progress=shown.progress)
        return answer(so_far, 202, RETRY_AFTER)
    # The raw table is none of a recipient's business.
    body = shown_to_all(posture) if caller.role == "recipient" else posture.model_dump(mode="json", by_alias=True)
    if facts.outcome is None:
        return Response(json.dumps(body), 202, RETRY_AFTER, media_type="application/json")
    return unchanging(request, json.dumps(body))


def check_not_broken(facts: ReleaseFacts) -> None:
    """Raise `Conflict` where there will be no result: failed or cancelled."""
    match facts.outcome:
        case ReleaseFailed(error=error):
            raise Conflict(
                "release-failed",
                f"The release failed with {error.code}: {error.detail} Mend that, then ask for a new release.",
            )
        case Cancelled():
            raise Conflict("release-cancelled", "The release was cancelled before it had a result: ask for a new one.")
        case Published() | Withheld() | None:
            return
        case _:
            assert_never(facts.outcome)


@router.get(
    "/gate",
    operation_id="getGate",
    response_model=GateResult,
    responses={202: {"description": "Not held yet.", "model": GateSoFar}, **UNCHANGED, **answers(404, 409, 410)},
)
async def get_gate(request: Request, release_id: str, caller: Called, services: Reach) -> Response:
    """Give the verdict and every check; a figure that is missing is never a pass."""
    facts = await present_release(services, caller, release_id)
    check_not_broken(facts)
    if not isinstance(facts.outcome, Published | Withheld):
        return answer(GateSoFar(), 202, RETRY_AFTER)
    return unchanging(request, facts.outcome.gate.model_dump_json())


def released(facts: ReleaseFacts) -> Published:
    """Return what may leave. Raises `Forbidden` (`gate-failed`) and `Conflict`: everything but a pass."""
    check_not_broken(facts)
    outcome = facts.outcome
    if outcome is None:
        raise Conflict("not-finished", "The release is not finished: its gate has not been held yet.")
    if may_leave(outcome):
        return outcome
    if facts.requested.member_of is not None:
        raise Forbidden("not-published", "A release of a sweep is measured only: ask for a release of its own.")
    raise Forbidden("gate-failed", "The release did not pass its gate: GET its posture and suggestions.")


async def leaving(services: Services, facts: ReleaseFacts) -> tuple[Published, bytes]:
    """Return what may leave, and the certificate that names it; raises as `released` and `certificate_of`."""
    outcome = released(facts)
    return outcome, await certificate_of(services.archive, services.keys, facts, outcome)


@router.get(
    "/records",
    operation_id="getReleaseRecords",
    response_model=PageOf[Row],
    responses={**files(*MEDIA_TYPES.values()), **answers(404, 406, 409, 410, 416)},
)
async def get_records(
    request: Request,
    release_id: str,
    caller: Called,
    services: Reach,
    form: Annotated[Form | None, Query(alias="format")] = None,
    limit: Limit = 100,
    after: After = None,
) -> Response:
    """Give the released records: Parquet, an Arrow stream, CSV, NDJSON, or a JSON page; only after a pass."""
    outcome, _ = await leaving(services, await present_release(services, caller, release_id))
    asked, offset = form_asked(request, form, "parquet"), offset_cursor(after)
    if asked == "json":
        return await _page(request, services, outcome, offset, limit)
    name = file_name(release_id, asked)
    file = stored(services.archive.releases_room, outcome.files[asked], MEDIA_TYPES[asked], name)
    return await served(request, file)


async def _page(request: Request, services: Services, outcome: Published, offset: int, limit: int) -> Response:
    blob = outcome.files["parquet"]
    tag = f'"{blob.sha256}-{offset}-{limit}"'
    if is_known(request, tag):
        return Response(None, 304, private(tag))
    table = SourceBytes("parquet", await services.archive.releases_room.blob_bytes(blob))
    rows = await services.tables.page(table, offset, limit + 1)
    following = str(offset + limit) if len(rows) > limit else None
    body = json.dumps({"data": rows[:limit], "next": following}).encode()
    # The tag follows from the file and the place, so that a page that is known costs no child.
    headers = {**private(tag), "Repr-Digest": digest_header(sha256(body).hexdigest())}
    return Response(body, 200, headers, media_type=MEDIA_TYPES["json"])


@router.get(
    "/preview", operation_id="getReleasePreview", response_model=ReleasePreview, responses=answers(404, 409, 410)
)
async def get_preview(
    release_id: str, caller: Called, services: Reach, n: Annotated[int, Query(ge=1, le=MOST_PREVIEWED)] = 20
) -> Response:
    """Show rows before and after with their class sizes; for the operator's eyes, whatever the gate says."""
    facts = await present_release(services, caller, release_id)
    measured, table = await _measured(services, facts)
    sources = await _raw(services, facts)
    rows = await services.tables.release_preview(measured, table, sources, n)
    return answer(ReleasePreview(rows=tuple(rows)), 200, UNKEPT)


@router.get(
    "/risk",
    operation_id="getRisk",
    response_model=dict[str, Any],
    responses={**UNCHANGED, **answers(404, 409, 410)},
)
async def get_risk(
    request: Request,
    release_id: str,
    caller: Called,
    services: Reach,
    by: Annotated[
        str | None,
        Query(
            description="class, subset, attribute, record, with commas; all if absent",
            json_schema_extra={"pattern": f"^{_ASPECT}(,{_ASPECT})*$", "maxLength": 60},
        ),
    ] = None,
) -> Response:
    """Tell where the risk sits: class sizes, subsets of fields that give records away, fields, small classes."""
    facts = await present_release(services, caller, release_id)
    aspects = _aspects(by, records=caller.role != "auditor")
    measured, table = await _measured(services, facts)
    found = await services.tables.risk(measured, table, aspects, facts.requested.ppi.k_target)
    if "class" in found:  # worst, typical and attacked record stand side by side
        found["class"]["attacked"] = _attacked(facts)
    return unchanging(request, json.dumps(found))


def _attacked(facts: ReleaseFacts) -> dict[str, float | None] | None:
    """Return the chance of each adversary at an average record, exact where it is known; None before they have run."""
    if not isinstance(facts.outcome, Published | Withheld) or facts.outcome.attacks is None:
        return None
    attacks = facts.outcome.attacks
    return {
        "exact_qi": attacks.exact_qi,
        "partial_qi": _chance(attacks.partial_qi),
        "linkage": _chance(attacks.linkage),
    }


def _chance(attack: AttackResult | None) -> float | None:
    if attack is None or attack.error is not None:
        return None
    return attack.estimate if attack.exact is None else attack.exact


def _aspects(by: str | None, *, records: bool) -> tuple[Aspect, ...]:
    """Return the aspects that were asked for; who may see no record is not shown the smallest classes."""
    asked = set(ASPECTS if by is None else (part.strip() for part in by.split(",")))
    if not asked <= set(ASPECTS):
        advice = [FieldError("/by", f"must be some of {', '.join(ASPECTS)}")]
        raise Unprocessable("query-invalid", "A parameter is wrong.", advice)
    if not records and by is not None and "record" in asked:
        raise Forbidden("role-forbidden", "An auditor sees no record: leave `record` out.")
    return tuple(aspect for aspect in ASPECTS if aspect in asked and (records or aspect != "record"))


@router.get(
    "/suggestions",
    operation_id="getSuggestions",
    response_model=list[Suggestion],
    responses={**UNCHANGED, **answers(404, 409, 410, 507)},
)
async def get_suggestions(request: Request, release_id: str, caller: Called, services: Reach) -> Response:
    """Give the changes of policy that would help, each with its reason and its predicted effect."""
    facts = await present_release(services, caller, release_id)
    measured, table = await _measured(services, facts)
    sources = await _raw(services, facts)
    key = await services.keys.tenant_keys.of(caller.tenant, epoch_of(facts.requested.key))
    found = await services.tables.suggestions(facts.requested, measured, table, sources, key.secret)
    return unchanging(request, json.dumps(found))


async def _measured(services: Services, facts: ReleaseFacts) -> tuple[Measured, bytes]:
    """Return the figures and the transformed table; raises `Conflict` before they are there."""
    if facts.measured is None:
        check_not_broken(facts)
        raise Conflict("not-finished", f"The release is not measured yet: it is {state(facts).status}.")
    return facts.measured, await services.archive.releases_room.blob_bytes(facts.measured.table)


async def _raw(services: Services, facts: ReleaseFacts) -> list[SourceBytes]:
    """Return the sources that the release was made of; raises `Gone` where one was deleted since."""
    assert facts.records is not None  # it was measured
    return await Sources(services.archive).read(facts.records.tables, facts.requested.source.unit)
