"""Jobs: what a consumer asked of the coordinator, as a subscription of ours."""

from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from pratique_privacy.ics.bodies import (
    POSTURE,
    PROFILES,
    BufferTimeout,
    DeliveryInfo,
    PostedJob,
    PostureJob,
    ProfilesJob,
)
from pratique_privacy.ics.terms import IcsTerms
from pratique_privacy.notices.subscription import BufferTerms, Subscription, subscription_id
from pratique_privacy.outbound.addresses import Refused, target_of
from pratique_shared.contracts.problems import FieldError, Unprocessable, pointer

Model = TypeVar("Model", bound=BaseModel)


def subscription_of(job: PostedJob, terms: IcsTerms, at: str) -> Subscription:
    """Translate a job; raises `Unprocessable` where it is of no type of ours, or asks for what is not offered."""
    known: dict[str, Any] = {
        "id": subscription_id(terms.tenant, job.info_job_identity),
        "tenant": terms.tenant,
        "remote": job.info_job_identity,
        "owner": job.owner or "",
        "since": at,
        "at": at,
    }
    if job.info_type_identity == POSTURE:
        posture = _data(job, PostureJob)
        return Subscription(
            **known,
            kind="posture",
            target=_target(job, posture.delivery_info, terms),
            buffer=_buffer(posture.buffer_timeout),
            history=posture.include_history,
            pilots=posture.pilots,
            verdicts=posture.verdicts,
        )
    if job.info_type_identity == PROFILES:
        profiles = _data(job, ProfilesJob)
        return Subscription(
            **known,
            kind="profiles",
            target=_target(job, profiles.delivery_info, terms),
            buffer=_buffer(profiles.buffer_timeout),
            columns=profiles.columns,
            roles=profiles.roles,
            form=profiles.format,
            recipient=terms.recipient,
        )
    advice = [FieldError("/info_type_identity", f"must be {POSTURE} or {PROFILES}")]
    raise Unprocessable("info-type-unknown", "This producer has no such type.", advice)


def _data(job: PostedJob, kind: type[Model]) -> Model:
    try:
        return kind.model_validate(job.info_job_data or {})
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False, include_context=False)
        # Where an unknown name is wrong, its own text would repeat what was sent.
        fields = kind.model_json_schema()["properties"]
        places = {str(one["loc"][0]) for one in found if one["loc"] and str(one["loc"][0]) in fields}
    advice = "is not as the schema of the type says"
    wrong = [FieldError(pointer("info_job_data", place), advice) for place in sorted(places)]
    wrong = wrong or [FieldError("/info_job_data", advice)]
    raise Unprocessable("job-data-invalid", "The job data is not as the schema of its type says.", wrong)


def _target(job: PostedJob, delivery: DeliveryInfo | None, terms: IcsTerms) -> str:
    """Return where a job is delivered to: the address of its delivery, else its target."""
    url = delivery.target_uri if delivery is not None else job.target_uri
    if url is None:
        advice = [FieldError("/target_uri", "is required without deliveryInfo")]
        raise Unprocessable("target-missing", "Say where to deliver.", advice)
    where = "/target_uri" if delivery is None else pointer("info_job_data", "deliveryInfo", "targetUri")
    try:
        target_of(url, terms.allowed)
    except Refused as refused:
        advice = [FieldError(where, refused.detail)]
        raise Unprocessable(refused.code, "Nothing is sent to such an address.", advice) from None
    return url


def _buffer(asked: BufferTimeout | None) -> BufferTerms | None:
    return None if asked is None else BufferTerms(most=asked.max_size, milliseconds=asked.max_time_milliseconds)
