"""The tables behind the fast path: keys to numbers against a dictionary, and connections that both paths must know."""

import io

import numpy as np
import pytest

from pratique_ingest.capture.transport import MAX_CHUNKS, sctp_chunks, whole_messages
from pratique_ingest.fast.keys import MULTIPLIER, PROBES, KeyTable, distinct
from pratique_ingest.profile import PACE, Pace, profile_capture
from tests.unit.ingest.crafted import AMF, GNB, UPF, chunk, ethernet, ipv4, pcap, sctp, tcp


@pytest.mark.parametrize("words", [1, 2, 5])
def test_a_table_numbers_keys_as_a_dictionary_does_while_it_grows(words: int) -> None:
    chance = np.random.default_rng(7)
    table, numbers = KeyTable(words), dict[tuple[int, ...], int]()
    for _ in range(20):
        rows = chance.integers(0, 60, (400, words)).astype(np.uint64)
        columns = [np.ascontiguousarray(rows[:, number]) for number in range(words)]
        found = table.find(columns)
        assert found.tolist() == [numbers.get(tuple(row), -1) for row in rows.tolist()]
        new = np.flatnonzero(found < 0)
        first, group = distinct([column[new] for column in columns])
        assert first.tolist() == sorted(first.tolist())
        assert (rows[new][first[group]] == rows[new]).all()
        fresh = [column[new[first]] for column in columns]
        for key, number in zip(zip(*(column.tolist() for column in fresh), strict=True), table.add(fresh), strict=True):
            numbers[key] = int(number)
    assert table.size == len(numbers)
    for key, number in list(numbers.items())[:50]:
        assert table.find_one(key) == number
        assert table.keys(np.array([number])) == [[word] for word in key]
    assert table.find_one([1000] * words) == -1


def _colliding(count: int) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    """Keys of one word whose mixed numbers are small, so that all ask for the first slot."""
    inverse = pow(int(MULTIPLIER), -1, 1 << 64)
    keys = []
    for number in range(count):
        state = number * inverse & (1 << 64) - 1
        state ^= state >> 32  # undoes the shift that mixes the upper half in
        keys.append(state * inverse & (1 << 64) - 1)
    return np.array(keys, dtype=np.uint64)


def test_keys_made_to_collide_are_absent_and_cost_no_more_than_the_probes() -> None:
    keys, table = _colliding(100), KeyTable(1)
    table.add([keys])
    found = table.find([keys])
    assert (found >= 0).sum() == PROBES
    assert all(table.find_one([key]) == number for key, number in zip(keys.tolist(), found.tolist(), strict=True))


@pytest.mark.parametrize("pace", [PACE, Pace(700, 1500, 7, 1), None])
def test_a_connection_that_a_tls_record_named_is_known_behind_ip_options_too(pace: Pace | None) -> None:
    shown = ipv4(GNB, AMF, 6, tcp(40_000, 9000, b"\x16\3\1\0\5hello"))
    body = tcp(9000, 40_000, b"nothing that has a name")
    plain = ipv4(AMF, GNB, 6, body)
    total = (24 + len(body)).to_bytes(2, "big")
    options = b"\x46" + plain[1:2] + total + plain[4:20] + b"\1\1\1\0" + plain[20:]
    frames = [*[ethernet(shown)] * 30, *[ethernet(options)] * 5, ethernet(ipv4(UPF, AMF, 1, bytes(600)))]
    profile = profile_capture(io.BytesIO(pcap(frames)), pilot=None, pace=pace)
    assert {host.ip: host.protocol_packets for host in profile.hosts}[GNB] == {"tcp": 35, "tls": 35}


@pytest.mark.parametrize(
    "chunks",
    [
        [], [chunk(b"one", 60)], [chunk(b"one", 60), chunk(b"", 61), chunk(b"three", 62)],
        [b"\3\0\0\x10" + bytes(12), chunk(b"after", 60)], [chunk(b"one", 60), b"\3\0\0\3"],
        [chunk(b"one", 60), b"\0\3\0\x20" + bytes(6)], [b"\0\3\0\x08" + bytes(8)], [b"\3\0\0\4"] * (MAX_CHUNKS + 1),
    ],
)  # fmt: skip
def test_the_short_walk_of_an_sctp_packet_finds_what_the_long_one_finds(chunks: list[bytes]) -> None:
    packet = sctp(9000, 38412, *chunks)
    assert whole_messages(packet) == [(one.protocol, one.payload) for one in sctp_chunks(packet)]


def test_the_short_walk_leaves_fragments_and_interleaved_data_to_the_long_one() -> None:
    assert whole_messages(sctp(9000, 38412, chunk(b"part", 60, flags=2))) is None
    assert whole_messages(sctp(9000, 38412, chunk(b"one", 60), b"\x40\3\0\x18" + bytes(20))) is None
