"""A registration: arrival, authentication, null ciphering, a new 5G-GUTI (3GPP TS 23.502 §4.2.2.2)."""

from pratique_local.sample import f1ap, nas, ngap
from pratique_local.sample.lab import Body
from pratique_local.sample.phone import RADIO_S, Phone
from pratique_local.sample.sctp import Association
from pratique_local.sample.subscribers import Concealment, guti_text
from pratique_local.sample.wire import Steps

_NETWORK = "5G:mnc001.mcc001.3gppnetwork.org"


def register(phone: Phone) -> Steps:
    """Take a phone from its first message to its registration."""
    yield from _arrive(phone)
    if phone.subscriber.concealment is not Concealment.GUTI:
        yield from _authenticate(phone)
        yield from _secure(phone)
    yield from _enrol(phone)
    yield from _accept(phone)


def _arrive(phone: Phone) -> Steps:
    who, saw = phone.subscriber, phone.lab.ledger.saw
    tmsi = None
    if who.concealment in {Concealment.GUTI, Concealment.LOST_GUTI}:
        first, tmsi = nas.returning_request(who, phone.code()), who.old_tmsi
        saw("guti", guti_text(who.old_tmsi))
        phone.said(guti_text(who.old_tmsi))
    else:
        first = nas.registration_request(who)
        _concealed(phone)
    if phone.f1 is not None:
        yield from _connect(phone, phone.f1, first)
    phone.from_gnb(ngap.initial_ue_message(phone.pair.ran, phone.site.cell, first, tmsi, reduced=who.reduced))
    yield 0.01
    if who.concealment is Concealment.LOST_GUTI:
        phone.down(nas.identity_request())
        yield RADIO_S
        phone.up(nas.identity_response(who))
        _concealed(phone)
        yield 0.01


def _concealed(phone: Phone) -> None:
    """Note that the SUCI was sent: under the null scheme it is the IMSI."""
    who = phone.subscriber
    phone.lab.ledger.saw("suci", who.suci)
    if who.concealment is Concealment.ECIES:
        phone.said(who.suci)
    else:
        phone.said(who.imsi, permanent=True)


def _connect(phone: Phone, f1: Association, first: bytes) -> Steps:
    chance, name = phone.lab.chance, phone.pair.ran
    rnti = chance.randint(0x1000, 0xFFF0)
    f1.send(f1.client, f1ap.initial_uplink(name, phone.site.cell.gnb, rnti, chance.getrandbits(39)))
    yield 0.003
    f1.send(f1.server, f1ap.downlink(name, name))
    yield RADIO_S
    f1.send(f1.client, f1ap.uplink(name, name, first))
    yield 0.001


def _authenticate(phone: Phone) -> Steps:
    lab, who, chance = phone.lab, phone.subscriber, phone.lab.chance
    rand, autn, res = chance.randbytes(16), chance.randbytes(16), chance.randbytes(16)
    vector: Body = {"rand": rand.hex(), "autn": autn.hex(), "hxresStar": chance.randbytes(16).hex()}
    yield from _fetch_vector(phone, vector)
    phone.down(nas.authentication_request(rand, autn))
    yield RADIO_S
    phone.up(nas.authentication_response(res))
    yield 0.002
    confirmed: Body = {"authResult": "AUTHENTICATION_SUCCESS", "supi": f"imsi-{who.imsi}"}
    path = f"PUT {_context(phone)}/5g-aka-confirmation"
    yield from lab.call("AMF", "AUSF", path, {"resStar": res.hex()}, answer=confirmed)
    lab.ledger.saw("imsi", who.imsi)


def _context(phone: Phone) -> str:
    return f"/nausf-auth/v1/ue-authentications/{phone.subscriber.number}"


def _fetch_vector(phone: Phone, vector: Body) -> Steps:
    lab, who = phone.lab, phone.subscriber
    path = f"POST /nudm-ueau/v1/{who.suci}/security-information/generate-auth-data"
    ask: Body = {"servingNetworkName": _NETWORK, "ausfInstanceId": "a1b2c3d4-0000-4000-8000-000000000012"}
    give: Body = {"authType": "5G_AKA", "authenticationVector": vector, "supi": f"imsi-{who.imsi}"}
    wanted: Body = {"supiOrSuci": who.suci, "servingNetworkName": _NETWORK}
    granted: Body = {"authType": "5G_AKA", "5gAuthData": vector, "_links": {"5g-aka": {"href": _context(phone)}}}
    outer = lab.call("AMF", "AUSF", "POST /nausf-auth/v1/ue-authentications", wanted, status=201, answer=granted)
    yield next(outer)  # the AUSF asks the UDM before it answers the AMF
    yield from lab.call("AUSF", "UDM", path, ask, answer=give)
    yield 0.001
    yield from outer
    lab.ledger.saw("suci", who.suci)


def _secure(phone: Phone) -> Steps:
    phone.down(nas.security_mode_command(phone.code(), ciphered=phone.subscriber.ciphered))
    yield RADIO_S
    phone.up(nas.security_mode_complete(phone.subscriber, phone.code()))
    if phone.readable():
        phone.lab.ledger.saw("imei", phone.subscriber.imeisv)
    yield 0.002


def _enrol(phone: Phone) -> Steps:
    lab, who = phone.lab, phone.subscriber
    supi = f"imsi-{who.imsi}"
    access: Body = {"amfInstanceId": "a1b2c3d4-0000-4000-8000-000000000010", "ratType": "NR"}
    if who.concealment is not Concealment.GUTI:
        access["pei"] = f"imeisv-{who.imeisv}"
        lab.ledger.saw("imei", who.imeisv)
    place = f"PUT /nudm-uecm/v1/{supi}/registrations/amf-3gpp-access"
    yield from lab.call("AMF", "UDM", place, access, status=201, answer=access)
    chosen = {"sst": who.slice.sst, "sd": f"{who.slice.sd:06x}"}
    rate = {"uplink": "1 Gbps", "downlink": "2 Gbps"}
    data: Body = {"subscribedUeAmbr": rate, "nssai": {"defaultSingleNssais": [chosen]}}
    yield from lab.call("AMF", "UDM", f"GET /nudm-sdm/v2/{supi}/am-data", answer=data)
    policy: Body = {"supi": supi, "accessType": "3GPP_ACCESS", "suppFeat": "1"}
    yield from lab.call("AMF", "PCF", "POST /npcf-am-policy-control/v1/policies", policy, status=201, answer=policy)
    lab.ledger.saw("imsi", who.imsi)
    if who.number % 3 == 0:
        asked = f"GET /nudm-sdm/v2/msisdn-{who.msisdn}/id-translation-result"
        yield from lab.call("NEF", "UDM", asked, answer={"supi": supi, "gpsi": f"msisdn-{who.msisdn}"})
        lab.ledger.saw("msisdn", who.msisdn)


def _accept(phone: Phone) -> Steps:
    who = phone.subscriber
    accept = phone.sealed(nas.registration_accept(who, phone.site.cell.area, phone.code()))
    key = phone.lab.chance.randbytes(32)
    phone.from_amf(ngap.initial_context_request(phone.pair, who.slice, key, accept))
    if phone.readable():
        phone.lab.ledger.saw("guti", guti_text(who.tmsi))
        if who.concealment is Concealment.GUTI:
            phone.said(guti_text(who.tmsi))
    yield RADIO_S
    # The gNB's answer and the phone's confirmation share a packet.
    phone.up(nas.registration_complete(phone.code()), ngap.initial_context_response(phone.pair))
    yield 0.05
