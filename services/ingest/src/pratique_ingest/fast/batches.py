"""Batches: the fast path over some thousand frames at a time, and the exact path for those that it cannot read.

Both must come to the same profile. What the frames add up to does not depend on their order; what does depend on it
(fragments, connections, contexts of subscribers, limits) is left to the exact path, which reads its frames in the order
of the capture.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from pratique_ingest.capture.chunks import Chunk
from pratique_ingest.capture.lanes import Places
from pratique_ingest.capture.link import Place
from pratique_ingest.capture.network import SCTP, TCP, UDP
from pratique_ingest.capture.transport import ACK, FIN, RST, SYN
from pratique_ingest.dissection import Held
from pratique_ingest.fast.connections import Connections, Segments
from pratique_ingest.fast.headers import Headers
from pratique_ingest.fast.inside import ADDRESS_SIZE, Tunnelled
from pratique_ingest.fast.meanings import (
    DNS_SENDER,
    DOWNLINK,
    NAME,
    NUMBER,
    RECEIVER,
    SENDER,
    TUNNEL,
    UNDIRECTED,
    UPLINK,
    Tables,
    tables,
)
from pratique_ingest.fast.named import ends_of
from pratique_ingest.fast.places import versions
from pratique_ingest.fast.rows import Column, Flags
from pratique_ingest.fast.tally import Group, Tally
from pratique_ingest.fast.tunnels import Carried, Ends, TunnelledFrames
from pratique_ingest.flows import TURN
from pratique_ingest.protocols.gtp import G_PDU, PDU_SESSION_CONTAINER
from pratique_ingest.protocols.names import MAX_QUESTIONS, NTP_SIZE, OPCODES
from pratique_ingest.protocols.services import EPHEMERAL, REGISTERED
from pratique_ingest.survey import Examined, Survey

# Large enough that the fixed cost of some 200 numpy calls vanishes, small enough that the columns stay in the cache.
BATCH = 16_384
VERSIONS = (4, 6)
DNS_NAME = NUMBER["dns"]
KNOWN_OPCODE = np.isin(np.arange(256) >> 3 & 15, sorted(OPCODES))


class _Part(NamedTuple):
    """TCP segments of outermost or of tunnelled packets; only the former give their frames a name."""

    segments: Segments
    port_names: Places | None


@dataclass(slots=True)
class _Batch:
    """What is known so far of each frame: its meaning, and whether the exact path must read it."""

    chunk: Chunk
    tables: Tables
    meaning: Places
    exact: Flags
    members: list[tuple[int, Places, tuple[Column, ...]]] = field(default_factory=list)
    tunnelled: list[Tunnelled] = field(default_factory=list)
    segments: dict[int, list[_Part]] = field(default_factory=lambda: {4: [], 6: []})
    ends: list[Ends] = field(default_factory=list)

    def carried(self) -> list[Ends]:
        """Return where the user's packets in GTP-U go that are counted by columns."""
        kept = [(one, np.flatnonzero(~self.exact[one.frames])) for one in self.ends]
        return [Ends(one.version, one.frames[rows], one.keys[rows]) for one, rows in kept if len(rows)]

    def groups(self) -> list[Group]:
        """Return the frames that are counted by columns."""
        groups = []
        for version, frames, addresses in self.members:
            kept = np.flatnonzero(~self.exact[frames])
            own = frames[kept]
            meanings = self.meaning[own].astype(np.uint64)
            groups.append(Group(version, own, tuple(column[kept] for column in addresses), meanings))
        return groups

    def inside(self) -> list[Tunnelled]:
        """Return what is tunnelled in those frames."""
        return [one.some(np.flatnonzero(~self.exact[one.frames])) for one in self.tunnelled]


@dataclass(frozen=True, slots=True)
class _Tunnels:
    """GTP-U payloads: headers' positions in their packets, where the inner packets are, and their direction."""

    chosen: Places
    start: Places
    limit: Places
    direction: Places


def _dns(headers: Headers, chosen: Places, room: Places, from_server: Flags) -> Places:
    """Return name and sign of what is said on port 53: see `protocols.names`."""
    at = headers.transport_at + 8
    rows = headers.rows
    flags, more = rows.byte(at + 2)[chosen], rows.byte(at + 3)[chosen]
    told = (room >= 12) & KNOWN_OPCODE[flags] & (more & 0x40 == 0) & (rows.short(at + 4)[chosen] <= MAX_QUESTIONS)
    answered = told & (flags >= 0x80) & from_server
    return np.where(told, DNS_NAME * NAME, 0) + np.where(answered, DNS_SENDER * SENDER, 0)


def _keep_time(headers: Headers, chosen: Places, room: Places) -> Flags:
    """Return which messages from port 123 are a server's: see `protocols.names`."""
    mode = headers.rows.byte(headers.transport_at + 8)[chosen] & 7
    kept: Flags = (room >= NTP_SIZE) & ((mode == 4) | (mode == 5))
    return kept


def _tunnels(headers: Headers, chosen: Places, start: Places, end: Places, missing: Places) -> tuple[_Tunnels, Places]:
    """Read the GTP-U headers of UDP payloads; return the G-PDUs among them, and the others for the exact path.

    One extension is passed, the PDU session container (TS 38.415, 5.5), which says in which direction the packet goes.
    """
    rows, at = headers.rows, headers.transport_at + 8
    flags, size = rows.byte(at)[chosen], rows.byte(at + 12)[chosen].astype(np.int64) * 4
    length, room = rows.short(at + 2)[chosen], end - start
    optional = flags & 7 > 0
    following = np.where((flags & 4 > 0) & (room > 11), rows.byte(at + 11)[chosen], 0)
    contained = optional & (following == PDU_SESSION_CONTAINER)
    after = np.where(size == 4, rows.byte(at + 15)[chosen], rows.byte(at + 19)[chosen])
    passed = ((size == 4) | (size == 8)) & (room >= 12 + size) & (after == 0)
    good = (flags >> 5 == 1) & (flags & 0x10 > 0) & (rows.byte(at + 1)[chosen] == G_PDU) & (room >= 8)
    good &= ~optional | (following == 0) | (contained & passed)
    begin = start + np.where(contained, 12 + size, np.where(optional, 12, 8))
    limit = np.minimum(start + 8 + length, end)
    good &= (begin < limit) & (8 + length == room + missing)
    direction = np.where(contained, np.where(rows.byte(at + 13)[chosen] >> 4 == 1, UPLINK, DOWNLINK), UNDIRECTED)
    return _Tunnels(chosen[good], begin[good], limit[good], direction[good]), chosen[~good]


def _outer(batch: _Batch, version: int, frames: Places, at: Places) -> None:
    """Read the outermost headers of frames of one IP version, and what their ports and first bytes say."""
    chunk = batch.chunk
    headers = Headers.read(version, chunk.buffer, at, chunk.starts[frames] + chunk.sizes[frames])
    batch.meaning[frames] = headers.protocol
    batch.exact[frames] = ~headers.plain
    udp = headers.of(UDP)
    if len(udp):
        tunnels = _udp(batch, frames, headers, udp)
        batch.ends.append(Ends.of(version, frames, headers, tunnels.chosen))
        _inner(batch, version, frames, headers, tunnels)
    tcp = headers.of(TCP)
    if len(tcp):
        _tcp(batch, version, frames, headers, tcp)
    sctp = headers.of(SCTP)
    if len(sctp):
        (source, destination), sign = headers.ports(sctp), batch.tables.sctp_sign
        batch.meaning[frames[sctp]] += sign[source] * SENDER + sign[destination] * RECEIVER
        batch.exact[frames[sctp[headers.bears(sctp)]]] = True
    batch.members.append((version, frames, headers.addresses))


def _udp(batch: _Batch, frames: Places, headers: Headers, udp: Places) -> _Tunnels:
    """Name datagrams by port; return those with GTP-U packets inside."""
    (source, destination), (start, end, missing) = headers.ports(udp), headers.udp_payload(udp)
    paying, known = end > start, batch.tables
    tunnel = known.gtpu[source] | known.gtpu[destination]
    read = (known.read[source] | known.read[destination]) & ~tunnel
    name, sender = known.udp_name[destination], known.udp_sender[source] * SENDER
    name = np.where(name > 0, name, known.udp_name[source]) * NAME + sender
    ntp = np.flatnonzero(known.ntp[source])
    if len(ntp):
        name[ntp] -= np.where(_keep_time(headers, udp[ntp], end[ntp] - start[ntp]), 0, sender[ntp])
    dns = np.flatnonzero(known.dns[source] | known.dns[destination])
    if len(dns):
        name[dns] = _dns(headers, udp[dns], end[dns] - start[dns], known.dns[source[dns]])
    batch.meaning[frames[udp]] += np.where(paying & ~tunnel, name, 0)
    batch.exact[frames[udp[paying & read]]] = True
    inside = np.flatnonzero(tunnel & paying)
    tunnels, others = _tunnels(headers, udp[inside], start[inside], end[inside], missing[inside])
    batch.exact[frames[others]] = True
    return tunnels


def _tcp(batch: _Batch, version: int, frames: Places, headers: Headers, tcp: Places) -> None:
    """Note segments for their connections to name; a server shows itself by an answer or by what it sends."""
    (source, destination), (start, size, flags) = headers.ports(tcp), headers.tcp_payload(tcp)
    paying, known = size > 0, batch.tables
    answering = np.where(
        source < REGISTERED, (destination >= REGISTERED) & (destination > source), destination >= EPHEMERAL
    )
    serving = (paying & answering) | (flags & (SYN | ACK) == SYN | ACK)
    batch.meaning[frames[tcp]] += np.where(serving, known.tcp_sender[source], 0) * SENDER
    name = known.tcp_name[destination]
    name = np.where(paying, np.where(name > 0, name, known.tcp_name[source]), 0)
    speaking = known.diameter[source] | known.diameter[destination]
    segments = _segments(frames[tcp], headers, tcp, (source, destination), (start, size, flags), speaking)
    batch.segments[version].append(_Part(segments, name))


def _segments(
    frames: Places, headers: Headers, tcp: Places, ports: tuple[Places, Places], payload: tuple[Places, Places, Places],
    diameter: Flags,
) -> Segments:  # fmt: skip
    ends = ends_of([column[tcp] for column in headers.addresses], *ports)
    start, size, flags = payload
    return Segments(frames, ends, start, size, diameter, flags & (SYN | FIN | RST) > 0)


def _inner(batch: _Batch, outer: int, frames: Places, headers: Headers, tunnels: _Tunnels) -> None:
    """Read the headers inside GTP-U: their addresses are kept, of what they carry only the TCP connections matter."""
    buffer, known = batch.chunk.buffer, batch.tables
    batch.meaning[frames[tunnels.chosen]] += tunnels.direction * TUNNEL
    version = buffer[tunnels.start] >> 4
    batch.exact[frames[tunnels.chosen[(version != 4) & (version != 6)]]] = True
    for number in VERSIONS:
        mine = np.flatnonzero(version == number)
        if not len(mine):
            continue
        inner = Headers.read(number, buffer, tunnels.start[mine], tunnels.limit[mine])
        chosen = tunnels.chosen[mine]
        own = frames[chosen]
        batch.exact[own[~inner.plain]] = True
        udp = inner.of(UDP)
        (source, destination), (start, end, _) = inner.ports(udp), inner.udp_payload(udp)
        read = known.read[source] | known.read[destination] | known.gtpu[source] | known.gtpu[destination]
        batch.exact[own[udp[read & (end > start)]]] = True
        sctp = inner.of(SCTP)
        batch.exact[own[sctp[inner.bears(sctp)]]] = True
        tcp = inner.of(TCP)
        if len(tcp):
            source, destination = inner.ports(tcp)
            speaking = known.diameter[source] | known.diameter[destination]
            segments = _segments(own[tcp], inner, tcp, (source, destination), inner.tcp_payload(tcp), speaking)
            batch.segments[number].append(_Part(segments, None))
        outside = tuple(column[chosen] for column in headers.addresses)
        batch.tunnelled.append(Tunnelled(outer, number, own, outside, inner.addresses, tunnels.direction[mine]))


class Batches:
    """The fast path of one pass."""

    def __init__(self, survey: Survey, size: int = BATCH) -> None:
        self._survey = survey
        self._size = size
        self._tables = tables(survey.ports)
        self._connections = Connections(survey.flows)
        self._tally = Tally(survey.ledger, survey.budget)
        self._tunnelled = TunnelledFrames(survey.sessions)

    def take(self, chunk: Chunk) -> None:
        """Count the frames of a chunk; a batch ends where the flows may forget a generation."""
        low = 0
        while low < len(chunk):
            turn = TURN - self._survey.packets % TURN
            high = min(low + min(self._size, turn), len(chunk))
            self._count(chunk.part(low, high))
            low = high

    def settle(self) -> None:
        """Give what has been counted to the survey's ledger."""
        self._tally.settle()

    def _count(self, chunk: Chunk) -> None:
        survey = self._survey
        times = chunk.times if chunk.timed is None else chunk.times[chunk.timed]
        if len(times):
            survey.span(int(times.min()), int(times.max()))
        at, version = versions(chunk)
        batch = _Batch(chunk, self._tables, np.zeros(len(chunk), dtype=np.int64), version == 0)
        for number in VERSIONS:
            frames = np.flatnonzero(version == number)
            if len(frames):
                _outer(batch, number, frames, at[frames])
        odd = batch.exact.copy()
        # Where the header is found and lies whole in the frame, the exact path need not look for it again.
        known = np.where(at + 40 <= chunk.starts + chunk.sizes, version, 0)
        places = (known, at - chunk.starts)
        examined = self._examine(chunk, np.flatnonzero(odd), places)
        self._name(batch, [one.held for one in examined if one.held is not None])
        examined += self._examine(chunk, np.flatnonzero(batch.exact & ~odd), places)
        examined.sort(key=attrgetter("number"))
        for one in examined:
            survey.follow(one)
        self._conclude(batch, examined)
        survey.effort.columns(len(chunk))
        survey.passed(len(chunk))

    def _conclude(self, batch: _Batch, examined: list[Examined]) -> None:
        """Count all frames of a batch: where the budget may end within it, those that ask for more in their order."""
        survey, chunk, base, tunnelled = self._survey, batch.chunk, self._survey.packets, self._tunnelled
        tunnelled.begin()
        ends = batch.carried()
        with survey.budget.reserved(tunnelled.need(ends, chunk, examined)):
            left = self._tally.count(batch.groups(), batch.inside(), chunk, base, examined)
        frames: Sequence[Examined | Carried] = examined
        if self._tally.crowded:
            frames = sorted([*examined, *left, *tunnelled.singly(ends, chunk, base)], key=attrgetter("number"))
        for one in frames:
            if isinstance(one, Carried):
                survey.sessions.carry(*one)
            else:
                survey.conclude(one)
        if self._tally.crowded:
            tunnelled.finish()
        else:
            tunnelled.count(ends, chunk, base)

    def _examine(self, chunk: Chunk, frames: Places, places: tuple[Places, Places]) -> list[Examined]:
        examined = []
        base, examine = self._survey.packets, self._survey.examine
        rows = zip(frames.tolist(), *(column[frames].tolist() for column in places), strict=True)
        for (number, version, at), frame in zip(rows, chunk.frames(frames), strict=True):
            one = examine(base + number, frame, Place(version, at, "ip") if version else None)
            if one is not None:
                examined.append(one)
        return examined

    def _name(self, batch: _Batch, held: Sequence[Held]) -> None:
        """Name the frames with TCP by their connections, else by their ports, or leave them to the exact path."""
        self._connections.learn()
        for version, parts in batch.segments.items():
            if not parts:
                continue
            segments = Segments.joined([part.segments for part in parts])
            beside = [one for one in held if len(one.source) == ADDRESS_SIZE[version]]
            names, exact = self._connections.resolve(version, batch.chunk.buffer, segments, beside)
            batch.exact[segments.frames[exact]] = True
            at = 0
            for part in parts:
                frames = part.segments.frames
                mine = names[at : at + len(frames)]
                at += len(frames)
                if part.port_names is not None:
                    batch.meaning[frames] += NAME * np.where(mine > 0, mine, part.port_names)
