"""The lab at work: its wire, and the associations and connections that stay up between its hosts."""

import json
from collections import Counter
from collections.abc import Sequence
from random import Random

from pratique_local.sample.frames import Endpoint
from pratique_local.sample.http2 import Channel, Headers
from pratique_local.sample.sctp import Association, PayloadProtocol
from pratique_local.sample.subscribers import SLICES, Slice
from pratique_local.sample.topology import FUNCTIONS, MANAGEMENT, MANAGEMENT_VLAN, REGIONS, SITES, FunctionName
from pratique_local.sample.truth import Ledger
from pratique_local.sample.wire import Steps, Wire

Body = dict[str, object]


class Lab:
    """Everything that the conversations share."""

    def __init__(self, chance: Random, slices: Sequence[Slice] = SLICES) -> None:
        self.chance = chance
        self.slices = slices
        self.ledger = Ledger()
        self.ledger.regions = {site.ip: REGIONS[site.cell.area] for site in SITES}
        self.wire = Wire(chance, self.ledger, {MANAGEMENT: MANAGEMENT_VLAN})
        self.n2: dict[str, Association] = {}
        self.f1: dict[str, Association] = {}
        self.sequence: Counter[str] = Counter()
        self._channels: dict[tuple[FunctionName, FunctionName], Channel] = {}
        self._ports: Counter[str] = Counter()

    def client(self, ip: str) -> Endpoint:
        """Return a fresh ephemeral port of a host (RFC 6335 §6)."""
        self._ports[ip] += 1
        return Endpoint(ip, 49152 + (self._ports[ip] * 7 + sum(map(ord, ip)) * 31) % 16000)

    def next(self, name: str) -> int:
        """Return the next number of a named sequence, from 1."""
        self.sequence[name] += 1
        return self.sequence[name]

    def associate(self, ip: str, server: Endpoint, protocol: PayloadProtocol) -> Association:
        """Set an SCTP association up from a host to a server."""
        association = Association(self.wire, self.client(ip), server, protocol)
        association.open()
        return association

    def call(
        self,
        consumer: FunctionName,
        producer: FunctionName,
        request: str,
        body: Body | None = None,
        *,
        status: int = 200,
        answer: Body | None = None,
    ) -> Steps:
        """Let one network function call another: `request` is method and path (3GPP TS 29.500 §5)."""
        method, _, path = request.partition(" ")
        server = FUNCTIONS[producer]
        authority = f"{server.ip}:{server.port}"
        headers = [(":method", method), (":scheme", "http"), (":authority", authority), (":path", path)]
        headers.append(("user-agent", consumer))
        channel = self._channel(consumer, producer)
        stream = channel.request(headers + _content(body), _encoded(body))
        yield self.chance.uniform(0.001, 0.006)
        channel.respond(stream, [(":status", str(status)), *_content(answer)], _encoded(answer))

    def ping(self) -> None:
        """Let every open HTTP/2 connection be probed."""
        for channel in self._channels.values():
            channel.ping()

    def _channel(self, consumer: FunctionName, producer: FunctionName) -> Channel:
        ends = (consumer, producer)
        if ends not in self._channels:
            self._channels[ends] = Channel(self.wire, self.client(FUNCTIONS[consumer].ip), FUNCTIONS[producer])
            self._channels[ends].open()
        return self._channels[ends]


def _encoded(body: Body | None) -> bytes:
    return b"" if body is None else json.dumps(body, separators=(",", ":")).encode()


def _content(body: Body | None) -> Headers:
    if body is None:
        return []
    return [("content-type", "application/json"), ("content-length", str(len(_encoded(body))))]
