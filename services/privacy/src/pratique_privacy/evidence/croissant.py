"""Croissant metadata of a release: what loaders of machine-learning data read (Croissant 1.1, MLCommons)."""

import re
from typing import Any, Final

from pratique_privacy.evidence.limits import LIMITATIONS
from pratique_shared.contracts.attributes import LIST_OF, Attributes
from pratique_shared.contracts.facts import Measured, Published, ReleaseRequested

RECORDS: Final = "records.parquet"
# The name that loaders know; the registered `application/vnd.apache.parquet` is refused by them.
PARQUET: Final = "application/x-parquet"
_CONFORMS: Final = ["http://mlcommons.org/croissant/1.1", "http://mlcommons.org/croissant/RAI/1.0"]
_TYPES: Final = {"integer": "sc:Integer", "number": "sc:Float", "boolean": "sc:Boolean", "text": "sc:Text"}
_SAFE: Final = re.compile(r"[A-Za-z0-9_.-]{1,100}")
_CR: Final = (
    *("arrayShape", "citeAs", "column", "containedIn", "equivalentProperty", "extract", "field", "fileObject"),
    *("fileProperty", "fileSet", "format", "includes", "isArray", "isLiveDataset", "jsonPath", "key", "md5"),
    *("parentField", "path", "recordSet", "references", "regex", "repeated", "replace", "samplingRate", "separator"),
    *("source", "subField", "transform"),
)
# The context as it is published with the format: loaders compare it whole.
_CONTEXT: Final[dict[str, Any]] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "description": {"@container": "@language"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "name": {"@container": "@language"},
    **{name: f"cr:{name}" for name in _CR},
}
_CLASS_OF: Final = {listed: word.replace("_", "-") for word, listed in LIST_OF.items()}
LICENCE: Final = "Not openly licensed: for the recipient and the purpose that the certificate names."


def croissant_of(requested: ReleaseRequested, measured: Measured, outcome: Published) -> dict[str, Any]:
    """Describe the Parquet file of a release; the file lies beside the description or is downloaded to there."""
    blob = outcome.files["parquet"]
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": _CONFORMS,
        "name": requested.id,
        "description": _description(requested, measured),
        "version": "1.0.0",
        "datePublished": outcome.at[:10],
        "license": LICENCE,
        "citeAs": f"Pratique release {requested.id}, {outcome.at[:10]}.",
        "creator": {"@type": "sc:Organization", "name": requested.tenant},
        "url": f"urn:x-pratique:{requested.id}",
        "isLiveDataset": False,
        "rai:dataManipulationProtocol": ", ".join(_steps(requested)) or "none",
        "rai:personalSensitiveInformation": list(measured.attributes.sensitive),
        "rai:dataLimitations": list(LIMITATIONS),
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": RECORDS,
                "name": RECORDS,
                "contentUrl": RECORDS,
                "contentSize": f"{blob.bytes} B",
                "encodingFormat": PARQUET,
                "sha256": blob.sha256,
            }
        ],
        "recordSet": [
            {
                "@type": "cr:RecordSet",
                "@id": "records",
                "name": "records",
                "field": _fields(outcome.schema_types, measured.attributes),
            }
        ],
    }


def _description(requested: ReleaseRequested, measured: Measured) -> str:
    purpose = f" Purpose: {requested.purpose}." if requested.purpose else ""
    return (
        f"{measured.records.rows_out} {measured.unit} records of a network profile, transformed by a privacy policy, "
        f"measured, and released after a passing gate.{purpose}"
    )


def _steps(requested: ReleaseRequested) -> list[str]:
    return [f"{step.op}({step.column})" if hasattr(step, "column") else step.op for step in requested.policy.steps]


def _fields(types: dict[str, str], attributes: Attributes) -> list[dict[str, Any]]:
    kinds = {column: _CLASS_OF[listed] for listed in _CLASS_OF for column in getattr(attributes, listed)}
    names = _identities(list(types))
    return [
        {
            "@type": "cr:Field",
            "@id": f"records/{names[column]}",
            "name": names[column],
            "description": f"Column {column}: {kinds.get(column, 'column')}.",
            **_type(word),
            "source": {"fileObject": {"@id": RECORDS}, "extract": {"column": column}},
        }
        for column, word in types.items()
    ]


def _type(word: str) -> dict[str, Any]:
    if word == "list":  # a set of texts, of any size
        return {"dataType": "sc:Text", "isArray": True, "arrayShape": "-1"}
    return {"dataType": _TYPES[word]}


def _identities(columns: list[str]) -> dict[str, str]:
    """Return a name for each column that can stand in an identifier: its own where that is one."""
    found: dict[str, str] = {}
    for place, column in enumerate(columns):
        name = column if _SAFE.fullmatch(column) else f"column-{place}"
        while name != column and name in columns:
            name += "-"
        found[column] = name
    return found
