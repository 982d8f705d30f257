"""Patches: changes to attributes and policy as JSON Patch operations (RFC 6902)."""

import pytest

from pratique_privacy.advice.patches import (
    Change,
    Patch,
    appended,
    apply_patch,
    before_suppression,
    exchanged,
    reclassed,
    withdrawn,
)
from pratique_shared.contracts.attributes import Attributes
from pratique_shared.contracts.policy import Cell, ClassSupport, IpPrefix, Policy, Threshold

ATTRIBUTES = Attributes.model_validate(
    {
        "quasi_identifiers": ["ip"],
        "sensitive": ["kwh"],
        "insensitive": ["a/b", "c"],
        "sensitive_bins": {"kwh": {"quantile": 10}},
    }
)
PREFIX = IpPrefix(column="ip", op="ip_prefix", v4=24, v6=64)
RARE = Threshold(column="ip", op="threshold", tau=3)
SMALL = ClassSupport(op="class_support", tau=5)
HIDE = Cell(column="c", op="cell")


def steps_after(policy: Policy, *patch: Change) -> tuple[object, ...]:
    return apply_patch(ATTRIBUTES, policy, patch)[1].steps


def test_an_empty_patch_changes_nothing() -> None:
    policy = Policy(steps=(PREFIX, RARE, SMALL))
    assert apply_patch(ATTRIBUTES, policy, ()) == (ATTRIBUTES, policy)


def test_a_step_is_added_behind_the_others() -> None:
    change = appended(HIDE)
    assert change.document() == {"op": "add", "path": "/policy/steps/-", "value": {"column": "c", "op": "cell"}}
    assert steps_after(Policy(steps=(PREFIX,)), change) == (PREFIX, HIDE)
    assert steps_after(Policy(), change) == (HIDE,)


def test_a_generalisation_goes_before_the_suppression_that_counts_its_results() -> None:
    for steps, expected in [
        ((RARE, SMALL), (PREFIX, RARE, SMALL)),
        ((HIDE, SMALL), (HIDE, PREFIX, SMALL)),
        ((HIDE,), (HIDE, PREFIX)),
    ]:
        policy = Policy(steps=steps)
        assert steps_after(policy, before_suppression(policy, "ip", PREFIX)) == expected


def test_a_threshold_on_another_column_does_not_matter_to_a_generalisation() -> None:
    other = Threshold(column="c", op="threshold", tau=3)
    policy = Policy(steps=(other,))
    assert steps_after(policy, before_suppression(policy, "ip", PREFIX)) == (other, PREFIX)


def test_a_step_takes_the_place_of_another() -> None:
    assert steps_after(Policy(steps=(HIDE, RARE, SMALL)), exchanged(PREFIX, 1)) == (HIDE, PREFIX, SMALL)


def test_several_steps_leave_without_shifting_each_other() -> None:
    patch = withdrawn([0, 2])
    assert [change.document() for change in patch] == [
        {"op": "remove", "path": "/policy/steps/2"},
        {"op": "remove", "path": "/policy/steps/0"},
    ]
    assert steps_after(Policy(steps=(PREFIX, RARE, SMALL)), *patch) == (RARE,)


def test_a_member_of_a_step_can_be_added() -> None:
    change = Change("add", "/policy/steps/0/exempt", {"column": "role", "rarest": 2})
    (step,) = steps_after(Policy(steps=(SMALL,)), change)
    assert isinstance(step, ClassSupport)
    assert step.exempt is not None
    assert (step.exempt.column, step.exempt.rarest) == ("role", 2)


def test_a_column_moves_to_another_class_and_stays_in_one() -> None:
    attributes, _ = apply_patch(ATTRIBUTES, Policy(), reclassed(ATTRIBUTES, ["a/b"], "drop"))
    assert (attributes.insensitive, attributes.drop) == (("c",), ("a/b",))


def test_a_column_that_is_sensitive_no_more_loses_its_bins() -> None:
    attributes, _ = apply_patch(ATTRIBUTES, Policy(), reclassed(ATTRIBUTES, ["kwh"], "insensitive"))
    assert (attributes.sensitive, attributes.insensitive) == ((), ("a/b", "c", "kwh"))
    assert attributes.sensitive_bins == {}


def test_a_name_with_a_slash_is_escaped_in_a_pointer() -> None:
    attributes = Attributes.model_validate(
        {"quasi_identifiers": ["ip"], "sensitive": ["a/b~"], "sensitive_bins": {"a/b~": {"quantile": 2}}}
    )
    patch = reclassed(attributes, ["a/b~"], "drop")
    assert patch[-1].document() == {"op": "remove", "path": "/attributes/sensitive_bins/a~1b~0"}
    assert apply_patch(attributes, Policy(), patch)[0].sensitive_bins == {}


@pytest.mark.parametrize(
    "change",
    [
        Change("replace", "/policy/steps/1", None),
        Change("remove", "/policy/steps/1"),
        Change("add", "/policy/steps/2", None),
        Change("remove", "/policy/steps/-"),
        Change("remove", "/attributes/sensitive_bins/other"),
        Change("add", "/attributes/nothing/deeper", None),
    ],
)
def test_a_path_that_leads_nowhere_is_refused(change: Change) -> None:
    patch: Patch = (change,)
    with pytest.raises(LookupError):
        apply_patch(ATTRIBUTES, Policy(steps=(PREFIX,)), patch)
