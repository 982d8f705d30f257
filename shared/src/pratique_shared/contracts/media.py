"""Media: the forms in which a table is sent, kept and given out."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal

Upload = Literal["json", "ndjson", "csv"]  # what a dataset may be sent as
Media = Literal[Upload, "parquet"]  # of a source as it is kept
Format = Literal["parquet", "arrow", "csv", "ndjson"]  # of the files that a release is published in
Form = Literal[Format, "json"]  # of records as they are given out: a file, or a page

FILE_ENDINGS: Final[Mapping[str, str]] = MappingProxyType(
    {"parquet": "parquet", "arrow": "arrows", "csv": "csv", "ndjson": "ndjson"}
)


def file_name(release: str, form: str) -> str:
    """Return the name of a released file, as a download and the certificate give it."""
    return f"{release}.{FILE_ENDINGS[form]}"
