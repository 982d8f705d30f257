"""The test data that may lie beside the project: golden values, real captures, hostile captures."""

import os
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]


def beside(name: str) -> Path:
    """Return the folder `name` of the data beside the project, or skip the test that asks for it."""
    root = Path(os.environ.get("PRATIQUE_SHARED", REPOSITORY.parent / "shared"))
    folder = root / name
    if not folder.exists():
        pytest.skip(f"{name} is not beside the project: set PRATIQUE_SHARED to hold the code against it")
    return folder


def golden(name: str = "") -> Path:
    """Return the exact expected values, or one file or folder of them."""
    return beside("golden") / name


def captures() -> Path:
    """Return the real captures with their truth, `NAME.truth.json` beside each."""
    return beside("captures")


def malformed() -> Path:
    """Return the damaged and hostile captures."""
    return beside("malformed")
