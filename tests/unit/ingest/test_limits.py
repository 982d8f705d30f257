"""The limits that docs/limits.md states are those of the code."""

import importlib
import re
from functools import reduce

import pytest

from pratique_privacy.http.services import Limits
from tests.support.beside import REPOSITORY

UNITS = {"": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
ROW = re.compile(r"^\|[^|]*\| (\d+) ?(KiB|MiB|GiB|) \| `([a-z0-9_.]+)\.([A-Z_]+)((?:\.[a-z_]+)*)` \|", re.MULTILINE)
ROWS = ROW.findall((REPOSITORY / "docs" / "limits.md").read_text(encoding="utf-8"))


def test_the_document_names_limits_of_every_layer() -> None:
    named = {module.split(".")[0] for _, _, module, _, _ in ROWS}
    assert {"jobs", "capture", "protocols", "shared", "budget", "dissection", "effort"} <= named
    assert len(ROWS) > 30


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[2]}.{row[3]}{row[4]}")
def test_a_limit_is_what_the_document_says(row: tuple[str, str, str, str, str]) -> None:
    number, unit, module, name, attributes = row
    home = (
        module.replace("shared.", "pratique_shared.") if module.startswith("shared.") else f"pratique_ingest.{module}"
    )
    found = reduce(getattr, attributes.split(".")[1:], getattr(importlib.import_module(home), name))
    assert found == int(number) * UNITS[unit]


def test_an_upload_may_be_as_long_as_the_document_says() -> None:
    assert Limits().capture_bytes == 16 << 30
