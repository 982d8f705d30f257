"""The audit log as the auditor reads it, and the check of its chains."""

import re
from typing import Annotated, Final

from fastapi import APIRouter, Response

from pratique_privacy.evidence.chain import AuditEntry, Break
from pratique_privacy.http.access import Called, Reach
from pratique_privacy.http.answers import UNKEPT, Limit, answer, answers, bad_cursor, cursor, id_cursor
from pratique_privacy.http.resources import PageOf
from pratique_shared.contracts.ids import ID
from pratique_shared.contracts.model import Contract

router = APIRouter(prefix="/audit", tags=["audit"])

_PLACE: Final = re.compile(r"[0-9]{1,6}")


class ChainCheck(Contract):
    """Whether the chains of the log hold: `breaks` name every place where one does not."""

    intact: bool
    entries: int
    chains: int
    breaks: tuple[Break, ...]


@router.get("", operation_id="listAudit", response_model=PageOf[AuditEntry], responses=answers())
async def list_audit(
    caller: Called,
    services: Reach,
    limit: Limit = 100,
    after: Annotated[str | None, cursor(f"aud_{ID}\\.[0-9]{{1,6}}")] = None,
) -> Response:
    """List the entries of the tenant, newest first: changes, and readings of records and identifiers."""
    page = await services.audit.page(caller.tenant, _cursor(after), limit)
    return answer(PageOf[AuditEntry](data=page.entries, next=page.next), 200, UNKEPT)


@router.get("/check", operation_id="checkAudit", response_model=ChainCheck, responses=answers())
async def check_audit(caller: Called, services: Reach) -> Response:
    """Read the whole log of the tenant and hold every entry against its chain."""
    entries, found = await services.audit.check(caller.tenant)
    chains = len({entry.chain for entry in entries})
    checked = ChainCheck(intact=not found, entries=len(entries), chains=chains, breaks=tuple(found))
    return answer(checked, 200, UNKEPT)


def _cursor(after: str | None) -> str | None:
    if after is None:
        return None
    block, _, place = after.partition(".")
    if id_cursor("aud", block) is None or not _PLACE.fullmatch(place):
        raise bad_cursor()
    return after
