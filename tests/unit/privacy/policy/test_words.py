"""Words in the names of columns."""

import pytest

from pratique_privacy.policy.words import words_of


@pytest.mark.parametrize(
    ("name", "pieces", "at_signs"),
    [
        ("srcIp", ["src", "ip"], ["srcip"]),
        ("MSISDNs", ["msisd", "ns"], ["msisdns"]),
        ("ipv4_addr", ["ipv", "4", "addr"], ["ipv4", "addr"]),
        ("_first-seen ", ["first", "seen"], ["first", "seen"]),
        ("größe", ["gr", "e"], ["größe"]),
        ("", [], []),
    ],
)
def test_a_name_is_read_by_case_and_kind_and_by_its_signs(name: str, pieces: list[str], at_signs: list[str]) -> None:
    assert words_of(name) == (pieces, at_signs)
