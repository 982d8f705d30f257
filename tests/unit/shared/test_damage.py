"""Damage: one object that cannot be read holds up no other, and the log says which without a word of its content."""

import logging

import pytest
from pydantic import ValidationError

from pratique_shared.contracts.facts import Deleted
from pratique_shared.runtime.damage import passed_over
from pratique_shared.runtime.meters import REGISTRY
from pratique_shared.runtime.sealing import BrokenSeal

ENTITY = "cap_00000000000000000000000001"
SECRET = "001010123456789"


def test_what_cannot_be_read_is_passed_over_counted_and_named_by_its_id(caplog: pytest.LogCaptureFixture) -> None:
    def counted() -> float:
        return REGISTRY.get_sample_value("pratique_store_errors_total", {"code": "stored-bytes-damaged"}) or 0

    before, served = counted(), []
    with caplog.at_level(logging.ERROR, "pratique.damage"):
        for name in ("one", "damaged", "foreign", "two"):
            with passed_over(ENTITY):
                if name == "damaged":
                    raise BrokenSeal(SECRET)
                if name == "foreign":
                    Deleted.model_validate_json(f'{{"imsi": "{SECRET}"}}')
                served.append(name)
    assert served == ["one", "two"]
    assert counted() == before + 2
    assert [(record.__dict__["entity"], record.__dict__["error"]) for record in caplog.records] == [
        (ENTITY, BrokenSeal.__name__),
        (ENTITY, ValidationError.__name__),
    ]
    assert not any(SECRET in str(record.__dict__) for record in caplog.records)


def test_a_defect_is_no_damage() -> None:
    with pytest.raises(KeyError), passed_over(ENTITY):
        raise KeyError
