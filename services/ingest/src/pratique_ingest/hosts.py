"""The ledger of a capture: what is counted per outermost address while its frames go by."""

from collections.abc import Iterator, Set
from ipaddress import ip_address
from typing import NamedTuple

from pratique_ingest.budget import CARRIER, COPIES, COPIES_A_CARRIER, HOST, IDENTITY, INNER, PEER, SUBSCRIBER, Budget
from pratique_ingest.protocols.findings import Findings, Kind, Sign
from pratique_ingest.records import HostRecord, Identifiers, Sighting, instant
from pratique_ingest.roles import roles

NONE: frozenset[bytes] = frozenset()
# Kinds of frames whose sums wait for the ledger: more than any network speaks at once, in some 8 MB.
MAX_KINDS = 16_384
Identity = tuple[Kind, str]


class Sums(NamedTuple):
    """How many frames, their bytes on the wire, and their earliest and latest time."""

    packets: int
    bytes: int
    first: int | None
    last: int | None


class Host:
    """Counters of one address."""

    __slots__ = ("address", "born", "bytes", "first", "inner", "last", "packets", "peers", "protocols", "sent", "signs")

    def __init__(self, address: bytes, born: int) -> None:
        self.address = address
        self.born = born
        self.packets = self.bytes = self.sent = 0
        self.first: int | None = None
        self.last: int | None = None
        self.peers: set[bytes] = set()
        self.protocols: dict[str, int] = {}
        self.signs: dict[Sign, int] = {}
        self.inner: set[bytes] | None = None

    def count(self, sums: Sums, found: Findings) -> None:
        """Count frames that the host sent or received and that carry the same."""
        packets, octets, first, last = sums
        self.packets += packets
        self.bytes += octets
        if first is not None and (self.first is None or first < self.first):
            self.first = first
        if last is not None and (self.last is None or last > self.last):
            self.last = last
        protocols = self.protocols
        for protocol in found.protocols:
            protocols[protocol] = protocols.get(protocol, 0) + packets


class Ends(NamedTuple):
    """The hosts of a frame, None where the budget kept one out."""

    sender: Host | None
    receiver: Host | None


# Who sent it to whom, protocols, signs of the sender and of the receiver: all that frames are counted by.
Frames = tuple[bytes, bytes, frozenset[str], frozenset[Sign], frozenset[Sign]]


class _Running:
    """Sums that still grow."""

    __slots__ = ("bytes", "ends", "first", "last", "packets")

    def __init__(self, ends: Ends) -> None:
        self.ends = ends
        self.packets = self.bytes = 0
        self.first: int | None = None
        self.last: int | None = None

    def add(self, length: int, time: int | None) -> None:
        self.packets += 1
        self.bytes += length
        if time is not None:
            if self.first is None or time < self.first:
                self.first = time
            if self.last is None or time > self.last:
                self.last = time


class _Sightings:
    """How often each identifier was seen, and the hosts that carried it."""

    def __init__(self, budget: Budget) -> None:
        self.packets: dict[Identity, int] = {}
        self.hosts: dict[Identity, set[bytes]] = {}
        self._budget = budget

    def see(self, source: bytes, destination: bytes, found: Findings) -> None:
        for identity in found.identities:
            carriers = self.hosts.get(identity)
            if carriers is None:
                if not self._budget.keep("identifiers", IDENTITY + COPIES * len(identity[1])):
                    continue
                carriers = self.hosts[identity] = set()
                self.packets[identity] = 0
            self.packets[identity] += 1
            for host in (source, destination):
                if host not in carriers and self._budget.keep(
                    "identifiers", CARRIER + COPIES_A_CARRIER * len(identity[1])
                ):
                    carriers.add(host)

    def by_host(self) -> dict[bytes, dict[Kind, list[str]]]:
        """Return the values of each host by kind, sorted."""
        turned: dict[bytes, dict[Kind, list[str]]] = {}
        for kind, value in sorted(self.hosts):
            for host in self.hosts[kind, value]:
                turned.setdefault(host, {}).setdefault(kind, []).append(value)
        return turned


class Ledger:
    """All hosts and identifiers of a capture."""

    def __init__(self, budget: Budget) -> None:
        self._hosts: dict[bytes, Host] = {}
        self._budget = budget
        self._sightings = _Sightings(budget)
        self._subscribers: set[bytes] = set()
        self._running: dict[Frames, _Running] = {}

    def _host(self, address: bytes, place: int) -> Host | None:
        host = self._hosts.get(address)
        if host is None:
            if not self._budget.keep("hosts", HOST):
                return None
            host = self._hosts[address] = Host(address, place)
        elif place < host.born:
            host.born = place
        return host

    def _meet(self, host: Host, peer: bytes) -> None:
        if peer not in host.peers and self._budget.keep("peers", PEER):
            host.peers.add(peer)

    def _tunnel(self, host: Host, inner: Set[bytes]) -> None:
        known = host.inner = set() if host.inner is None else host.inner
        for address in inner - known:
            if not self._budget.keep("tunnelled addresses", INNER):
                return
            known.add(address)

    def admit(
        self, source: bytes, destination: bytes, number: int, inner: Set[bytes] = NONE, subscribers: Set[bytes] = NONE
    ) -> Ends:
        """Keep what a frame shows for the first time: its hosts, that they met, and what is tunnelled between them.

        `inner` are the tunnelled addresses, `subscribers` those that are known to be a UE's. `number` is the frame's
        place in the capture; hosts stand in the order of their first frames.
        """
        sender = self._host(source, 2 * number)
        receiver = sender if source == destination else self._host(destination, 2 * number + 1)
        if inner:
            for host in (sender,) if sender is receiver else (sender, receiver):
                if host is not None:
                    self._tunnel(host, inner)
        if sender is not None and receiver is not None and sender is not receiver:
            # The ledger's own copies of the addresses, so that a peer costs a reference.
            self._meet(sender, receiver.address)
            self._meet(receiver, sender.address)
        if subscribers:
            self._subscribe(subscribers)
        return Ends(sender, receiver)

    def carry(self, one: bytes, other: bytes, inner: Set[bytes], subscribe: bool) -> None:
        """Keep addresses that are tunnelled between two hosts, either of which the budget may have kept out."""
        for address in (one,) if one == other else (one, other):
            host = self._hosts.get(address)
            if host is not None:
                self._tunnel(host, inner)
        if subscribe:
            self._subscribe(inner)

    def _subscribe(self, addresses: Set[bytes]) -> None:
        for address in addresses - self._subscribers:
            if self._budget.keep("addresses of subscribers", SUBSCRIBER):
                self._subscribers.add(address)

    def add(self, ends: Ends, sums: Sums, found: Findings) -> None:
        """Count frames once for their source and once for their destination, once in all when they are equal."""
        sender, receiver = ends
        for host in (sender,) if sender is receiver else (sender, receiver):
            if host is not None:
                host.count(sums, found)
        if sender is not None:
            sender.sent += sums.packets
            for sign in found.sender:
                sender.signs[sign] = sender.signs.get(sign, 0) + sums.packets
        if receiver is not None:
            for sign in found.receiver:
                receiver.signs[sign] = receiver.signs.get(sign, 0) + sums.packets

    def count(
        self, source: bytes, destination: bytes, number: int, length: int, time: int | None, found: Findings
    ) -> None:
        """Count one frame; frames of one kind between two hosts are summed up before their hosts take them."""
        kind = (source, destination, frozenset(found.protocols), frozenset(found.sender), frozenset(found.receiver))
        running = self._running.get(kind)
        if running is None or found.inner or found.subscribers:
            cut = self._budget.cut.total()
            ends = self.admit(source, destination, number, found.inner, found.subscribers)
            if running is None and self._budget.cut.total() == cut:
                running = self._begin(kind, ends)
            elif running is None:  # what was kept out of the budget is counted with every frame
                self.add(ends, Sums(1, length, time, time), found)
        if running is not None:
            running.add(length, time)
        if found.identities:
            self._sightings.see(source, destination, found)

    def _begin(self, kind: Frames, ends: Ends) -> _Running:
        if len(self._running) >= MAX_KINDS:
            self.settle()
        running = self._running[kind] = _Running(ends)
        return running

    def settle(self) -> None:
        """Give the sums to their hosts."""
        for kind, running in self._running.items():
            _, _, protocols, sender, receiver = kind
            found = Findings(protocols=set(protocols), sender=set(sender), receiver=set(receiver))
            self.add(running.ends, Sums(running.packets, running.bytes, running.first, running.last), found)
        self._running.clear()

    def see(self, source: bytes, destination: bytes, found: Findings) -> None:
        """Keep what a frame shows that was counted before it could be read."""
        for address, signs in ((source, found.sender), (destination, found.receiver)):
            host = self._hosts.get(address)
            if host is not None:
                for sign in signs:
                    host.signs[sign] = host.signs.get(sign, 0) + 1
                for protocol in found.protocols:
                    host.protocols[protocol] = host.protocols.get(protocol, 0) + 1
        if found.identities:
            self._sightings.see(source, destination, found)

    def records(self, pilot: str | None) -> Iterator[HostRecord]:
        """Yield the host records in the order in which the addresses first appeared."""
        self.settle()
        identities = self._sightings.by_host()
        for packed, host in sorted(self._hosts.items(), key=lambda one: one[1].born):
            address = ip_address(packed)
            if packed in self._subscribers:
                host.signs[Sign.UE_ADDRESS] = host.packets
            names, evidence = roles(address, host.signs, host.sent, alone=not host.peers)
            values = identities.get(packed, {})
            yield HostRecord(
                ip=str(address),
                role=names[0],
                role_evidence=evidence,
                roles=names,
                protocols=tuple(sorted(host.protocols)),
                protocol_packets=dict(sorted(host.protocols.items())),
                packets=host.packets,
                bytes=host.bytes,
                peer_count=len(host.peers),
                first_seen=instant(host.first),
                last_seen=instant(host.last),
                pilot=pilot,
                inner_addresses=tuple(sorted(str(ip_address(inner)) for inner in host.inner or ())),
                imsi=tuple(values.get("imsi", ())),
                suci=tuple(values.get("suci", ())),
                guti=tuple(values.get("guti", ())),
                msisdn=tuple(values.get("msisdn", ())),
                imei=tuple(values.get("imei", ())),
            )

    def identifiers(self) -> Identifiers:
        """Return every identifier with the frames and hosts that carried it."""
        kinds: dict[Kind, list[Sighting]] = {}
        for (kind, value), hosts in sorted(self._sightings.hosts.items()):
            names = tuple(sorted(str(ip_address(host)) for host in hosts))
            kinds.setdefault(kind, []).append(Sighting(value, self._sightings.packets[kind, value], names))
        return Identifiers(**{kind: tuple(sightings) for kind, sightings in kinds.items()})
