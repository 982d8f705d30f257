"""Bodies: what the coordinator sends, what a consumer asks for, and the schemas of it (JSON Schema draft-07)."""

from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, StringConstraints
from pydantic.alias_generators import to_camel

from pratique_privacy.outbound.addresses import MOST_CHARACTERS
from pratique_shared.contracts.gate import Verdict

POSTURE: Final = "privacy_posture_1.0.0"
PROFILES: Final = "anonymised_profiles_1.0.0"
MOST_ITEMS, MOST_MILLISECONDS = 1000, 3_600_000

Uri = Annotated[str, StringConstraints(min_length=1, max_length=MOST_CHARACTERS)]
Word = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Words = Annotated[tuple[Word, ...], Field(min_length=1, max_length=100)]


class PostedJob(BaseModel):
    """A job as the coordinator posts and lists it. A newer coordinator may send more."""

    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)

    info_job_identity: Annotated[str, StringConstraints(min_length=1, max_length=500)]
    info_type_identity: str | None = None
    info_job_data: JsonValue = Field(default=None, repr=False)
    target_uri: Uri | None = Field(default=None, repr=False)
    owner: Annotated[str, StringConstraints(max_length=500)] | None = None
    last_updated: str | None = None


class JobData(BaseModel):
    """What a consumer may ask for, in the spelling of the O-RAN producers."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", hide_input_in_errors=True, alias_generator=to_camel, strict=False
    )


class DeliveryInfo(JobData):
    """Where to deliver; without it, to the target of the job."""

    target_uri: Uri = Field(repr=False)


class BufferTimeout(JobData):
    """Items gathered into an array: sent when there are `maxSize`, or when the first is that old."""

    max_size: int = Field(ge=1, le=MOST_ITEMS)
    max_time_milliseconds: int = Field(ge=0, le=MOST_MILLISECONDS)


class PostureJob(JobData):
    """A job of `privacy_posture`."""

    pilots: Words | None = None
    verdicts: Annotated[tuple[Verdict, ...], Field(min_length=1)] | None = None
    include_history: bool = False
    delivery_info: DeliveryInfo | None = None
    buffer_timeout: BufferTimeout | None = None


class ProfilesJob(JobData):
    """A job of `anonymised_profiles`. Nothing in it weakens a policy or a gate."""

    columns: Words | None = None
    roles: Words | None = None
    format: Literal["json", "ndjson", "reference"] = "reference"
    delivery_info: DeliveryInfo | None = None
    buffer_timeout: BufferTimeout | None = None


def _object(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    closed: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**closed, "required": list(required)} if required else closed


_WORDS: Final[dict[str, Any]] = {
    "type": "array",
    "items": {"type": "string", "minLength": 1, "maxLength": 200},
    "minItems": 1,
    "maxItems": 100,
}
_DELIVERY: Final[dict[str, Any]] = {
    "deliveryInfo": _object(
        {"targetUri": {"type": "string", "minLength": 1, "maxLength": MOST_CHARACTERS}}, "targetUri"
    ),
    "bufferTimeout": _object(
        {
            "maxSize": {"type": "integer", "minimum": 1, "maximum": MOST_ITEMS},
            "maxTimeMilliseconds": {"type": "integer", "minimum": 0, "maximum": MOST_MILLISECONDS},
        },
        "maxSize",
        "maxTimeMilliseconds",
    ),
}
_DRAFT: Final = {"$schema": "http://json-schema.org/draft-07/schema#"}  # the coordinator reads no later one
SCHEMAS: Final[dict[str, dict[str, Any]]] = {
    POSTURE: _DRAFT
    | _object(
        {
            "pilots": _WORDS,
            "verdicts": {
                "type": "array",
                "items": {"type": "string", "enum": ["pass", "fail", "indeterminate"]},
                "minItems": 1,
            },
            "includeHistory": {"type": "boolean"},
            **_DELIVERY,
        }
    ),
    PROFILES: _DRAFT
    | _object(
        {
            "columns": _WORDS,
            "roles": _WORDS,
            "format": {"type": "string", "enum": ["json", "ndjson", "reference"]},
            **_DELIVERY,
        }
    ),
}
ABOUT: Final = {
    POSTURE: "How identifiable the records of a release still are: figures, adversaries and gate, as CloudEvents.",
    PROFILES: "Released records of network profiles that passed their gate, by reference or inline, as CloudEvents.",
}
