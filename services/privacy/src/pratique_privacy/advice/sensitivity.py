"""Advice on sensitive attributes: one that is the same everywhere measures nothing."""

from pratique_privacy.advice.patches import apply_patch, reclassed
from pratique_privacy.advice.shapes import distinct_count
from pratique_privacy.advice.situation import Groups, Proposal, Situation

_FEW, _MANY = 2, 200


def constant_attributes(situation: Situation) -> Groups:
    """Sensitive attributes with one value: l is 1 and t is 0 whatever the policy does."""
    source, attributes = situation.source, situation.attributes
    constant = [name for name in attributes.sensitive if distinct_count(source[name]) <= 1]
    if not constant:
        return
    told = f"{', '.join(constant)} has one value in every record: its l and t say nothing about the release."
    if len(constant) < len(attributes.sensitive):
        reason = f"{told} Leave the measuring to the other sensitive attributes."
        yield [Proposal(reason, reclassed(attributes, constant, "insensitive"))]
        return
    other = _another(situation)
    if other is not None:
        out = reclassed(attributes, constant, "insensitive")
        without, _ = apply_patch(attributes, situation.policy, out)
        reason = f"{told} Measure {other} instead, if that is what nobody should learn of a subject."
        yield [Proposal(reason, (*out, *reclassed(without, [other], "sensitive")))]


def _another(situation: Situation) -> str | None:
    """Return a column with a few shared values that is neither identifier nor quasi-identifier, likely ones first."""
    most = min(_MANY, situation.source.height // 2)
    fitting = [
        name
        for name in (*situation.attributes.insensitive, *situation.attributes.drop)
        if situation.advice[name].suggested != "identifier"
        and _FEW <= distinct_count(situation.source[name]) <= most
        and not situation.steps_on(name)
    ]
    likely = [name for name in fitting if situation.advice[name].suggested == "sensitive"]
    return next(iter((*likely, *fitting)), None)
