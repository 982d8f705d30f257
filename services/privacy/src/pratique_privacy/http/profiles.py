"""Profiles: how far a profile can be generalised, and what that buys; computed on what is sent, nothing is kept."""

from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Depends, Request, Response
from pydantic import Field, StrictFloat, StrictInt

from pratique_privacy.http.access import Called, Reach
from pratique_privacy.http.answers import UNCHANGED, UNKEPT, Prefer, answers, takes
from pratique_privacy.http.body import read_json
from pratique_privacy.http.examples import PLACES
from pratique_privacy.http.following import add_following
from pratique_privacy.http.idempotency import IdempotencyKey, slot_of
from pratique_privacy.http.origins import find_at
from pratique_privacy.http.services import Services
from pratique_privacy.http.studies import Make, StudyResource, shown, study_for, take_in, taken
from pratique_privacy.keys import Caller
from pratique_privacy.studies.flow import StudyFacts
from pratique_shared.contracts.model import Contract
from pratique_shared.contracts.releases import Source
from pratique_shared.contracts.studies import CaptureProfilesRequest, ProfilesWork

router = APIRouter(tags=["profiles"])

LARGEST = 2**53  # above it a float no longer holds every count
_Real = Annotated[StrictFloat, Field(ge=-LARGEST, le=LARGEST)]
Number = _Real | Annotated[StrictInt, Field(ge=-LARGEST, le=LARGEST)]  # an integer stays one: it is a count
Comparator = Literal["forgery", "forgery2", "suppression"]
Group = Annotated[tuple[StrictInt, ...], Field(min_length=1)]

EXAMPLES: Final[dict[str, Any]] = {
    "shares": {
        "profiles": [[0.1, 0.2, 0.3, 0.4]],
        "taxonomy": [[[0, 1], [2, 3]], [[0, 1, 2, 3]]],
        "gamma": [0.1, 0.2],
        "compare": ["forgery", "suppression"],
    },
    "counts": {
        "profiles": [[12, 0, 3, 40]],
        "taxonomy": [[[0, 1], [2, 3]]],
        "gamma": 0.25,
        "costs": [[1], [1], [1], [2]],
    },
    "capture": {"capture": PLACES["capture_id"], "gamma": [0.1, 0.3]},
}


class ProfilesRequest(Contract):
    """Profiles over the same leaves, the levels of their taxonomy from fine to coarse, and what it may cost."""

    profiles: tuple[Annotated[tuple[Number, ...], Field(min_length=1)], ...] = Field(
        min_length=1, description="Integers are counts; other profiles sum to 1 within 1e-9."
    )
    taxonomy: tuple[tuple[Group, ...], ...] = Field(
        min_length=1, description="Each level is a list of groups of leaf numbers, and joins groups of the one before."
    )
    gamma: Number | Annotated[tuple[Number, ...], Field(min_length=1)] = Field(
        description="What a strategy costs: the share of all mass that it moves, or the sum of costs times shares."
    )
    costs: tuple[tuple[Number, ...], ...] | None = Field(default=None, description="Leaves by levels; 1 if absent.")
    target: tuple[Number, ...] | None = Field(default=None, description="A profile to come near to; uniform if absent.")
    compare: tuple[Comparator, ...] = ()
    seed: int = Field(default=1, ge=0, lt=2**64, description="Decides ties where counts are rounded.")


class ComparisonResult(Contract):
    """What a comparator reaches at the rate gamma; from `critical` on it shows the uniform profile."""

    entropy: float
    critical: float
    apparent: tuple[float, ...]


class PublishedCounts(Contract):
    """Counts of leaves and of groups, as an honest publication of this profile would hold them."""

    leaves: tuple[int, ...]
    groups: tuple[tuple[int, ...], ...]
    entropy: float


class ProfileResult(Contract):
    """One profile at one gamma. Entropies are in nats; `gap` bounds how far from the optimum the strategy is."""

    profile: int
    gamma: float
    entropy: float
    entropy_before: float
    gamma_crit: float
    gamma_crit_bound: float | None
    critical_entropy: float
    gap: float
    strategy: tuple[tuple[float, ...], ...]
    apparent: tuple[float, ...]
    recoverable: int = Field(description="How many leaves an observer who knows the policy can still read off.")
    recoverable_leaves: tuple[int, ...]
    divergence: float | None = Field(description="From the target; null without one.")
    divergence_before: float | None
    comparisons: dict[Comparator, ComparisonResult]
    published: PublishedCounts | None = Field(description="Null for a profile of shares.")


class ProfileResults(Contract):
    """Results in the order profile, gamma."""

    results: tuple[ProfileResult, ...]


@router.post(
    "/profiles/generalise",
    operation_id="generaliseProfiles",
    response_model=ProfileResults,
    summary="Generalise profiles optimally",
    responses={
        202: {"model": StudyResource, "description": "The profiles of a capture: a study that goes on."},
        201: {"model": StudyResource, "description": "Finished within the time of `Prefer: wait`."},
        **answers(400, 404, 409, 410, 413, 507),
    },
    openapi_extra=takes(ProfilesRequest, CaptureProfilesRequest, **EXAMPLES),
)
async def generalise_profiles(
    request: Request,
    caller: Called,
    services: Reach,
    idempotency_key: IdempotencyKey = None,
    prefer: Prefer = None,
) -> Response:
    """Return the strategies that hide each profile best at each cost, with the critical rate.

    Profiles in the body are answered at once and not kept; those of the hosts of a capture are a study.
    """
    body = await read_json(request, services.limits.json_bytes)
    if isinstance(body.value, dict) and "capture" in body.value:
        slot = slot_of(services.archive, caller, "profiles", idempotency_key, body.raw)
        facts, replayed = await take_in(
            services, caller, slot, "prf", None, _of_capture(services, caller, body.as_a(CaptureProfilesRequest))
        )
        return await taken(services, facts, "/profiles", prefer, replayed=replayed)
    asked = body.as_a(ProfilesRequest)
    gammas = asked.gamma if isinstance(asked.gamma, tuple) else (asked.gamma,)
    question = {**asked.model_dump(mode="json"), "gamma": gammas}
    return Response(await services.tables.generalise(question), 200, UNKEPT, media_type="application/json")


def _of_capture(services: Services, caller: Caller, asked: CaptureProfilesRequest) -> Make:
    async def make(_: str) -> ProfilesWork:
        await find_at("/capture", services.archive, caller, Source(capture=asked.capture))
        gammas = asked.gamma if isinstance(asked.gamma, tuple) else (asked.gamma,)
        return ProfilesWork(capture=asked.capture, gammas=gammas, compare=asked.compare, seed=asked.seed)

    return make


async def _found(profiles_id: str, caller: Called, services: Reach) -> StudyFacts:
    return await study_for(services, caller, "prf", profiles_id)


@router.get(
    "/profiles/{profiles_id}",
    operation_id="getProfiles",
    response_model=StudyResource,
    responses={**UNCHANGED, **answers(404)},
)
async def get_profiles(request: Request, facts: Annotated[StudyFacts, Depends(_found)], services: Reach) -> Response:
    """Say where the profiles of a capture stand; once completed: `leaves`, `taxonomy`, `hosts` and `results`."""
    return await shown(services, request, facts)


add_following(router, "/profiles/{profiles_id}", "Profiles", _found)
