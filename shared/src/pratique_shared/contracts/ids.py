"""Ids: a prefix that says of what, and 26 digits of Crockford's base 32 that begin with the time of making."""

from typing import Annotated, Final

from pydantic import StringConstraints

ID: Final = "[0-6][0-9a-hjkmnp-tv-z]{25}"  # of an id behind its prefix; 7 begins a year that no calendar has
CaptureId = Annotated[str, StringConstraints(pattern=f"^cap_{ID}$")]
DatasetId = Annotated[str, StringConstraints(pattern=f"^dst_{ID}$")]
ReleaseId = Annotated[str, StringConstraints(pattern=f"^rel_{ID}$")]
