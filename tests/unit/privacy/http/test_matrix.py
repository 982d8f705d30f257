"""The access matrix: every operation of the OpenAPI document, for every caller, on its own and on others' things.

What may be done is the table of `test_access`, written by hand from the specification. The operations and the parts of
their paths are the document's: one that has no row, no body or no object here fails.
"""

import json
from collections import Counter
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Final

import httpx
import pytest
import pytest_asyncio

from pratique_privacy.http import watching
from pratique_privacy.http.rates import FAILURE, Buckets, Rate, Rates
from pratique_privacy.ics.terms import IcsTerms
from pratique_privacy.keys import Role
from pratique_privacy.notices.archive import NoticeArchive
from pratique_privacy.notices.events import capture_event
from pratique_privacy.outbound.addresses import Allowed
from pratique_shared.contracts.facts import CaptureFailed, Failure
from pratique_shared.runtime.clock import fresh_name, now, stamp, text_of
from tests.support.issuer import Issuer
from tests.unit.privacy.http.test_access import MAY, OF_THE_HOUSE, OPEN
from tests.unit.privacy.http.world import PCAP, RELEASE, World, build_world

ROWS: Final = MAY | OF_THE_HOUSE
TENANT, OTHER = "acme", "harbour"
BOUND, RIVAL = "hospital", "rival"
CLASSES: Final = {"attributes": {"quasi_identifiers": ["ip"], "sensitive": ["role"]}}
JSON: Final = {"Content-Type": "application/json"}
REFUSED: Final = frozenset({401, 403, 404})
ROLES_AND_NAMES: Final[dict[str, tuple[Role, str | None]]] = {
    "operator": ("operator", None),
    "recipient": ("recipient", BOUND),
    "recipient of another name": ("recipient", RIVAL),
    "auditor": ("auditor", None),
    "admin": ("admin", None),
}
STRANGERS: Final = (
    "nobody",
    "an expired key",
    "a revoked key",
    "an unknown key",
    "an expired token",
    "a token of another signer",
    "a token of another audience",
    "a token without a role",
)
CALLERS: Final = (*ROLES_AND_NAMES, *(f"{name} by token" for name in ROLES_AND_NAMES), *STRANGERS)
# What changes its object for good gets an object of its own for each caller that may.
ENDING: Final = frozenset({"deleteCapture", "deleteDataset", "withdrawRelease", "deleteWebhook", "revokeApiKey"})
MADE_BY: Final = {  # in this order: later ones are made of earlier ones
    "capture_id": ("/captures", "addCapture"),
    "dataset_id": ("/datasets", "addDataset"),
    "release_id": ("/releases", "a release of rows"),
    "attack_id": ("/releases/{release_id}/attacks", "createAttack"),
    "sweep_id": ("/sweeps", "createSweep"),
    "utility_id": ("/utility", "createUtility"),
    "recommendation_id": ("/recommendations", "createRecommendation"),
    "profiles_id": ("/profiles/generalise", "generaliseProfiles"),
    "webhook_id": ("/webhooks", "createWebhook"),
    "key_id": ("/api-keys", "createApiKey"),
}
# Answers of a world in which no worker works.
UNFINISHED: Final = {"getSweepResults": 409}
# A session acts for an API key, which the holder of a token has not got.
BY_KEY: Final = frozenset({"createTicket"})


@dataclass(frozen=True)
class Operation:
    """An operation as the document has it."""

    name: str
    method: str
    path: str

    @property
    def row(self) -> str:
        """Its name in the table."""
        parts = ["{id}" if part.startswith("{") else part for part in self.path.split("/")]
        return f"{self.method.upper()} {'/'.join(parts)}"

    @property
    def has_object(self) -> bool:
        """Whether its path names a thing that is there already: a policy is made under its name."""
        return "{" in self.path and self.name != "putPolicy"


@dataclass
class Matrix:
    """The world of the matrix: two tenants with a thing of each kind, and who calls."""

    world: World
    issuer: Issuer
    operations: list[Operation]
    stranger: httpx.AsyncClient
    admins: dict[str, httpx.AsyncClient]
    things: dict[str, dict[str, str]]
    asserted: Counter[str]

    async def bearer(self, caller: str) -> str | None:
        """What a kind of caller sends."""
        keys, issuer = self.world.keys, self.issuer
        name, _, by_token = caller.partition(" by ")
        if name in ROLES_AND_NAMES:
            role, recipient = ROLES_AND_NAMES[name]
            if by_token:
                return issuer.token(role, recipient=recipient, subject=name)
            return (await keys.new_api_key(TENANT, role, recipient=recipient))[1]
        match caller:
            case "an expired key":
                past = text_of(now() - timedelta(seconds=1))
                return (await keys.new_api_key(TENANT, "admin", expires_at=past))[1]
            case "a revoked key":
                key, text = await keys.new_api_key(TENANT, "admin")
                await keys.revoke(key.id)
                return text
            case "an unknown key":
                return f"key_{'0' * 26}.{'x' * 43}"
            case "an expired token":
                return issuer.token("admin", exp=1)
            case "a token of another signer":
                return Issuer().token("admin")
            case "a token of another audience":
                return issuer.token("admin", aud="account")
            case "a token without a role":
                return issuer.token()
            case _:
                return None

    async def ask(self, operation: Operation, things: dict[str, str], headers: dict[str, str]) -> httpx.Response:
        """Use an operation on these things."""
        path = operation.path.format_map(things)
        body, kind, query = body_of(operation.name, things)
        return await self.stranger.request(
            operation.method, path, content=body, headers={**headers, **kind}, params=query
        )


def body_of(name: str, things: dict[str, str]) -> tuple[bytes | None, dict[str, str], dict[str, str]]:
    """A body that stands, its media type, and a query."""
    capture = things["capture_id"]
    bodies: dict[str, Any] = {
        "a release of rows": RELEASE,
        "createRelease": {"source": {"capture": capture}, "policy": "C4"},
        "classify": {"source": {"capture": capture}},
        "preview": {"source": {"capture": capture}, "policy": "C4"},
        "createSweep": {"sources": [capture], "configurations": ["C4"]},
        "createUtility": {"sources": [capture], "repeats": 1},
        "createRecommendation": {"source": {"capture": capture}, "gate": {"k": {"min": 2}}, **CLASSES},
        "createAttack": {"partial_qi": {"forget": 0.5}, "linkage": None, "repetitions": 1, "seed": 1},
        "generaliseProfiles": {"capture": capture, "gamma": 0.1},
        "putPolicy": {"steps": [{"column": "ip", "op": "ip_prefix"}]},
        "putGateFloor": {"gate": {}},
        "createApiKey": {"role": "auditor"},
        "createWebhook": {"url": "https://hooks.example.com/x"},
    }
    if name == "addCapture":
        return PCAP, {}, {"open_to": BOUND}
    if name == "addDataset":
        return b"a\n1\n", {"Content-Type": "text/csv"}, {}
    return (json.dumps(bodies[name]).encode(), JSON, {}) if name in bodies else (None, {}, {})


async def make(world: World, tenant: str, admin: httpx.AsyncClient, part: str, things: dict[str, str]) -> str:
    """Make a thing that this part of a path names; return its name."""
    path, operation = MADE_BY[part]
    body, kind, query = body_of(operation, {**things, "capture_id": things.get("capture_id", "")})
    if part == "capture_id":  # the same bytes of the same pilot would be the same capture
        query = {**query, "pilot": fresh_name()}
    answer = await admin.post(path.format_map(things), content=body, headers=kind, params=query)
    assert answer.status_code in {200, 201, 202}, (part, answer.text)
    made: str = answer.json()["id"]
    match part:
        case "capture_id":
            await world.ready_capture(made)
        case "release_id":
            await world.concluded(made)
        case "webhook_id":
            capture = await world.archive.capture(tenant, things["capture_id"])
            failed = CaptureFailed(error=Failure(code="x", detail=""), at=stamp())
            things["delivery_id"] = await NoticeArchive(world.archive).owe(
                made, capture_event(capture.requested, failed)
            )
    return made


async def thing_of_each_kind(world: World, tenant: str, admin: httpx.AsyncClient) -> dict[str, str]:
    """The parts of paths, each naming a thing of this tenant."""
    things = {"name": f"of-{tenant}"}
    policy = body_of("putPolicy", {"capture_id": ""})[0]
    assert (await admin.put(f"/policies/{things['name']}", content=policy, headers=JSON)).is_success
    for part in MADE_BY:
        things[part] = await make(world, tenant, admin, part, things)
    things["kid"] = (await admin.get("/signing-keys")).json()["data"][0]["kid"]
    return things


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def matrix(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Matrix]:
    issuer = Issuer()
    short = pytest.MonkeyPatch()
    for name in ("FIRST_LOOK", "LONGEST"):  # what is watched here never ends
        short.setattr(watching, name, 0.01)
    rates = Rates(failures=Buckets("failures", Rate(0, FAILURE.burst)))
    world = build_world(tmp_path_factory.mktemp("matrix"), issuer=issuer, rates=rates)
    nowhere = "http://127.0.0.1:9"
    ics = IcsTerms(nowhere, nowhere, TENANT, BOUND, token=None, allowed=Allowed())
    world.app.state.services = replace(world.app.state.services, ics=ics, house=TENANT)
    for tenant in (TENANT, OTHER):
        await world.keys.add_tenant(tenant)
    admins = {tenant: await world.client("admin", tenant) for tenant in (TENANT, OTHER)}
    things = {tenant: await thing_of_each_kind(world, tenant, admin) for tenant, admin in admins.items()}
    stranger = world.anonymous()
    document = (await stranger.get("/openapi.json")).json()
    operations = [
        Operation(operation["operationId"], method, path)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]
    yield Matrix(world, issuer, operations, stranger, admins, things, Counter())
    for client in world.clients:
        await client.aclose()
    short.undo()


def may(operation: Operation, caller: str) -> bool:
    """Whether the table lets this caller's role do this."""
    role = ROLES_AND_NAMES[caller.partition(" by ")[0]][0]
    return role == "admin" or role in ROWS[operation.row]


def sees(operation: Operation, caller: str, tenant: str) -> bool:
    """Whether what an operation is used on is there for this caller: of its tenant, and of its name."""
    recipient = ROLES_AND_NAMES[caller.partition(" by ")[0]][1]
    names = "{release_id}" in operation.path or operation.name == "createRelease"
    return tenant == TENANT and not (names and recipient == RIVAL)


def names_a_thing(operation: Operation) -> bool:
    """Whether an operation names a thing, in its path or in its body."""
    body = body_of(operation.name, {"capture_id": "the capture"})[0] or b""
    return operation.has_object or b"the capture" in body


def test_every_operation_of_the_document_has_a_row_and_every_row_an_operation(matrix: Matrix) -> None:
    assert {operation.row for operation in matrix.operations} == set(ROWS) | OPEN
    assert len({operation.name for operation in matrix.operations}) == len(matrix.operations)


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("caller", CALLERS)
async def test_a_caller_is_answered_as_the_table_says(matrix: Matrix, caller: str) -> None:
    bearer = await matrix.bearer(caller)
    headers = {} if bearer is None else {"Authorization": f"Bearer {bearer}"}
    wrong = []
    for operation in matrix.operations:
        if operation.row in OPEN:
            continue
        for tenant in (TENANT, OTHER) if names_a_thing(operation) else (TENANT,):
            things = matrix.things[tenant]
            allowed = caller not in STRANGERS and may(operation, caller)
            if allowed and tenant == TENANT and operation.name in ENDING:
                part = operation.path.rpartition("{")[2].rstrip("}")
                things = dict(things)
                things[part] = await make(matrix.world, tenant, matrix.admins[tenant], part, things)
            status = (await matrix.ask(operation, things, headers)).status_code
            matrix.asserted[caller] += 1
            if caller in STRANGERS:
                right = status == 401
            elif not allowed or (operation.name in BY_KEY and caller.endswith(" by token")):
                right = status == 403
            elif not sees(operation, caller, tenant):
                right = status == 404
            else:
                right = status not in REFUSED and (status < 300 or status == UNFINISHED.get(operation.name))
            if not right:
                wrong.append((operation.name, tenant, status))
    assert wrong == []


@pytest.mark.asyncio(loop_scope="module")
async def test_what_is_open_needs_no_key(matrix: Matrix) -> None:
    for operation in matrix.operations:
        if operation.row in OPEN:
            answer = await matrix.ask(operation, {**matrix.things[TENANT], "job_id": "none"}, {})
            assert answer.status_code not in REFUSED, operation


def test_the_matrix_has_an_answer_for_every_operation_caller_and_owner(
    matrix: Matrix, record_property: Callable[[str, object], None]
) -> None:
    closed = [operation for operation in matrix.operations if operation.row not in OPEN]
    each = sum(2 if names_a_thing(operation) else 1 for operation in closed)
    size = f"{len(closed)} operations, {len(CALLERS)} callers, {each * len(CALLERS)} answers"
    record_property("access_matrix", size)
    print(f"access matrix: {size}")
    assert each > len(closed)
    assert set(matrix.asserted.values()) <= {each}, "a caller was not asked for everything"
