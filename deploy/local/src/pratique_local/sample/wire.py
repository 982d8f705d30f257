"""The tapped wire: a clock, the conversations that take turns on it, and every frame that passes."""

import heapq
from collections import Counter
from collections.abc import Iterator
from ipaddress import IPv4Address, ip_address
from random import Random

from pratique_local.sample.container import Frame
from pratique_local.sample.frames import (
    BROADCAST_MAC,
    ETHERTYPE_ARP,
    UDP,
    Address,
    arp,
    ethernet,
    hardware_address,
    ipv4,
    ipv6,
)
from pratique_local.sample.truth import Ledger

Steps = Iterator[float]
"""A conversation: it sends, yields the seconds until its next move, and so on."""

START_US = 1_740_992_400_000_000  # 2025-03-03T09:00:00Z: a sample of the same seed is the same file on any day
MTU = 1500
MORE_FRAGMENTS = 0x2000
DATAGRAMS = {53: "dns", 123: "ntp", 2123: "gtpv2", 2152: "gtp", 5353: "mdns", 8805: "pfcp"}
"""What the messages of the sample's datagrams are by their ports."""


class Wire:
    """Everything that a tap in the lab sees, in order of time."""

    def __init__(self, chance: Random, ledger: Ledger, vlans: dict[str, int]) -> None:
        self.chance = chance
        self.ledger = ledger
        self.frames: list[Frame] = []
        self._now = START_US
        self._order = 0
        self._waiting: list[tuple[int, int, Steps]] = []
        self._vlans = vlans
        self._ident: Counter[str] = Counter()

    @property
    def now(self) -> int:
        """Microseconds since 1970."""
        return self._now

    def start(self, steps: Steps, *, after: float) -> None:
        """Let a conversation begin `after` seconds from now."""
        self._order += 1
        heapq.heappush(self._waiting, (self._now + round(after * 1e6), self._order, steps))

    def run(self) -> None:
        """Give every conversation its turns until all have ended."""
        while self._waiting:
            moment, order, steps = heapq.heappop(self._waiting)
            self._now = max(self._now, moment)
            delay = next(steps, None)
            if delay is not None:
                due = self._now + round(delay * self.chance.uniform(0.7, 1.3) * 1e6)
                heapq.heappush(self._waiting, (due, order, steps))

    def pause(self, microseconds: int) -> None:
        """Let about so much time pass inside one move, as between the packets of a handshake."""
        self._now += self.chance.randint(microseconds // 2, microseconds * 2)

    def carry(self, source: str, destination: str, protocol: int, payload: bytes) -> None:
        """Send one IP payload over Ethernet, in fragments if it is too long for one IPv4 packet."""
        here, there = ip_address(source), ip_address(destination)
        if protocol == UDP:
            ports = (int.from_bytes(payload[at : at + 2]) for at in (0, 2))
            for name in {DATAGRAMS[port] for port in ports if port in DATAGRAMS}:
                self.ledger.spoke(name)
        # Neighbour discovery and mDNS prove by 255 that they never left the link (RFC 4861 §7.1, RFC 6762 §11).
        lives = 255 if there.is_multicast else 64
        if here.version == 6:
            self._send(here, there, 0x86DD, ipv6(source, destination, protocol, payload, hops=lives))
            return
        self._ident[source] += 1
        ident = _first_ident(here) + self._ident[source]
        if len(payload) <= MTU - 20:
            self._send(here, there, 0x0800, ipv4(source, destination, protocol, payload, ident=ident, ttl=lives))
            return
        step = (MTU - 20) // 8 * 8
        for offset in range(0, len(payload), step):
            flags = (MORE_FRAGMENTS if offset + step < len(payload) else 0) | offset // 8
            part = payload[offset : offset + step]
            self._send(here, there, 0x0800, ipv4(source, destination, protocol, part, ident=ident, fragment=flags))

    def resolve(self, asking: str, wanted: str) -> None:
        """Ask by ARP who has `wanted`, and let it answer; neither frame makes a host."""
        here, there = hardware_address(ip_address(asking)), hardware_address(ip_address(wanted))
        vlan = self._vlan(ip_address(asking))
        self._record(ethernet(BROADCAST_MAC, here, ETHERTYPE_ARP, arp(1, asking, wanted), vlan=vlan))
        self._record(ethernet(here, there, ETHERTYPE_ARP, arp(2, wanted, asking), vlan=vlan))

    def _send(self, here: Address, there: Address, ethertype: int, packet: bytes) -> None:
        target, sender = hardware_address(there), hardware_address(here)
        self._record(ethernet(target, sender, ethertype, packet, vlan=self._vlan(here)))
        self.ledger.packet(str(here), str(there))

    def _vlan(self, address: Address) -> int | None:
        return self._vlans.get(str(address).rpartition(".")[0])

    def _record(self, frame: bytes) -> None:
        self._now += self.chance.randint(3, 40)
        self.frames.append((self._now, frame))
        self.ledger.frame()


def _first_ident(address: IPv4Address) -> int:
    """Return where the identification counter of a host starts: far from its neighbours', the same in every run."""
    return int(address) * 40503 & 0x7FFF
