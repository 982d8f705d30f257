"""Mobile identities of 5G NAS: which elements are some, message by message, and which SUCIs are possible."""

import struct

import pytest

from pratique_ingest.profile import Profile
from tests.unit.ingest.crafted import chunk
from tests.unit.ingest.test_protocols import PLMN, ngap, on_n2, values

GUTI = bytes.fromhex(f"f2{PLMN}020040deadbeef")
GUTI_TEXT = "001-01-02-001-00-deadbeef"
PEI = bytes.fromhex("4554638709214365f7")
# What an EAP message may look like by its first byte: a request (1) as a SUCI, a response (2) as a GUTI.
EAP_REQUEST, EAP_RESPONSE = b"\x01" + bytes.fromhex("00f110f0ff0000") + bytes(6), b"\x02" + GUTI[1:]


def long(value: bytes) -> bytes:
    return struct.pack(">H", len(value)) + value


def nas(message: bytes) -> Profile:
    return on_n2(chunk(ngap(message), 60))


def suci(output: bytes, scheme: int, routing: str = "f0ff", form: int = 0, plmn: str = PLMN) -> list[str]:
    identity = bytes([form << 4 | 1]) + bytes.fromhex(plmn + routing) + bytes([scheme, 0]) + output
    return values(nas(b"\x7e\x00\x41\x79" + long(identity)), "suci")


def digits(text: str) -> bytes:
    return bytes(int(text[at + 1 : at + 2] or "f", 16) << 4 | int(text[at]) for at in range(0, len(text), 2))


@pytest.mark.parametrize(
    ("message", "element", "value", "kind", "found"),
    [
        ("7e004201 01", 0x77, GUTI, "guti", [GUTI_TEXT]),
        ("7e004201 01", 0x78, EAP_RESPONSE, "guti", []),
        ("7e004201 01", 0x78, EAP_REQUEST, "suci", []),
        ("7e005d02 00 02f0f0", 0x78, EAP_REQUEST, "suci", []),
        ("7e005d02 00 02f0f0", 0x77, GUTI, "guti", []),
        ("7e005e", 0x77, PEI, "imei", ["4453678901234567"]),
        ("7e005e", 0x78, PEI, "imei", ["4453678901234567"]),
        ("7e0054", 0x77, GUTI, "guti", [GUTI_TEXT]),
        ("7e0054", 0x78, EAP_RESPONSE, "guti", []),
    ],
)
def test_an_element_is_an_identity_only_where_its_message_says_so(
    message: str, element: int, value: bytes, kind: str, found: list[str]
) -> None:
    profile = nas(bytes.fromhex(message) + bytes([element]) + long(value))
    assert values(profile, kind) == found


@pytest.mark.parametrize(
    ("msin", "kept"), [("1234567", False), ("12345678", True), ("1234567890", True), ("12345678901", False)]
)
def test_under_the_null_scheme_an_imsi_has_13_to_15_digits(msin: str, kept: bool) -> None:
    assert suci(digits(msin), 0) == ([f"suci-0-001-01-0-0-0-{msin}"] if kept else [])


@pytest.mark.parametrize(
    ("scheme", "size", "kept"),
    [
        (1, 32 + 5 + 8, True), (1, 32 + 8, False), (1, 3, False), (1, 200, False), (1, 32 + 16 + 8, True),
        (2, 33 + 5 + 8, True), (2, 33 + 8, False), (2, 33 + 17 + 8, False), (3, 45, False), (11, 45, False),
        (12, 9, True), (15, 9, True),
    ],
)  # fmt: skip
def test_a_concealed_output_has_key_digits_and_code(scheme: int, size: int, kept: bool) -> None:
    assert suci(b"\xa5" * size, scheme) == ([f"suci-0-001-01-0-{scheme}-0-" + "a5" * size] if kept else [])


@pytest.mark.parametrize(("routing", "text"), [("ffff", "0"), ("f0ff", "0"), ("0000", "0000"), ("21f3", "123")])
def test_a_routing_indicator_keeps_its_digits_and_none_is_zero(routing: str, text: str) -> None:
    assert suci(digits("0000000001"), 0, routing) == [f"suci-0-001-01-{text}-0-0-0000000001"]


def test_all_zeros_are_a_placeholder_but_a_network_with_a_first_subscriber_is_none() -> None:
    assert suci(digits("0000000000"), 0, plmn="00f000") == []
    assert suci(digits("00000000"), 0, plmn="02f899") == ["suci-0-208-99-0-0-0-00000000"]


@pytest.mark.parametrize(
    ("form", "name", "kept"),
    [
        (1, b"user17@example.com", True),
        (1, b"type1.rid678.schid0.useriduser17@example.com", True),
        (2, b"00-00-5e-00-53-00@operator.com", True),
        (1, b"anonymous@example.com", False),
        (1, b"", False),
        (1, b"user17", False),
        (1, b"user@realm", False),
        (1, b"\x00\x01\x02\x07\xff", False),
        (1, b"us\x07er@example.com", False),
        (5, b"user17@example.com", False),
    ],
)
def test_a_network_access_identifier_is_printable_and_names_somebody(form: int, name: bytes, kept: bool) -> None:
    profile = nas(b"\x7e\x00\x41\x79" + long(bytes([form << 4 | 1]) + name))
    assert values(profile, "suci") == ([f"nai-{name.decode()}"] if kept else [])
