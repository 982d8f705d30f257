"""Dissection: from the transport header of a datagram to the protocols that it carries."""

from collections.abc import Callable
from typing import NamedTuple

from pratique_ingest.capture.link import IPV4, IPV6, TRANSPARENT_ETHERNET, ethertype
from pratique_ingest.capture.network import SCTP, TCP, UDP, Datagram, datagram, sound, whole_datagram
from pratique_ingest.capture.reassembly import Fragments, Messages
from pratique_ingest.capture.transport import Segment, sctp_chunks, tcp, udp, whole_messages
from pratique_ingest.protocols import gtp
from pratique_ingest.protocols.diameter import diameter
from pratique_ingest.protocols.e2ap import e2ap
from pratique_ingest.protocols.findings import Findings, Sign
from pratique_ingest.protocols.names import answers, is_dns, keeps_time
from pratique_ingest.protocols.ngap import ngap
from pratique_ingest.protocols.pfcp import pfcp
from pratique_ingest.protocols.ran import e1ap, f1ap, x2ap, xnap
from pratique_ingest.protocols.s1ap import s1ap
from pratique_ingest.protocols.services import IP_PROTOCOLS, SERVER_SIGNS, UDP_PORTS
from pratique_ingest.protocols.sip import sip

Decoder = Callable[[bytes, Findings], bool]


class Held(NamedTuple):
    """A TCP segment, innermost of its frame, whose connection is asked only when its turn in the capture has come."""

    source: bytes
    destination: bytes
    segment: Segment
    found: Findings


# SCTP's payload protocol identifiers, and its ports for stacks that send zero (IANA).
BY_PAYLOAD_PROTOCOL: dict[int, tuple[Decoder, ...]] = {
    18: (s1ap,), 27: (e2ap, x2ap), 46: (diameter,), 47: (diameter,), 60: (ngap,), 61: (xnap,), 62: (f1ap,), 64: (e1ap,),
    70: (e2ap,), 71: (e2ap,), 72: (e2ap,),
}  # fmt: skip
BY_SCTP_PORT: dict[int, tuple[Decoder, ...]] = {
    36412: (s1ap,), 36421: (e2ap,), 36422: (e2ap, x2ap), 37464: (e2ap,), 38412: (ngap,), 38422: (xnap,), 38462: (e1ap,),
    38472: (f1ap,), 3868: (diameter,),
}  # fmt: skip
PORT_SIGNS = {38412: Sign.NGAP_PORT, 36412: Sign.S1AP_PORT}
GTPC, GTPU, PFCP, DNS, NTP, TEREDO, VXLAN, GENEVE = 2123, 2152, 8805, 53, 123, 3544, 4789, 6081
SCTP_OVER_UDP = 9899  # RFC 6951, 5.1
GRE, IP_IN_IP, IPV6_IN_IP = 47, 4, 41
# Tunnels within tunnels that are followed for inner addresses and identifiers; three have been seen.
MAX_TUNNELS = 6
GTPC_MESSAGE = 48  # the name of GTP-C is that of the user plane too, whose bytes are no effort


def _teredo(payload: bytes) -> bytes:
    """Return the packet behind the indicators of authentication and origin, if they are there (RFC 4380, 5.1.1)."""
    if payload[:2] == b"\0\1" and len(payload) > 4:
        payload = payload[4 + payload[2] + payload[3] + 9 :]
    return payload[8:] if payload[:2] == b"\0\0" else payload


def _decode(ports: tuple[int, int], protocol: int, payload: bytes, found: Findings) -> None:
    """Let the decoders try a message of SCTP, until one reads it.

    A well-known port goes first: laboratories send the identifier of another protocol more often than they move one
    protocol to the port of another.
    """
    source, destination = ports
    by_port = BY_SCTP_PORT.get(destination, ()) + BY_SCTP_PORT.get(source, ())
    by_protocol = BY_PAYLOAD_PROTOCOL.get(protocol, ())
    found.messages += 1
    for decode in by_port if by_port == by_protocol else dict.fromkeys(by_port + by_protocol):
        if decode(payload, found):
            break


class Dissector:
    """Decoders behind the transports, with the bounded memory that fragments and streams need."""

    def __init__(self) -> None:
        self._fragments = Fragments()
        self._messages = Messages()
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
            segment = tcp(data)
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
        if destination in PORT_SIGNS:
            found.receiver.add(PORT_SIGNS[destination])
        if source in PORT_SIGNS:
            found.sender.add(PORT_SIGNS[source])
        messages = whole_messages(data)
        if messages is not None:
            for protocol, payload in messages:
                _decode((source, destination), protocol, payload, found)
            return
        association = header.source + header.destination + data[:4]
        for chunk in sctp_chunks(data):
            message = self._messages.add(association, chunk)
            if message is not None:
                _decode((source, destination), message.protocol, message.payload, found)

    def _datagram(self, header: Datagram, segment: Segment, found: Findings, depth: int) -> None:
        source, destination, payload = segment.source_port, segment.destination_port, segment.payload
        if not payload:
            return
        port = destination if destination in UDP_PORTS else source
        if self._mobile(segment, found, depth):
            return
        if DNS in (source, destination):
            if is_dns(payload):
                found.protocols.add("dns")
                if answers(payload) and source == DNS:
                    found.sender.add(Sign.DNS_SERVER)
            return
        name = UDP_PORTS.get(port)
        if name and port not in (GTPC, GTPU, PFCP):
            found.protocols.add(name)
            if name == "sip":
                sip(payload, found)
        self._tunnel(header, segment, found, depth)
        sign = SERVER_SIGNS.get(("udp", source))
        if sign is not None and (source != NTP or keeps_time(payload)):
            found.sender.add(sign)

    def _mobile(self, segment: Segment, found: Findings, depth: int) -> bool:
        """Try the decoders of the mobile core's UDP ports; True when one took the payload."""
        ports, payload = (segment.source_port, segment.destination_port), segment.payload
        if GTPU in ports:
            carried = gtp.user_plane(payload, segment.missing)
            if carried is None or not (carried.exact or sound(carried.packet)):
                return False
            found.protocols.add("gtp")
            found.signs(Sign.GTPU_PORT, Sign.GTPU_PORT)
            if carried.uplink is not None:
                uplink = (Sign.GTPU_UPLINK, Sign.GTPU_DOWNLINK)
                found.signs(*(uplink if carried.uplink else uplink[::-1]))
            self._inner(carried.packet, found, depth, carried.uplink)
            return True
        if GTPC in ports and gtp.control_plane(payload, found):
            found.messages += len(payload) // GTPC_MESSAGE
            found.signs(Sign.GTPC_PORT, Sign.GTPC_PORT)
            return True
        if PFCP in ports and pfcp(payload, found, segment.missing):
            found.signs(Sign.PFCP_PORT, Sign.PFCP_PORT)
            return True
        return False

    def _tunnel(self, header: Datagram, segment: Segment, found: Findings, depth: int) -> None:
        source, destination, payload = segment.source_port, segment.destination_port, segment.payload
        if TEREDO in (source, destination):
            inner = _teredo(payload)
            if sound(inner):
                self._inner(inner, found, depth)
        elif SCTP_OVER_UDP in (source, destination):
            if next(sctp_chunks(payload), None) is not None:
                found.protocols.add("sctp")
                self._sctp(header, payload, found)
        elif destination == VXLAN:
            self._ethernet(payload, TRANSPARENT_ETHERNET, 8, found, depth)
        elif destination == GENEVE and len(payload) > 8:
            self._ethernet(payload, payload[2] << 8 | payload[3], 8 + (payload[0] & 0x3F) * 4, found, depth)

    def _gre(self, data: bytes, found: Findings, depth: int) -> None:
        """Pass a GRE header (RFC 2784, 2890; version 1 is PPTP's): checksum, key and sequence are optional words."""
        if len(data) < 4 or data[1] & 7 > 1:
            return
        words = sum(bool(data[0] & bit) for bit in (0x80, 0x20, 0x10)) + (data[1] >> 7)
        kind = data[2] << 8 | data[3]
        start = 4 + words * 4
        if kind in (
            0x88BE,
            0x22EB,
        ):  # ERSPAN types II and III, with their own headers unless there is no sequence number
            start += (8 if kind == 0x88BE else 12) if data[0] & 0x10 else 0
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
