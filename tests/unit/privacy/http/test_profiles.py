"""Profiles are generalised on request, nothing is kept, and what cannot be answered is told with what would fit."""

from typing import Any

import httpx
import pytest

from pratique_privacy.http.profiles import EXAMPLES, ProfileResults, ProfilesRequest
from tests.unit.privacy.http.world import World, check_problem

Body = dict[str, Any]
PLAIN: Body = {"profiles": [[4, 2, 1, 1]], "taxonomy": [[[0, 1], [2, 3]]], "gamma": 0.125}


async def test_results_stand_in_the_order_profile_gamma(operator: httpx.AsyncClient) -> None:
    body = {**PLAIN, "profiles": [[4, 2, 1, 1], [0.5, 0.5, 0.0, 0.0]], "gamma": [0.125, 0]}
    answer = await operator.post("/profiles/generalise", json=body)
    assert answer.status_code == 200
    found = ProfileResults.model_validate(answer.json()).results
    assert [(each.profile, each.gamma) for each in found] == [(0, 0.125), (0, 0), (1, 0.125), (1, 0)]
    first = found[0]
    # 4 and 2 of 8: what is above the lower one, a quarter of all, flattens the family; an eighth goes half of the way.
    assert [first.gamma_crit, first.gamma_crit_bound] == pytest.approx([0.25, 0.25])
    assert first.apparent == pytest.approx([0.4375, 0.3125, 0.125, 0.125], abs=1e-6)
    assert first.published is not None
    assert (first.published.leaves, first.published.groups) == ((3, 2, 1, 1), ((1, 0),))
    assert found[2].published is None
    assert answer.headers["cache-control"] == "private, no-store"


@pytest.mark.parametrize("name", ["shares", "counts"])
async def test_the_examples_are_answered(operator: httpx.AsyncClient, name: str) -> None:
    ProfilesRequest.model_validate(EXAMPLES[name])
    answer = await operator.post("/profiles/generalise", json=EXAMPLES[name])
    assert answer.status_code == 200
    for result in ProfileResults.model_validate(answer.json()).results:
        assert result.entropy >= result.entropy_before - 1e-9
        assert set(result.comparisons) == set(EXAMPLES[name].get("compare", []))


@pytest.mark.parametrize(
    ("change", "code", "pointer"),
    [
        ({"gamma": 1.5}, "gamma-infeasible", "/gamma"),
        ({"gamma": [0, 1.5]}, "gamma-infeasible", "/gamma/1"),
        ({"gamma": "0.1"}, "body-invalid", "/gamma"),
        ({"profiles": [[4, 2, True, 1]]}, "body-invalid", "/profiles/0/2"),
        ({"profiles": [[1e300, 1]]}, "body-invalid", "/profiles/0/0"),
        ({"profiles": []}, "body-invalid", "/profiles"),
        ({"profiles": [[0.5, 0.4, 0, 0]]}, "profile-sum", "/profiles/0"),
        ({"taxonomy": [[[0, 1], [2]]]}, "taxonomy-no-partition", "/taxonomy/0"),
        ({"taxonomy": [[[0, 1, 2, 3]], [[0, 1], [2, 3]]]}, "taxonomy-no-tree", "/taxonomy/1"),
        ({"compare": ["guess"]}, "body-invalid", "/compare/0"),
        ({"gamma": [0.0] * 2001}, "profiles-too-large", "/profiles"),
    ],
)
async def test_a_body_that_cannot_be_answered_is_refused(
    operator: httpx.AsyncClient, change: Body, code: str, pointer: str
) -> None:
    problem = check_problem(await operator.post("/profiles/generalise", json={**PLAIN, **change}), 422, code)
    assert pointer in {error["pointer"] for error in problem["errors"]}


async def test_profiles_are_for_operators(world: World) -> None:
    auditor = await world.client("auditor")
    check_problem(await auditor.post("/profiles/generalise", json=PLAIN), 403, "role-forbidden")
