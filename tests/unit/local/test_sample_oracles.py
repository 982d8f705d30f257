"""The generated captures as others read them: tshark every frame, pycrate every message of the control plane."""

import re
import shutil
import subprocess
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import pytest

from pratique_ingest.protocols.findings import End, Findings
from pratique_ingest.protocols.nas5g import nas5g
from pratique_ingest.protocols.ngap import ngap
from pratique_ingest.protocols.ran import f1ap
from pratique_local.sample import SampleTruth, Scenario, write_sample
from tests.unit.local.capture_reader import chunks, packets

TSHARK = shutil.which("tshark")
needs_tshark = pytest.mark.skipif(TSHARK is None, reason="tshark is not installed")
ERROR = 0x00800000  # tshark's severity
Tree: TypeAlias = Any  # what pycrate decodes: nested, and without types of its own
NGAP, F1AP, E2AP = 60, 62, 70
# pycrate's E2AP is of version 2, where a function in a setup request has an OID; the sample speaks 1.01.
OF_ANOTHER_VERSION = (E2AP, b"\0\1")


class Written(NamedTuple):
    """A capture on disk and its truth."""

    path: Path
    truth: SampleTruth


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Written:
    path = tmp_path_factory.mktemp("sample") / "lab.pcapng"
    return Written(path, write_sample(path))


def read(path: Path, fields: list[str], *options: str) -> Iterator[list[str]]:
    """What tshark shows of each frame: a list of values, several of one field apart by `;`."""
    command = [TSHARK or "", "-r", str(path), "-d", "sctp.port==36421,e2ap", *options]
    command += ["-T", "fields", "-E", "aggregator=;", *(part for field in fields for part in ("-e", field))]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    for line in done.stdout.splitlines():
        yield line.split("\t")


@needs_tshark
@pytest.mark.parametrize("scenario", ["lab", "oran"])
def test_tshark_dissects_every_frame_without_a_complaint(tmp_path: Path, scenario: Scenario) -> None:
    path = tmp_path / "sample.pcapng"
    truth = write_sample(path, scenario=scenario)
    rows = list(read(path, ["frame.number", "_ws.malformed", "_ws.expert.severity"]))
    assert len(rows) == truth.packets
    bad = [number for number, broken, severity in rows if broken or str(ERROR) in severity.split(";")]
    assert bad == []


@needs_tshark
def test_tshark_counts_the_hosts_and_protocols_of_the_truth(lab: Written) -> None:
    seen: Counter[str] = Counter()
    peers: defaultdict[str, set[str]] = defaultdict(set)
    protocols: Counter[str] = Counter()
    for stack, *ends in read(lab.path, ["frame.protocols", "ip.src", "ip.dst", "ipv6.src", "ipv6.dst"]):
        source, destination = (one.split(";")[0] for one in (ends[:2] if ends[0] else ends[2:]))
        if source:
            seen.update((source, destination))
            peers[source].add(destination)
            peers[destination].add(source)
        protocols[carried(stack)] += 1
    assert {ip: (seen[ip], len(peers[ip])) for ip in seen} == lab.truth.hosts
    assert {name: protocols[name] for name in lab.truth.protocols} == lab.truth.protocols


def carried(stack: str) -> str:
    """The protocol right above the outermost UDP or SCTP; tshark names GTPv2 below `gtp`."""
    names = stack.split(":")
    at = next((at for at, name in enumerate(names) if name in ("udp", "sctp")), len(names))
    above = names[at + 1 : at + 3]
    return "gtpv2" if "gtpv2" in above else above[0] if above else ""


@needs_tshark
def test_tshark_reads_the_identifiers_of_the_truth(lab: Written) -> None:
    fields = ["e212.imsi", "3gpp.tmsi", "e164.msisdn", "nas_5gs.mm.imeisv", "gtpv2.mei", "nas_5gs.mm.suci.msin",
              "nas_5gs.mm.suci.scheme_output", "http2.headers.path", "json.value.string"]  # fmt: skip
    found: defaultdict[str, set[str]] = defaultdict(set)
    for row in read(lab.path, fields, "-o", "nas-5gs.null_decipher:TRUE"):
        for field, value in zip(fields, row, strict=True):
            found[field] |= {one for one in value.split(";") if one}
        # The NAS message stands before the 5G-S-TMSI of NGAP, which tshark 4.0 reads from the wrong octet.
        found["tmsi"] |= {f"{int(one, 0):08x}" for one in row[1].split(";")[:1] if one}
    text = " ".join(found["http2.headers.path"] | found["json.value.string"])
    spelled = {kind: set(re.findall(rf"\b{kind}-(\d+)", text)) for kind in ("imsi", "msisdn", "imeisv")}
    sucis = set(re.findall(r"suci-[-0-9a-f]+", text)) | {
        f"suci-0-001-01-0000-1-1-{one}" for one in found["nas_5gs.mm.suci.scheme_output"]
    }
    sucis |= {f"suci-0-001-01-0000-0-0-{msin}" for msin in found["nas_5gs.mm.suci.msin"]}
    theirs = {
        "imsi": found["e212.imsi"] | spelled["imsi"],
        "suci": sucis,
        "guti": found["tmsi"],
        "msisdn": found["e164.msisdn"] | spelled["msisdn"],
        "imei": found["nas_5gs.mm.imeisv"] | found["gtpv2.mei"] | spelled["imeisv"],
    }
    ours = {str(kind): set(values) for kind, values in lab.truth.identifiers.items()}
    ours["guti"] = {value.rpartition("-")[2] for value in ours["guti"]}
    # Counts only: a failing test must not print identifiers.
    assert {kind: len(ours[kind] ^ theirs[kind]) for kind in ours} == dict.fromkeys(ours, 0)


class Oracle:
    """pycrate's decoders: they keep what they decode in globals of their modules, and are slow."""

    def __init__(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._pdus: dict[int, Any] = {
                NGAP: import_module("pycrate_asn1dir.NGAP").NGAP_PDU_Descriptions.NGAP_PDU,
                F1AP: import_module("pycrate_asn1dir.F1AP").F1AP_PDU_Descriptions.F1AP_PDU,
                E2AP: import_module("pycrate_asn1dir.E2AP").E2AP_PDU_Descriptions.E2AP_PDU,
            }
            self._nas = import_module("pycrate_mobile.NAS5G").parse_NAS5G

    def message(self, protocol: int, data: bytes) -> Tree:
        """Decode a message; encoded again it must be the same bytes."""
        pdu = self._pdus[protocol]
        pdu.from_aper(data)
        assert pdu.to_aper() == data
        return pdu.get_val()

    def identities(self, nas: bytes) -> set[str]:
        """The concealed and temporary identities in a NAS message, opened when it is null-ciphered."""
        if nas[1] and nas[7] == 0x7E:
            nas = nas[7:]
        elif nas[1]:
            return set()
        message, error = self._nas(nas, inner=True)
        assert error == 0
        return set(_named(message))


def _named(element: Tree) -> Iterator[str]:
    if type(element).__name__ == "FGSID":
        value = element.get_val_d()
        if value["Type"] == 2:
            yield f"{value['AMFRegionID']:02x}-{value['AMFSetID']:03x}-{value['AMFPtr']:02x}-{value['5GTMSI']:08x}"
        elif value["Type"] == 1:
            output = value["Value"]["Output"]
            yield (output if isinstance(output, bytes) else b"".join(output.values())).hex()
        return
    for inner in getattr(element, "_content", None) or ():
        yield from _named(inner)


def told(found: Findings) -> set[str]:
    """The same of what our walks found: GUTIs without their network, scheme outputs as they stand."""
    gutis = {value.split("-", 2)[2] for kind, value in found.identities if kind == "guti"}
    outputs = [value.split("-") for kind, value in found.identities if kind == "suci"]
    return gutis | {one[7] if one[5] == "1" else swapped(one[7]) for one in outputs}


def swapped(digits: str) -> str:
    """Decimal digits as they are packed, two to an octet, the first in the low half."""
    return "".join(digits[at + 1] + digits[at] for at in range(0, len(digits), 2))


def parts(value: Tree, name: str) -> Iterator[Tree]:
    """Every value of this name, at any depth."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == name:
                yield inner
            yield from parts(inner, name)
    elif isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], str):
        if value[0] == name:
            yield value[1]
        yield from parts(value[1], name)
    elif isinstance(value, list):
        for inner in value:
            yield from parts(inner, name)


def ends_of(value: Tree) -> set[tuple[bytes, int]]:
    return {
        (tunnel["transportLayerAddress"][0].to_bytes(tunnel["transportLayerAddress"][1] // 8),
         int.from_bytes(tunnel["gTP-TEID"]))
        for tunnel in parts(value, "gTPTunnel")
    }  # fmt: skip


def temporary_of(value: Tree) -> set[str]:
    return {
        f"{one['aMFSetID'][0]:03x}-{one['aMFPointer'][0]:02x}-{one['fiveG-TMSI'].hex()}"
        for name in ("FiveG-S-TMSI", "fiveG-S-TMSI")
        for one in parts(value, name)
    }


def slices_of(value: Tree) -> set[tuple[int, str]]:
    return {(one["sST"][0], one["sD"].hex()) for one in parts(value, "s-NSSAI")}


def test_pycrate_decodes_what_the_sample_sends_and_finds_in_it_what_we_do(tmp_path: Path) -> None:
    pytest.importorskip("pycrate_asn1dir", reason="pycrate is not installed")
    path = tmp_path / "few.pcapng"
    write_sample(path, subscribers=11)  # two of them are handed over, two are ciphered
    oracle, found_ends, found_names, split = Oracle(), 0, 0, 0
    messages = dict.fromkeys(
        (int.from_bytes(value[8:12]), value[12:])
        for packet in packets(path.read_bytes())
        if packet.protocol == 132
        for kind, value in chunks(packet)
        if kind == 0
    )
    assert {protocol for protocol, _ in messages} == {NGAP, F1AP, E2AP}
    for protocol, data in messages:
        if (protocol, data[:2]) == OF_ANOTHER_VERSION:
            continue
        theirs = oracle.message(protocol, data)
        found = Findings()
        if protocol == F1AP:
            assert f1ap(data, found)
            split += 1
        if protocol != NGAP:
            continue
        assert ngap(data, found)
        numbers = [set(parts(theirs, name)) for name in ("RAN-UE-NGAP-ID", "AMF-UE-NGAP-ID")]
        numbers = [one | set(parts(theirs, name)) for one, name in zip(numbers, RELEASED, strict=True)]
        (context,) = found.contexts or (None,)
        assert numbers == [{context.ran_id} - {None}, {context.core_id, context.source_id} - {None}] if context else [
            set(), set()
        ]  # fmt: skip
        ends: tuple[End, ...] = context.ends if context else ()
        assert {(end.address, end.teid) for end in ends} == ends_of(theirs)
        found_ends += len(ends)
        if context is not None:
            ours = {(one.sst, one.sd) for one in (context.slice, *(end.slice for end in ends)) if one is not None}
            assert ours == slices_of(theirs)
        nas = {*parts(theirs, "NAS-PDU"), *parts(theirs, "pDUSessionNAS-PDU"), *parts(theirs, "nAS-PDU")}
        named = set().union(*(oracle.identities(one) for one in nas)) if nas else set()
        assert told(found) == named
        inside = Findings()
        assert all(nas5g(one, inside) for one in nas)
        assert inside.identities | {("s_tmsi", one) for one in temporary_of(theirs)} == found.identities
        found_names += len(named)
    # Two ends for each of ten sessions and one for each of two handovers; each visitor is named at least once.
    assert found_ends == 22
    assert found_names >= 11
    assert split >= 10


RELEASED = ("rAN-UE-NGAP-ID", "aMF-UE-NGAP-ID")
