"""The real captures against what tshark counts in them, as the conformance checks hold a running service."""

import json
import time
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from pratique_ingest.profile import Identifiers, NotACapture, Profile, profile_capture
from tests.support.beside import captures, malformed

# What does not hold yet, with the reason; an entry that holds fails the run.
OPEN: dict[str, str] = {}
# Not captures at all, and said so.
NO_CAPTURES = {"libpcap__pcapng-invalid-vers-1.pcapng"}  # a section of an unknown version
KINDS = {
    "imsi": ("imsi",), "suci": ("suci",), "guti": ("5g_guti",), "guti_4g": ("4g_guti",),
    "s_tmsi": ("5g_s_tmsi", "s_tmsi"),
}  # fmt: skip
EMPTY = {"000-000-0-0-00000000", "0-00000000"}


def files(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.iterdir()) if path.suffix not in (".json", ".md")]


@cache
def read(path: Path) -> Profile:
    with path.open("rb") as source:
        return profile_capture(source, pilot=None)


def host_differences(profile: Profile, truth: dict[str, Any]) -> list[str]:
    found = {host.ip: (host.packets, host.peer_count) for host in profile.hosts}
    right = {ip: (host["packets"], host["peer_count"]) for ip, host in truth["hosts"].items()}
    wrong = [
        f"{ip}: {found.get(ip)}, right {right.get(ip)}" for ip in {**found, **right} if found.get(ip) != right.get(ip)
    ]
    if profile.packets != truth["packets_total"]:
        wrong.append(f"packets: {profile.packets}, right {truth['packets_total']}")
    return wrong


def identifier_differences(identifiers: Identifiers, wanted: dict[str, list[str]]) -> list[str]:
    wrong = []
    for kind, names in KINDS.items():
        values = [sighting.value for sighting in getattr(identifiers, kind)]
        right = {value for name in names for value in wanted.get(name, [])} - EMPTY
        if set(values) != right or len(values) != len(set(values)):
            wrong.append(f"{kind}: missing {right - set(values)}, extra {set(values) - right}")
    return wrong


def test_every_real_capture_has_the_hosts_packets_and_peers_that_tshark_counts() -> None:
    different = {}
    for path in files(captures()):
        truth = json.loads(path.with_name(path.name + ".truth.json").read_text())
        if wrong := host_differences(read(path), truth):
            different[path.name] = wrong
    assert different.keys() == OPEN.keys(), different


def test_every_real_capture_has_the_imsi_suci_guti_and_s_tmsi_that_tshark_dissects() -> None:
    different, held = {}, 0
    for path in files(captures()):
        wanted = json.loads(path.with_name(path.name + ".truth.json").read_text()).get("identifiers_normalised")
        if wanted is not None:
            held += 1
            if wrong := identifier_differences(read(path).identifiers, wanted):
                different[path.name] = wrong
    assert held > 0
    assert different.keys() == OPEN.keys(), different


def test_no_real_capture_breaks_a_decoder_or_is_called_incomplete() -> None:
    for path in files(captures()):
        profile = read(path)
        assert profile.complete, path.name
        assert "packet-not-decoded" not in {warning.code for warning in profile.warnings}, path.name


def test_every_hostile_capture_is_answered_within_two_seconds() -> None:
    refused = set()
    for path in files(malformed()):
        begun = time.process_time()
        try:
            read(path)
        except NotACapture:
            refused.add(path.name)
        assert time.process_time() - begun < 2, path.name
    assert refused == NO_CAPTURES


@pytest.mark.parametrize(
    ("name", "roles"),
    [
        ("5Greplay__oai.pcap", {"192.168.70.129": "gNB", "192.168.70.132": "AMF", "192.168.70.133": "SMF",
                                "192.168.70.134": "UPF", "192.168.70.130": "NRF", "12.1.1.136": "UE"}),
        ("packet__e2ap_e2sm_kpimon.pcapng", {"10.244.0.1": "E2 node", "10.244.0.61": "Near-RT RIC"}),
        ("open5gs__testattach.pcapng", {"127.0.0.1": "eNB", "127.0.0.2": "MME", "127.0.0.3": "SGW", "127.0.0.4": "PGW",
                                        "127.0.0.7": "UPF", "127.0.0.8": "HSS", "127.0.0.9": "PCRF"}),
        ("MobiWatch__normal_ue1.pcap", {"127.0.0.1": "DU", "127.0.0.4": "CU", "127.0.0.53": "DNS"}),
        ("CheckOCPP__capt.pcapng", {"fe80::e3a6:46e4:bff9:fb8e": "charging station", "224.0.0.251": "multicast"}),
    ],
)  # fmt: skip
def test_the_hosts_of_a_documented_capture_have_their_roles(name: str, roles: dict[str, str]) -> None:
    found = {host.ip: host.role for host in read(captures() / name).hosts}
    assert {ip: found[ip] for ip in roles} == roles
