"""A PDU session: set up through AMF, SMF and UPF, and let go (3GPP TS 23.502 §4.3.2.2, §4.2.2.3)."""

from collections.abc import Generator
from dataclasses import dataclass

from pratique_local.sample import nas, ngap, pfcp
from pratique_local.sample.frames import Endpoint, send_datagram
from pratique_local.sample.gtpu import Tunnel
from pratique_local.sample.lab import Body
from pratique_local.sample.phone import RADIO_S, Phone
from pratique_local.sample.subscribers import guti_text
from pratique_local.sample.topology import SMF_IP, UNSEEN_SERVER, Site
from pratique_local.sample.wire import Steps


@dataclass(frozen=True)
class Open:
    """A session that carries traffic."""

    control: pfcp.Session
    tunnel: Tunnel


def establish(phone: Phone) -> Generator[float, None, Open]:
    """Set PDU session 1 up, from the phone's wish to the last word to the UPF."""
    lab, who, upf = phone.lab, phone.subscriber, phone.site.upf
    phone.up(nas.session_request(who.slice, phone.code()))
    yield 0.004
    yield from _arrange(phone)
    number = lab.next("session")
    control = pfcp.Session(
        smf=SMF_IP,
        upf=upf,
        smf_seid=0x10_0000 + number,
        upf_seid=0x20_0000 + number,
        uplink_teid=0x0100 + number,
        address=who.address,
        dnn=who.slice.dnn,
    )
    sequence = lab.next("pfcp")
    yield from _order(phone, upf, control.establishment(sequence, who.imsi), control.established(sequence))
    downlink = (phone.site.ip, 0x8000 + phone.pair.ran)
    phone.said(who.imsi, permanent=True)
    accept = phone.sealed(nas.session_accept(who, phone.code()))
    uplink = (upf, control.uplink_teid)
    phone.from_amf(ngap.session_setup_request(phone.pair, who.slice, uplink, accept))
    yield RADIO_S
    phone.from_gnb(ngap.session_setup_response(phone.pair, downlink))
    yield 0.003
    path = f"POST /nsmf-pdusession/v1/sm-contexts/{who.number}/modify"
    yield from lab.call("AMF", "SMF", path, {"n2SmInfoType": "PDU_RES_SETUP_RSP"}, status=204)
    sequence = lab.next("pfcp")
    yield from _order(phone, upf, control.modification(sequence, *downlink), control.modified(sequence))
    tunnel = Tunnel(
        lab.wire,
        who.address,
        downlink,
        uplink,
        containers=True,
        mirrored=lambda server: server != UNSEEN_SERVER,
        carried=phone.carried,
    )
    return Open(control, tunnel)


def move(phone: Phone, session: Open, site: Site) -> Steps:
    """Hand the phone over to another gNB on the same UPF by an agreement of the gNBs (TS 23.502 §4.9.1.2)."""
    lab, source, control = phone.lab, phone.pair, session.control
    phone.move(site)
    downlink = (site.ip, 0x8000 + phone.pair.ran)
    phone.from_gnb(ngap.path_switch_request(phone.pair, source, site.cell, downlink))
    yield 0.004
    path = f"POST /nsmf-pdusession/v1/sm-contexts/{phone.subscriber.number}/modify"
    yield from lab.call("AMF", "SMF", path, {"n2SmInfoType": "PATH_SWITCH_REQ"}, status=204)
    sequence = lab.next("pfcp")
    yield from _order(phone, control.upf, control.modification(sequence, *downlink), control.modified(sequence))
    session.tunnel.access = downlink
    key = lab.chance.randbytes(32)
    phone.from_amf(ngap.path_switch_acknowledge(phone.pair, phone.subscriber.slice, key))
    yield 0.1


def rename(phone: Phone) -> Steps:
    """Give a registered phone a new 5G-GUTI (TS 23.502 §4.2.4.2)."""
    phone.down(nas.configuration_update(phone.subscriber.later_tmsi, phone.code()))
    phone.tmsi = phone.subscriber.later_tmsi
    if phone.readable():
        phone.lab.ledger.saw("guti", guti_text(phone.tmsi))
    yield RADIO_S
    phone.up(nas.configuration_updated(phone.code()))
    yield 0.05


def _arrange(phone: Phone) -> Steps:
    lab, who = phone.lab, phone.subscriber
    supi = f"imsi-{who.imsi}"
    chosen = {"sst": who.slice.sst, "sd": f"{who.slice.sd:06x}"}
    if who.number % 4 == 0:
        query = "nsi-id?nf-type=AMF&slice-info-request-for-pdu-session=true"
        path = f"GET /nnssf-nsselection/v2/network-slice-information/{query}"
        yield from lab.call("AMF", "NSSF", path, answer={"nsiInformation": {"nrfId": "http://10.10.1.5:7777/"}})
        path = "GET /nnrf-disc/v1/nf-instances?target-nf-type=SMF&requester-nf-type=AMF"
        yield from lab.call("AMF", "NRF", path, answer={"validityPeriod": 30, "nfInstances": []})
    context: Body = {"supi": supi, "pduSessionId": 1, "dnn": who.slice.dnn, "sNssai": chosen, "anType": "3GPP_ACCESS"}
    created: Body = {"pduSessionId": 1, "sNssai": chosen}
    outer = lab.call("AMF", "SMF", "POST /nsmf-pdusession/v1/sm-contexts", context, status=201, answer=created)
    yield next(outer)
    data: Body = {
        "singleNssai": chosen,
        "dnnConfigurations": {who.slice.dnn: {"sscModes": {"defaultSscMode": "SSC_MODE_1"}}},
    }
    yield from lab.call("SMF", "UDM", f"GET /nudm-sdm/v2/{supi}/sm-data", answer=data)
    policy: Body = {"supi": supi, "pduSessionId": 1, "pduSessionType": "IPV4", "dnn": who.slice.dnn}
    decision: Body = {"sessRules": {"1": {"sessRuleId": "1", "authDefQos": {"5qi": 9}}}}
    path = "POST /npcf-smpolicycontrol/v1/sm-policies"
    yield from lab.call("SMF", "PCF", path, policy, status=201, answer=decision)
    yield from outer
    lab.ledger.saw("imsi", who.imsi)


def _order(phone: Phone, upf: str, request: bytes, response: bytes) -> Steps:
    here, there = Endpoint(SMF_IP, pfcp.PORT), Endpoint(upf, pfcp.PORT)
    send_datagram(phone.lab.wire.carry, here, there, request)
    yield 0.002
    send_datagram(phone.lab.wire.carry, there, here, response)
    yield 0.001


def leave(phone: Phone, session: Open) -> Steps:
    """Deregister, release the context, end the session."""
    lab, who = phone.lab, phone.subscriber
    phone.up(nas.deregistration_request(phone.tmsi, phone.code()))
    if phone.readable():
        lab.ledger.saw("guti", guti_text(phone.tmsi))
    yield 0.004
    path = f"POST /nsmf-pdusession/v1/sm-contexts/{who.number}/release"
    yield from lab.call("AMF", "SMF", path, {"ngApCause": {"group": 2, "value": 2}}, status=204)
    sequence = lab.next("pfcp")
    control = session.control
    yield from _order(phone, control.upf, control.deletion(sequence), control.deleted(sequence))
    # Two messages of the AMF to one gNB share a packet.
    accept = ngap.downlink(phone.pair, phone.sealed(nas.deregistration_accept(phone.code())))
    phone.from_amf(accept, ngap.release_command(phone.pair))
    yield RADIO_S
    phone.from_gnb(ngap.release_complete(phone.pair))


def idle(phone: Phone) -> Steps:
    """Let a silent phone's context go; the phone stays registered."""
    yield 10
    phone.from_gnb(ngap.release_request(phone.pair))
    yield 0.005
    phone.from_amf(ngap.release_command(phone.pair))
    yield RADIO_S
    phone.from_gnb(ngap.release_complete(phone.pair))
