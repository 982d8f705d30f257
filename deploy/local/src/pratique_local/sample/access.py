"""The radio side comes up: gNBs at the AMF, distributed at central units, E2 nodes at the Near-RT RIC."""

from pratique_local.sample import e2ap, f1ap, ngap
from pratique_local.sample.frames import Endpoint
from pratique_local.sample.lab import Lab
from pratique_local.sample.sctp import Association, PayloadProtocol
from pratique_local.sample.topology import AMF_N2, E2_NODES, RIC, SITES, SPARE_UNITS, Site
from pratique_local.sample.wire import Steps


def start(lab: Lab) -> None:
    """Start every gNB, distributed unit and E2 node; phones can come after ten seconds."""
    for number, site in enumerate(SITES):
        lab.wire.start(_gnb(lab, site), after=2 + 0.3 * number)
        if site.distributed is not None:
            lab.wire.start(_unit(lab, site.distributed, site.ip, number), after=4 + 0.3 * number)
    for number, (unit, central) in enumerate(SPARE_UNITS.items()):
        lab.wire.start(_unit(lab, unit, central, 20 + number), after=6 + 0.3 * number)
    for number, (ip, gnb) in enumerate(E2_NODES.items()):
        lab.wire.start(_node(lab, ip, gnb), after=8 + 0.7 * number)


def _beat(association: Association, times: int) -> Steps:
    for _ in range(times):
        yield 90
        association.acknowledge(association.client)
        association.acknowledge(association.server)
        association.heartbeat(association.client)


def _gnb(lab: Lab, site: Site) -> Steps:
    n2 = lab.associate(site.ip, AMF_N2, PayloadProtocol.NGAP)
    yield 0.01
    n2.send(n2.client, ngap.setup_request(site.cell, site.name, lab.slices))
    yield 0.02
    n2.send(n2.server, ngap.setup_response("amf-lab", lab.slices))
    lab.n2[site.ip] = n2
    yield 0.2
    n2.acknowledge(n2.client)
    yield from _beat(n2, 7)


def _unit(lab: Lab, unit: str, central: str, number: int) -> Steps:
    f1 = lab.associate(unit, Endpoint(central, f1ap.PORT), PayloadProtocol.F1AP)
    yield 0.01
    f1.send(f1.client, f1ap.setup_request(number, 0xE00 + number, f"du-{number:04d}"))
    yield 0.02
    f1.send(f1.server, f1ap.setup_response(number, f"cu-{central.rpartition('.')[2]}"))
    lab.f1[unit] = f1
    yield 0.2
    f1.acknowledge(f1.client)
    yield from _beat(f1, 6)


def _node(lab: Lab, ip: str, gnb: int) -> Steps:
    e2 = lab.associate(ip, RIC, PayloadProtocol.E2AP)
    yield 0.01
    e2.send(e2.client, e2ap.setup_request(gnb))
    yield 0.03
    e2.send(e2.server, e2ap.setup_response(0x00ABC))
    yield 1
    e2.acknowledge(e2.client)
    e2.send(e2.server, e2ap.subscription_request(100, gnb))
    yield 0.02
    e2.send(e2.client, e2ap.subscription_response(100, gnb))
    for sequence in range(1, 16):
        yield 45
        e2.send(e2.client, e2ap.report(100, gnb, sequence, lab.chance.randint(1, 9)))
        yield 0.1
        e2.acknowledge(e2.server)
