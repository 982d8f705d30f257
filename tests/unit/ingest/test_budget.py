"""The budget of memory: beyond it facts are counted and not kept, and the capture says which."""

import json
import tracemalloc

import pytest

from pratique_ingest import budget
from pratique_ingest.budget import CARRIER, COPIES, COPIES_A_CARRIER, HOST, IDENTITY, PEER, Budget
from pratique_ingest.capture_child import _identifiers, _written
from pratique_ingest.hosts import Ledger
from pratique_ingest.profile import host_row, session_row
from pratique_ingest.protocols.findings import MAX_TEXT, Context, Findings, Sign
from pratique_ingest.records import Identifiers, Sighting
from pratique_ingest.sessions import Sessions
from tests.unit.ingest.crafted import AMF, GNB, SMF, UPF, ethernet, ipv4, pcap, profiled, udp

ENDS = bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2])


def counted(limit: int, *identities: str) -> tuple[Ledger, Budget]:
    held = Budget(limit)
    ledger = Ledger(held)
    ledger.count(*ENDS, 1, 100, None, Findings(identities={("suci", value) for value in identities}))
    return ledger, held


def test_a_fact_is_kept_as_long_as_its_bytes_are_left() -> None:
    held = Budget(250)
    assert (held.keep("peers", 200), held.keep("peers", 51), held.keep("hosts", 50)) == (True, False, True)
    assert (held.spent, dict(held.cut)) == (250, {"peers": 1})
    held.release(200)
    assert held.fits(200)


def test_hosts_and_peers_are_the_first_to_be_paid() -> None:
    ledger, held = counted(2 * HOST + PEER)
    assert (held.spent, dict(held.cut)) == (2 * HOST + PEER, {"peers": 1})
    assert [record.peer_count for record in ledger.records(None)] == [1, 0]


def test_an_identifier_is_paid_by_its_length() -> None:
    short, long = "nai-a@b.c", "nai-" + "a" * 900 + "@b.c"
    hosts = 2 * (HOST + PEER)
    for value in (short, long):
        size = IDENTITY + COPIES * len(value) + 2 * (CARRIER + COPIES_A_CARRIER * len(value))
        ledger, held = counted(hosts + size, value)
        assert (held.spent, ledger.identifiers().suci[0].value) == (hosts + size, value)
        assert counted(hosts + size - 1, value)[1].cut == {"identifiers": 1}


def test_a_text_longer_than_any_identifier_is_none() -> None:
    found = Findings()
    for size in (MAX_TEXT, MAX_TEXT + 1):
        found.identity("suci", "a" * size)
    assert [len(value) for _, value in found.identities] == [3000]


def test_a_capture_beyond_the_budget_is_ready_and_says_what_was_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    file = pcap([ethernet(ipv4(GNB, other, 17, udp(1, 2, b""))) for other in (AMF, SMF, UPF)])
    assert profiled(file).complete
    monkeypatch.setattr(budget, "LIMIT", 2 * HOST + 2 * PEER)  # two hosts that met
    profile = profiled(file)
    assert {host.ip: (host.packets, host.peer_count) for host in profile.hosts} == {GNB: (3, 1), AMF: (1, 1)}
    assert not profile.complete
    (warning,) = profile.warnings
    assert (warning.code, warning.count) == ("limits-reached", 2)
    assert warning.detail == "beyond what is kept in memory: hosts"


def filled(kind: str, limit: int) -> tuple[bytes, bytes, bytes]:
    """Count frames until the budget is spent; return what leaves the child."""
    held = Budget(limit)
    ledger, sessions, number = Ledger(held), Sessions(held), 0
    while not held.cut:
        number += 1
        found = Findings({"udp", "gtp"}, sender={Sign.GTPU_PORT})
        ends = number.to_bytes(16, "big"), (1 << 64 | number).to_bytes(16, "big")
        if kind == "hosts":
            ledger.count(*ends, number, 100, number * 10**9, found)
        elif kind == "sessions":
            found.contexts.append(Context(number, True, True, False, None, frozenset({("imsi", f"{number:015d}")})))
            sessions.note(*ENDS, 100, 10**18, found)
        else:
            value = f"nai-{number}@" + "a" * 2900 if kind == "texts" else f"001-01-02-003-04-{number:08x}"
            found.identities.add(("suci", value))
            ledger.count(*ENDS, number, 100, number * 10**9, found)
    hosts, identified, seen = tuple(ledger.records("lab")), ledger.identifiers(), tuple(sessions.records("lab"))
    return (
        _written(json.dumps(host_row(host)) for host in hosts),
        _written(json.dumps(session_row(session)) for session in seen),
        _written(_identifiers(identified)),
    )


@pytest.mark.parametrize("kind", ["hosts", "identities", "texts", "sessions"])
def test_the_bytes_of_the_budget_are_those_of_the_process(kind: str) -> None:
    limit = 6 << 20
    filled(kind, 1 << 16)  # what is loaded when it is first used is no fact
    tracemalloc.start()
    leaving = filled(kind, limit)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert limit // 3 < peak < limit
    assert 2 * sum(map(len, leaving)) < limit  # once the profile is gone, what leaves is copied for the pipe


def test_identifiers_leave_as_one_object_of_lists() -> None:
    seen = Identifiers(imsi=(Sighting("001010000000001", 2, ("10.0.0.1",)), Sighting("001010000000002", 1, ())))
    read = json.loads(_written(_identifiers(seen)))
    assert read["imsi"][0] == {"value": "001010000000001", "packets": 2, "hosts": ["10.0.0.1"]}
    assert [entry["value"] for entry in read["imsi"]] == ["001010000000001", "001010000000002"]
    assert read.keys() == {"imsi", "suci", "guti", "guti_4g", "s_tmsi", "msisdn", "imei"}
    assert read["guti"] == []
