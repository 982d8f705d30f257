"""Media: the forms in which a table is sent, kept and given out."""

from typing import Literal

Upload = Literal["json", "ndjson", "csv"]  # what a dataset may be sent as
Media = Literal[Upload, "parquet"]  # of a source as it is kept
Format = Literal["parquet", "arrow", "csv", "ndjson"]  # of the files that a release is published in
Form = Literal[Format, "json"]  # of records as they are given out: a file, or a page
