"""The core finds itself: network functions register with the NRF and keep telling it that they live."""

from uuid import UUID

from pratique_local.sample import gtpu, pfcp
from pratique_local.sample.frames import Endpoint, send_datagram
from pratique_local.sample.lab import Lab
from pratique_local.sample.topology import EDGE_UPF_IP, FUNCTIONS, SITES, SMF_IP, UPF_IP, FunctionName
from pratique_local.sample.wire import START_US, Steps

_SERVICES: dict[FunctionName, str] = {
    "AMF": "namf-comm",
    "SMF": "nsmf-pdusession",
    "AUSF": "nausf-auth",
    "UDM": "nudm-sdm",
    "PCF": "npcf-smpolicycontrol",
    "NSSF": "nnssf-nsselection",
    "NEF": "nnef-pfdmanagement",
}
_STARTED_US = START_US - 86_400_000_000


def start(lab: Lab) -> None:
    """Start every core function and the links between them."""
    for number, function in enumerate(_SERVICES):
        lab.wire.start(_live(lab, function), after=0.05 + 0.11 * number)
    for number, upf in enumerate((UPF_IP, EDGE_UPF_IP)):
        lab.wire.start(_steer(lab, upf), after=0.4 + 0.2 * number)
    lab.wire.start(_probe(lab), after=200)
    for site in SITES:
        lab.wire.start(_paths(lab, site.ip, site.upf), after=20 + site.cell.gnb)


def _live(lab: Lab, function: FunctionName) -> Steps:
    ident = str(UUID(int=lab.chance.getrandbits(128), version=4))
    resource = f"/nnrf-nfm/v1/nf-instances/{ident}"
    address = FUNCTIONS[function]
    service = {
        "serviceInstanceId": "0",
        "serviceName": _SERVICES[function],
        "versions": [{"apiVersionInUri": "v1", "apiFullVersion": "1.0.0"}],
        "scheme": "http",
        "nfServiceStatus": "REGISTERED",
        "ipEndPoints": [{"ipv4Address": address.ip, "port": address.port}],
    }
    profile: dict[str, object] = {
        "nfInstanceId": ident,
        "nfType": function,
        "nfStatus": "REGISTERED",
        "heartBeatTimer": 120,
        "plmnList": [{"mcc": "001", "mnc": "01"}],
        "ipv4Addresses": [address.ip],
        "nfServices": [service],
    }
    yield from lab.call(function, "NRF", f"PUT {resource}", profile, status=201, answer=profile)
    for _ in range(5):
        yield 120
        yield from lab.call(function, "NRF", f"PATCH {resource}", {"nfStatus": "REGISTERED"}, status=204)


def _steer(lab: Lab, upf: str) -> Steps:
    smf, peer = Endpoint(SMF_IP, pfcp.PORT), Endpoint(upf, pfcp.PORT)
    sequence = lab.next("pfcp")
    send_datagram(lab.wire.carry, smf, peer, pfcp.association(sequence, SMF_IP, _STARTED_US, answer=False))
    yield 0.004
    send_datagram(lab.wire.carry, peer, smf, pfcp.association(sequence, upf, _STARTED_US, answer=True))
    for _ in range(14):
        yield 45
        sequence = lab.next("pfcp")
        send_datagram(lab.wire.carry, smf, peer, pfcp.heartbeat(sequence, _STARTED_US, answer=False))
        yield 0.002
        send_datagram(lab.wire.carry, peer, smf, pfcp.heartbeat(sequence, _STARTED_US, answer=True))


def _probe(lab: Lab) -> Steps:
    for _ in range(2):
        lab.ping()
        yield 250


def _paths(lab: Lab, gnb: str, upf: str) -> Steps:
    here, there = Endpoint(gnb, gtpu.PORT), Endpoint(upf, gtpu.PORT)
    for sequence in range(1, 6):
        send_datagram(lab.wire.carry, here, there, gtpu.echo(sequence, answer=False))
        yield 0.001
        send_datagram(lab.wire.carry, there, here, gtpu.echo(sequence, answer=True))
        yield 60
