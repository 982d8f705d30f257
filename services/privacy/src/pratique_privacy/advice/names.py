"""What the name of a column says about it: one table of rules, the first that fits decides."""

from dataclasses import dataclass

from pratique_privacy.policy.words import words_of
from pratique_shared.contracts.attributes import ColumnClass


@dataclass(frozen=True)
class NameRule:
    """Columns whose name holds one of `phrases`, each one or more whole words, are of this class."""

    name: str
    suggested: ColumnClass
    phrases: str
    reason: str


# Whole names come before words inside a name: `protocol_count` is no list of protocols.
EXACT = (
    NameRule("role-evidence", "drop", "role_evidence", "its frame counts are nearly one of a kind"),
    NameRule("role-list", "drop", "roles", "it repeats the role in detail, and rare combinations single hosts out"),
    NameRule("protocol-packets", "drop", "protocol_packets", "exact counts for each protocol are a fingerprint"),
    NameRule("traffic-volume", "drop", "packets, bytes, octets, frames", "an exact volume is a fingerprint: keep it "
             "only binned, as an insensitive column"),
    NameRule("sighting", "drop", "first_seen, last_seen", "an exact instant is a fingerprint: keep it only in time "
             "buckets, as a quasi-identifier"),
    NameRule("tunnelled-address", "drop", "inner_addresses, inner_address", "addresses of user equipment inside a "
             "tunnel point at subscribers, and their combination at the host"),
    NameRule("behaviour-count", "quasi_identifier", "protocol_count, peer_count", "whoever watches the network can "
             "count it"),
    NameRule("protocol-set", "sensitive", "protocols, protocol", "the protocols say what a host does"),
    NameRule("pilot", "insensitive", "pilot", "it names the network that the records come from, and chooses the keys"),
    NameRule("row-key", "identifier", "id, uid, key, index, row, record", "it numbers the records: beside another "
             "table it names its subject"),
)  # fmt: skip

WORDS = (
    NameRule("subscriber-identifier", "identifier", "imsi, supi, suci, guti, tmsi, msin, msisdn, gpsi, subscriber, "
             "iccid, ue id", "it names a subscription (3GPP TS 23.003)"),
    NameRule("equipment-identifier", "identifier", "imei, imeisv, pei, mac, serial, uuid, guid, hostname, host name, "
             "device id, vin, plate", "it names one device"),
    NameRule("personal-identifier", "identifier", "email, e mail, mail, phone, telephone, account, username, user, "
             "login, customer, driver, first name, last name, surname, full name, passport, ssn, iban",
             "it names a person or an account"),
    NameRule("card-identifier", "identifier", "id tag, idtag, tag id, rfid, emaid, card, badge, contract",
             "it names a card or a contract, and so its holder"),
    NameRule("event-key", "identifier", "session id, transaction id, record id, row id, order id, ticket id, call id",
             "it numbers one event: beside another table it names its subject"),
    NameRule("slice", "sensitive", "sd, snssai, slice", "the slice says what service a subscriber uses "
             "(3GPP TS 23.003, 28.4)"),
    NameRule("consumption", "sensitive", "kwh, energy, consumption", "how much somebody consumes tells of their life"),
    NameRule("meter-reading", "drop", "wh, meter", "a meter's standing is a fingerprint, and two of them give the "
             "consumption away"),
    NameRule("health", "sensitive", "diagnosis, disease, condition, medication, treatment", "it is health data"),
    NameRule("personal-matter", "sensitive", "salary, income, religion, ethnicity, party, union",
             "it is a matter that people keep to themselves"),
    NameRule("use-of-service", "sensitive", "dnn, apn, url, sni, domain, application, service, content",
             "it says what a subject uses"),
    NameRule("network-address", "quasi_identifier", "ip, ipv4, ipv6, addr, address, addresses, subnet, prefix",
             "an address is known outside the table"),
    NameRule("place", "quasi_identifier", "station, chargepoint, charge point, charger, evse, connector, site, "
             "location, latitude, longitude, lat, lon, zip, postcode, city, country, region, cell, tac, sector",
             "the place of an event can be observed"),
    NameRule("network-node", "quasi_identifier", "gnb, enb, amf, mme, smf, upf, ric, plmn, mcc, mnc, vlan, port",
             "where a subject is attached can be observed"),
    NameRule("service-type", "quasi_identifier", "sst", "the kind of service shows in the kind of device "
             "(3GPP TS 23.501, 5.15)"),
    NameRule("time", "quasi_identifier", "time, timestamp, date, window, hour, day, month, year",
             "the time of an event can be observed"),
    NameRule("function", "quasi_identifier", "role, vendor, manufacturer, model", "what a device is for is known "
             "to those who run it or watch it"),
    NameRule("person-trait", "quasi_identifier", "age, sex, gender, birth, birthdate, dob, occupation, job",
             "it is known to others and singles people out together with place and time"),
    NameRule("outcome", "insensitive", "status, outcome", "an outcome code is neither known outside nor private"),
)  # fmt: skip


def rule_of(name: str) -> NameRule | None:
    """Return the first rule that fits a name: as a whole, else by whole words in it; `srcIp` has the word ip."""
    told = [f" {' '.join(words)} " for words in words_of(name)]
    whole = [spelling.strip() for spelling in told]
    for rule in EXACT:
        if any(phrase.replace("_", " ") in whole for phrase in rule.phrases.split(", ")):
            return rule
    for rule in WORDS:
        if any(f" {phrase} " in spelling for spelling in told for phrase in rule.phrases.split(", ")):
            return rule
    return None
