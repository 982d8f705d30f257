"""Identifiers in the text of HTTP: whole values only, and what a segment cuts off waits for the next one."""

import pytest

from pratique_ingest.profile import Profile
from tests.unit.ingest.crafted import AMF, SMF, ethernet, ipv4, pcap, profiled, tcp
from tests.unit.ingest.test_protocols import IMSI, on_tcp, values

HEAD = b"POST /nudm-sdm/v2/x HTTP/1.1\r\nhost: a\r\n\r\n"
# 32 bytes of key, 5 of digits, 8 of code (TS 33.501, C.4.3).
CONCEALED = "suci-0-001-01-0-1-1-" + "a5" * 45


def text(value: str, *, kind: str = "imsi") -> list[str]:
    return values(on_tcp(HEAD + b'{"x":"' + value.encode() + b'"}'), kind)


def flow(*segments: tuple[int, bytes], flags: int = 0x18) -> Profile:
    """Segments with their sequence numbers; `flags` are those of the last."""
    last = len(segments) - 1
    return profiled(
        pcap(
            ethernet(ipv4(AMF, SMF, 6, tcp(40_000, 7777, data, at, flags if number == last else 0x18)))
            for number, (at, data) in enumerate(segments)
        )
    )


@pytest.mark.parametrize("cut", range(1, 20))
def test_an_identifier_is_found_once_and_whole_wherever_a_segment_cuts_it(cut: int) -> None:
    value = b"imsi-001010000000001"
    profile = on_tcp(HEAD + b'{"supi":"' + value[:cut], value[cut:] + b'"}')
    assert [(sighting.value, sighting.packets) for sighting in profile.identifiers.imsi] == [(IMSI, 1)]


@pytest.mark.parametrize(
    ("kind", "start", "end"),
    [
        ("msisdn", "msisdn-336123", "45678"),
        ("imei", "imeisv-49015420323751", "01"),
        ("suci", CONCEALED[:100], CONCEALED[100:]),
        ("suci", "suci-0-001-01-0-0-0-00000000", "01"),
    ],
)
def test_what_looks_whole_at_the_end_of_a_segment_waits(kind: str, start: str, end: str) -> None:
    found = values(on_tcp(HEAD + b'{"x":"' + start.encode(), end.encode() + b'"}'), kind)
    assert found == [(start + end).split("-", 1)[1] if kind != "suci" else start + end]
    assert values(on_tcp(HEAD + b'{"x":"' + start.encode()), kind) == []


def test_a_repeated_segment_does_not_make_a_shorter_identifier() -> None:
    start, end = HEAD + b'"imsi-0010100000000', b'01"'
    profile = flow((1, start), (1, start), (1 + len(start), end), (1 + len(start), end))
    assert values(profile, "imsi") == [IMSI]


def test_a_segment_before_its_time_makes_none() -> None:
    start, end = HEAD + b'"imsi-0010100000000', b'01"'
    assert values(flow((1 + len(start), end), (1, start)), "imsi") == []


def test_the_end_of_a_message_ends_its_last_value() -> None:
    body = b"imsi-001010000000001"
    stated = b"HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n" + body
    assert values(flow((1, stated)), "imsi") == [IMSI]
    unstated = b"HTTP/1.1 200 OK\r\n\r\n" + body
    assert values(flow((1, unstated)), "imsi") == []
    assert values(flow((1, unstated), flags=0x19), "imsi") == [IMSI]  # FIN with the last bytes
    assert values(flow((1, unstated), (1 + len(unstated), b""), flags=0x11), "imsi") == [IMSI]
    assert values(flow((1, unstated), (1 + len(unstated), b"HTTP/1.1 204 No\r\n\r\n")), "imsi") == [IMSI]


@pytest.mark.parametrize("behind", ['"', "/", "?", "&", ",", " ", "\r", "%2C", "%22", "}", "\\"])
def test_a_separator_ends_an_identifier(behind: str) -> None:
    assert text(f"imsi-001010000000001{behind}x") == [IMSI]


@pytest.mark.parametrize(
    "behind", ["abc", "_log", "-001010000000099", "*", ".pcap", "%", "~x", "..", "[3-9]", "\u00e9"]
)
def test_a_word_that_goes_on_is_no_identifier(behind: str) -> None:
    assert text(f"imsi-0010100000000{behind}") == []


@pytest.mark.parametrize(
    ("before", "found"), [("x", 0), ("min-", 0), ("_", 0), ("1", 0), ("/", 1), ("%2F", 1), (":", 1)]
)
def test_a_word_before_the_prefix_hides_it(before: str, found: int) -> None:
    assert len(text(f"{before}imsi-001010000000001")) == found


def test_two_identifiers_in_one_path_are_two() -> None:
    assert text("imsi-001010000000001%2Cimsi-001010000000002") == [IMSI, "001010000000002"]


@pytest.mark.parametrize(
    ("value", "suci", "imsi"),
    [
        ("suci-0-001-01-0-0-0-0000000001", 1, 1),
        ("suci-0-001-01--0-0-0000000001", 1, 1),
        ("suci-0-001-01-0-0-0-abcdef0123", 0, 0),  # the null scheme hides nothing: its output is digits
        ("suci-0-001-01-0-0-0-00000000001", 0, 0),  # sixteen digits are no IMSI
        (CONCEALED, 1, 0),
        ("suci-0-001-01-0-1-1-00", 0, 0),
    ],
)
def test_a_suci_in_text_is_held_to_the_same_rules(value: str, suci: int, imsi: int) -> None:
    assert (len(text(value, kind="suci")), len(text(value))) == (suci, imsi)


@pytest.mark.parametrize(
    ("path", "role"),
    [
        ("/nudm-sdm/v2/x", "UDM"),
        ("http://udm.example:7777/nudm-sdm/v2/x", "UDM"),
        ("/docs/nudm-sdm/v2/x", "unknown"),
        ("/x?next=/nudm-sdm/v2/x", "unknown"),
    ],
)
def test_an_api_is_the_first_part_of_a_path(path: str, role: str) -> None:
    profile = on_tcp(f"GET {path} HTTP/1.1\r\n\r\n".encode())
    assert {host.ip: host.role for host in profile.hosts}[SMF] == role


@pytest.mark.parametrize(
    ("agent", "role"),
    [
        ("AMF", "AMF"),
        ("UDM-26740918-e9cd-0205-aada-71a76214d33c udm12.oper.com", "UDM"),  # the example of TS 29.500, 5.2.2
        ("udm-explorer", "unknown"),
        ("AMFX", "unknown"),
        ("Mozilla AMF", "unknown"),
    ],
)
def test_a_user_agent_is_a_function_by_its_exact_type(agent: str, role: str) -> None:
    profile = on_tcp(f"GET /x HTTP/1.1\r\nUser-Agent: {agent}\r\n\r\n".encode())
    assert {host.ip: host.role for host in profile.hosts}[AMF] == role


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("5g-guti-00101020040deadbeef", ["001-01-02-001-00-deadbeef"]),  # AMF 020040: region 02, set 001, pointer 00
        ("5g-guti-310410020040DEADBEEF", ["310-410-02-001-00-deadbeef"]),
        ("5g-guti-00000000000000000000", []),
        ("5g-guti-0010102004", []),
    ],
)
def test_a_guti_in_a_path_is_the_one_of_nas(value: str, found: list[str]) -> None:
    assert text(value, kind="guti") == found


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("nai-user17@example.com", ["nai-user17@example.com"]),
        ("nai-user17%40example.com", ["nai-user17@example.com"]),
        ("nai-anonymous@example.com", []),
        ("nai-.+", []),
        ("sinai-user17@example.com", []),
    ],
)
def test_a_supi_that_is_a_network_access_identifier_is_kept_beside_the_concealed_ones(
    value: str, found: list[str]
) -> None:
    assert text(value, kind="suci") == found


@pytest.mark.parametrize("cut", range(1, 22))
def test_a_percent_sign_that_is_cut_hides_no_identifier(cut: int) -> None:
    value = b"imsi-001010000000001%2C"
    assert values(on_tcp(HEAD + b'{"x":"' + value[:cut], value[cut:] + b'"}'), "imsi") == [IMSI]


def test_a_long_concealed_identifier_is_kept_over_many_segments() -> None:
    output = "ab" * 1400  # proprietary schemes conceal in up to 1,400 bytes
    value = f"suci-0-001-01-0-12-1-{output}".encode()
    parts = [value[at : at + 500] for at in range(0, len(value), 500)]
    assert values(on_tcp(HEAD + b'{"x":"', *parts, b'"}'), "suci") == [value.decode()]


def test_a_supi_sent_in_clear_as_a_suci_is_said_and_listed() -> None:
    profile = on_tcp(HEAD + b'"suci-0-001-01-0-0-0-0000000001","nai-type1.rid678.schid0.useriduser17@example.com"')
    assert [(one.code, one.count) for one in profile.warnings] == [("suci-null-scheme", 2)]
    assert "in clear" in profile.warnings[0].detail
    assert values(profile, "imsi") == [IMSI]
    assert on_tcp(HEAD + f'"{CONCEALED}"'.encode()).warnings == ()
