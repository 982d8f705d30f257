"""Dissection: from the transport header of a datagram to the protocols that it carries."""

from collections.abc import Callable
from typing import NamedTuple

from pratique_ingest.capture.link import IPV4, IPV6, TRANSPARENT_ETHERNET, ethertype
from pratique_ingest.capture.network import SCTP, TCP, UDP, Datagram, datagram, sound, whole_datagram
from pratique_ingest.capture.reassembly import Fragments, Messages
from pratique_ingest.capture.transport import Segment, sctp_chunks, tcp, udp, whole_messages
from pratique_ingest.protocols import gtp
from pratique_ingest.protocols.ciphering import Association, Ciphers
from pratique_ingest.protocols.diameter import diameter
from pratique_ingest.protocols.e2ap import e2ap
from pratique_ingest.protocols.findings import Findings, Sign
from pratique_ingest.protocols.names import answers, is_dns, is_ecpri, keeps_time
from pratique_ingest.protocols.ngap import ngap
from pratique_ingest.protocols.pfcp import pfcp
from pratique_ingest.protocols.radius import radius
from pratique_ingest.protocols.ran import e1ap, f1ap, x2ap, xnap
from pratique_ingest.protocols.s1ap import s1ap
from pratique_ingest.protocols.services import CORE_SIGNS, IP_PROTOCOLS, SHAPED, STANDARD, Ports
from pratique_ingest.protocols.sip import sip

Decoder = Callable[[bytes, Findings], bool]


class Held(NamedTuple):
    """A TCP segment, innermost of its frame, whose connection is asked only when its turn in the capture has come."""

    source: bytes
    destination: bytes
    segment: Segment
    found: Findings


# What is tried for a protocol that a port or identifier stands for. X2AP and E2AP share ports, identifiers and shape:
# their elements decide.
DECODERS: dict[str, tuple[Decoder, ...]] = {
    "s1ap": (s1ap,), "ngap": (ngap,), "xnap": (xnap,), "f1ap": (f1ap,), "e1ap": (e1ap,), "diameter": (diameter,),
    "e2ap": (e2ap, x2ap), "x2ap": (e2ap, x2ap),
}  # fmt: skip
# SCTP's payload protocol identifiers (IANA).
PAYLOAD_PROTOCOLS = {
    18: "s1ap", 27: "x2ap", 46: "diameter", 47: "diameter", 60: "ngap", 61: "xnap", 62: "f1ap", 64: "e1ap", 70: "e2ap",
    71: "e2ap", 72: "e2ap",
}  # fmt: skip
GRE, IP_IN_IP, IPV6_IN_IP = 47, 4, 41
ERSPAN, ERSPAN_III = 0x88BE, 0x22EB
# Tunnels within tunnels that are followed for inner addresses and identifiers; three have been seen.
MAX_TUNNELS = 6
GTPC_MESSAGE = 48  # the name of GTP-C is that of the user plane too, whose bytes are no effort


def _teredo(payload: bytes) -> bytes:
    """Return the packet behind the indicators of authentication and origin, if they are there (RFC 4380, 5.1.1)."""
    if payload[:2] == b"\0\1" and len(payload) > 4:
        payload = payload[4 + payload[2] + payload[3] + 9 :]
    return payload[8:] if payload[:2] == b"\0\0" else payload


def _erspan(data: bytes, kind: int, at: int) -> int:
    """Return the size of an ERSPAN header (draft-foschiano-erspan): type I has none, and no sequence number in its GRE.

    Type III may have eight bytes more of the platform, as its last bit says.
    """
    if kind == ERSPAN_III:
        return 20 if data[at + 11 : at + 12] and data[at + 11] & 1 else 12
    return 8 if data[0] & 0x10 else 0


def _decode(by_port: tuple[Decoder, ...], protocol: int, payload: bytes, found: Findings) -> None:
    """Let the decoders try a message of SCTP, until one reads it.

    Those of the ports go first: laboratories send the identifier of another protocol more often than they move one
    protocol to the port of another.
    """
    by_protocol = DECODERS.get(PAYLOAD_PROTOCOLS.get(protocol, ""), ())
    found.messages += 1
    for decode in by_port if by_port == by_protocol else dict.fromkeys(by_port + by_protocol):
        if decode(payload, found):
            break


class Dissector:
    """Decoders behind the transports, with the bounded memory that fragments and streams need."""

    def __init__(self, ports: Ports = STANDARD) -> None:
        self._ports = ports
        self._fragments = Fragments()
        self._messages = Messages()
        self._ciphers = Ciphers()
        self._held: Held | None = None

    def outermost(self, header: Datagram, frame: bytes, found: Findings) -> Held | None:
        """Add to `found` what a frame carries; a TCP segment in it is returned, for the flows to read."""
        self._held = None
        self.dissect(header, frame, found)
        return self._held

    @property
    def given_up(self) -> int:
        """How many fragments of datagrams and messages have waited in vain for the others."""
        return self._fragments.given_up + self._messages.given_up

    def dissect(self, header: Datagram, frame: bytes, found: Findings, depth: int = 0) -> None:
        """Add to `found` what the datagram carries."""
        name = IP_PROTOCOLS.get(header.protocol)
        if name:
            found.protocols.add(name)
        data = frame[header.start : header.end]
        if header.part:
            whole = self._fragments.add(header, data)
            if whole is None:
                return
            header, data = whole_datagram(header, whole)
            if header.protocol in IP_PROTOCOLS:
                found.protocols.add(IP_PROTOCOLS[header.protocol])
        self._transport(header, data, found, depth)

    def _transport(self, header: Datagram, data: bytes, found: Findings, depth: int) -> None:
        if header.protocol == TCP:
            segment = tcp(data, header.missing)
            if segment is not None:
                self._held = Held(header.source, header.destination, segment, found)
        elif header.protocol == UDP:
            segment = udp(data)
            if segment is not None:
                self._datagram(header, segment, found, depth)
        elif header.protocol == SCTP:
            self._sctp(header, data, found)
        elif header.protocol in (IP_IN_IP, IPV6_IN_IP):
            if sound(data):
                self._inner(data, found, depth)
        elif header.protocol == GRE:
            self._gre(data, found, depth)

    def _sctp(self, header: Datagram, data: bytes, found: Findings) -> None:
        if len(data) < 12:
            return
        source, destination = data[0] << 8 | data[1], data[2] << 8 | data[3]
        near, far = self._ports.sctp.get(source, ""), self._ports.sctp.get(destination, "")
        if far in CORE_SIGNS:
            found.receiver.add(CORE_SIGNS[far])
        if near in CORE_SIGNS:
            found.sender.add(CORE_SIGNS[near])
        decoders = DECODERS.get(far, ()) + DECODERS.get(near, ())
        found.association = Association(header.source + data[:2], header.destination + data[2:4], self._ciphers)
        messages = whole_messages(data)
        if messages is not None:
            for protocol, payload in messages:
                _decode(decoders, protocol, payload, found)
            return
        association = header.source + header.destination + data[:4]
        for chunk in sctp_chunks(data):
            message = self._messages.add(association, chunk)
            if message is not None:
                _decode(decoders, message.protocol, message.payload, found)

    def _datagram(self, header: Datagram, segment: Segment, found: Findings, depth: int) -> None:
        payload, ports = segment.payload, self._ports
        if not payload:
            return
        near, far = ports.udp.get(segment.source_port, ""), ports.udp.get(segment.destination_port, "")
        if self._mobile((near, far), segment, found, depth):
            return
        if "dns" in (near, far):
            if is_dns(payload):
                found.protocols.add("dns")
                if answers(payload) and near == "dns":
                    found.sender.add(Sign.DNS_SERVER)
            return
        name = far or near
        if name and name not in SHAPED:
            found.protocols.add(name)
            if name == "sip":
                sip(payload, found)
        self._tunnel(header, (near, far), payload, found, depth)
        sign = ports.serving.get(("udp", segment.source_port))
        if sign is not None and (near != "ntp" or keeps_time(payload)):
            found.sender.add(sign)

    def _mobile(self, ends: tuple[str, str], segment: Segment, found: Findings, depth: int) -> bool:
        """Try the decoders of the mobile network's UDP ports; True when one took the payload."""
        payload = segment.payload
        if "gtp-u" in ends:
            carried = gtp.user_plane(payload, segment.missing)
            if carried is None or not (carried.exact or sound(carried.packet)):
                return False
            found.protocols.add("gtp")
            found.teid = carried.teid
            found.signs(Sign.GTPU_PORT, Sign.GTPU_PORT)
            if carried.uplink is not None:
                uplink = (Sign.GTPU_UPLINK, Sign.GTPU_DOWNLINK)
                found.signs(*(uplink if carried.uplink else uplink[::-1]))
            self._inner(carried.packet, found, depth, carried.uplink)
            return True
        if "gtp-c" in ends and gtp.control_plane(payload, found):
            found.messages += len(payload) // GTPC_MESSAGE
            found.signs(Sign.GTPC_PORT, Sign.GTPC_PORT)
            return True
        if "pfcp" in ends and pfcp(payload, found, segment.missing):
            found.signs(Sign.PFCP_PORT, Sign.PFCP_PORT)
            return True
        if "gtp-prime" in ends and gtp.charging(payload, segment.missing):
            found.protocols.add("gtp")
            return True
        if "ecpri" in ends and is_ecpri(payload, segment.missing):
            found.protocols.add("ecpri")
            return True
        return "radius" in ends and radius(payload, found)

    def _tunnel(self, header: Datagram, ends: tuple[str, str], payload: bytes, found: Findings, depth: int) -> None:
        if "teredo" in ends:
            inner = _teredo(payload)
            if sound(inner):
                self._inner(inner, found, depth)
        elif "sctp" in ends:
            if next(sctp_chunks(payload), None) is not None:
                found.protocols.add("sctp")
                self._sctp(header, payload, found)
        elif ends[1] == "vxlan":
            self._ethernet(payload, TRANSPARENT_ETHERNET, 8, found, depth)
        elif ends[1] == "geneve" and len(payload) > 8:
            self._ethernet(payload, payload[2] << 8 | payload[3], 8 + (payload[0] & 0x3F) * 4, found, depth)

    def _gre(self, data: bytes, found: Findings, depth: int) -> None:
        """Pass a GRE header (RFC 2784, 2890; version 1 is PPTP's): checksum, key and sequence are optional words."""
        if len(data) < 4 or data[1] & 7 > 1:
            return
        words = sum(bool(data[0] & bit) for bit in (0x80, 0x20, 0x10)) + (data[1] >> 7)
        kind = data[2] << 8 | data[3]
        start = 4 + words * 4
        if kind in (ERSPAN, ERSPAN_III):
            start += _erspan(data, kind, start)
            kind = TRANSPARENT_ETHERNET
        self._ethernet(data, kind, start, found, depth)

    def _ethernet(self, data: bytes, kind: int, at: int, found: Findings, depth: int) -> None:
        try:
            place = ethertype(data, kind, at)
        except IndexError:
            return
        if place.version:
            self._inner(data[place.offset :], found, depth)

    def _inner(self, packet: bytes, found: Findings, depth: int, uplink: bool | None = None) -> None:
        """Keep the addresses of a tunnelled packet apart, and read on for identifiers: only those are the host's."""
        if not packet or packet[0] >> 4 not in (IPV4, IPV6):
            return
        if depth >= MAX_TUNNELS:
            found.troubles.append("too-deep")
            return
        header = datagram(packet[0] >> 4, packet, 0, len(packet))
        if header is None:
            return
        found.inner.update((header.source, header.destination))
        if uplink is not None:
            found.subscribers.add(header.source if uplink else header.destination)
        inside = Findings(
            identities=found.identities, inner=found.inner, subscribers=found.subscribers, troubles=found.troubles
        )
        self.dissect(header, packet, inside, depth + 1)
        found.messages += inside.messages
