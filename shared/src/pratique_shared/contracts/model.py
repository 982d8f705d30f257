"""The base of every contract: frozen, and closed against fields that nobody declared."""

from pydantic import BaseModel, ConfigDict


class Contract(BaseModel):
    """A value that crosses a wall. Unknown fields are refused, so that a misspelt one is never ignored."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)
