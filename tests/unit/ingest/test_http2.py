"""HTTP/2 on the service-based interfaces: what header blocks show without the state of their connection."""

import struct

import pytest

from pratique_ingest.profile import Profile
from pratique_ingest.protocols.hpack import Table, header_block
from pratique_ingest.protocols.huffman import huffman
from tests.unit.ingest.crafted import AMF, SMF, ethernet, ipv4, pcap, profiled, tcp

# RFC 7541, C.4.1 to C.4.3 and C.6.1: the coded strings of its examples.
EXAMPLES = {
    "f1e3c2e5f23a6ba0ab90f4ff": b"www.example.com",
    "a8eb10649cbf": b"no-cache",
    "25a849e95ba97d7f": b"custom-key",
    "25a849e95bb8e8b4bf": b"custom-value",
    "6402": b"302",
    "aec3771a4b": b"private",
}


def headers(block: bytes, flags: int = 4) -> bytes:
    return struct.pack(">I", len(block))[1:] + bytes([1, flags]) + b"\x00\x00\x00\x01" + block


def field(index: int, value: bytes) -> bytes:
    """A literal with an indexed name and a plain value."""
    return bytes([0x40 | index, len(value)]) + value


def sent(*frames: bytes) -> Profile:
    return profiled(pcap([ethernet(ipv4(AMF, SMF, 6, tcp(40_000, 7777, b"".join(frames))))]))


@pytest.mark.parametrize(("coded", "text"), EXAMPLES.items())
def test_the_huffman_strings_of_the_standard_are_read(coded: str, text: bytes) -> None:
    assert huffman(bytes.fromhex(coded)) == text


@pytest.mark.parametrize("coded", ["ffffffff", "00"])
def test_a_string_without_right_padding_is_given_up(coded: str) -> None:
    assert huffman(bytes.fromhex(coded)) is None


# RFC 7541, C.4.1 to C.4.3: three requests on one connection, the later ones by the table that the first ones fill.
REQUESTS = (
    "828684418cf1e3c2e5f23a6ba0ab90f4ff",
    "828684be5886a8eb10649cbf",
    "828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf",
)
AUTHORITY = (b":authority", b"www.example.com")


def test_the_requests_of_the_standard_are_read_with_the_table_that_they_fill() -> None:
    table = Table()
    first, second, third = (header_block(bytes.fromhex(request), table) for request in REQUESTS)
    assert first.fields == [(b":method", b"GET"), (b":scheme", b"http"), (b":path", b"/"), AUTHORITY]
    assert second.fields == [*first.fields, (b"cache-control", b"no-cache")]
    assert third.fields[3:] == [AUTHORITY, (b"custom-key", b"custom-value")]
    assert (first.whole, second.whole, third.whole, table.size) == (True, True, True, 164)


def test_what_the_table_held_before_the_capture_is_unknown_and_what_came_since_is_not() -> None:
    table = Table()
    second, third = (header_block(bytes.fromhex(request), table) for request in REQUESTS[1:])
    assert (second.fields[3:], second.whole) == ([(b"cache-control", b"no-cache")], False)
    # The third refers to the entry that the first made, and to none of the second.
    assert (third.fields[3:], third.whole) == ([(b"custom-key", b"custom-value")], False)
    assert header_block(b"\xbe\xbf", table).fields == [third.fields[3], second.fields[3]]


def test_a_path_names_the_function_and_the_subscriber() -> None:
    profile = sent(headers(b"\x83" + field(4, b"/nudm-sdm/v2/imsi-001010000000001/nssai") + field(58, b"AMF")))
    assert {host.ip: host.role for host in profile.hosts} == {AMF: "AMF", SMF: "UDM"}
    assert [sighting.value for sighting in profile.identifiers.imsi] == ["001010000000001"]
    assert set(profile.hosts[0].protocols) == {"tcp", "http2", "sbi"}


def test_padding_and_priority_stand_before_the_block() -> None:
    block = b"\x02" + bytes(5) + field(4, b"/nnrf-disc/v1/nf-instances") + bytes(2)
    assert {host.ip: host.role for host in sent(headers(block, 0x2C)).hosts}[SMF] == "NRF"


def test_a_callback_does_not_make_its_receiver_the_server() -> None:
    profile = sent(headers(field(4, b"/nnrf-nfm/v1/nf-status-notify")))
    assert {host.role for host in profile.hosts} == {"unknown"}


def test_who_is_asked_for_everything_is_a_proxy() -> None:
    paths = (b"/nudm-sdm/v2/x", b"/nausf-auth/v1/x", b"/nnrf-disc/v1/x", b"/npcf-policy/v1/x")
    profile = sent(*(headers(field(4, path)) for path in paths))
    (proxy,) = [host for host in profile.hosts if host.ip == SMF]
    assert (proxy.role, "a proxy" in proxy.role_evidence) == ("SCP", True)
    assert set(proxy.roles) == {"SCP", "UDM", "AUSF", "NRF", "PCF"}
