"""What a sample capture holds, counted while it is written and so without any reader's help."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

Kind = Literal["imsi", "suci", "guti", "msisdn", "imei"]
KINDS: tuple[Kind, ...] = ("imsi", "suci", "guti", "msisdn", "imei")


WINDOW_US = 300 * 1_000_000


class Stay(NamedTuple):
    """One subscriber at one gNB in one window of five minutes, which begins at `window` (microseconds since 1970)."""

    subscriber: str
    gnb: str
    window: int

    def __repr__(self) -> str:
        return f"Stay(gnb={self.gnb})"


class Traffic(NamedTuple):
    """What a subscriber signalled, sent and received in a stay, on which slice, and what kind of UE it is."""

    sst: int
    sd: str
    role: str
    packets: int
    bytes: int


@dataclass(frozen=True)
class SampleTruth:
    """What went into a sample.

    `packets` are the frames of the file, IP or not. `hosts` maps each outermost IP address to (packets, peers): a
    frame counts once for its source and once for its destination, a peer is a distinct other end. `identifiers` maps
    each kind to the values that can be read in clear in the capture. `protocols` counts the frames of those whose
    messages fill datagrams or stand in SCTP chunks. `sessions` holds what each subscriber did at each gNB, `regions`
    where the gNBs stand.
    """

    packets: int
    hosts: Mapping[str, tuple[int, int]]
    identifiers: Mapping[Kind, frozenset[str]] = field(repr=False)
    protocols: Mapping[str, int]
    sessions: Mapping[Stay, Traffic] = field(repr=False)
    regions: Mapping[str, str]

    def document(self) -> dict[str, object]:
        """Return it as it stands beside the capture, in plain JSON."""
        sessions = [
            {**stay._asdict(), **traffic._asdict(), "region": self.regions.get(stay.gnb)}
            for stay, traffic in sorted(self.sessions.items())
        ]
        return {
            "packets": self.packets,
            "hosts": {ip: {"packets": packets, "peers": peers} for ip, (packets, peers) in self.hosts.items()},
            "identifiers": {kind: sorted(values) for kind, values in self.identifiers.items()},
            "protocols": dict(self.protocols),
            "sessions": sessions,
            "regions": dict(self.regions),
        }


class Ledger:
    """The running account of a capture under construction."""

    def __init__(self) -> None:
        self._frames = 0
        self._packets: Counter[str] = Counter()
        self._peers: defaultdict[str, set[str]] = defaultdict(set)
        self._identifiers: dict[Kind, set[str]] = {kind: set() for kind in KINDS}
        self._protocols: Counter[str] = Counter()
        self._stays: dict[tuple[object, str, int], list[int]] = {}
        self._names: dict[object, tuple[str, int, str, str]] = {}
        self.regions: dict[str, str] = {}

    def frame(self) -> None:
        """Count one frame of the file."""
        self._frames += 1

    def packet(self, source: str, destination: str) -> None:
        """Count one IP packet between two different addresses."""
        self._packets.update((source, destination))
        self._peers[source].add(destination)
        self._peers[destination].add(source)

    def saw(self, kind: Kind, value: str) -> None:
        """Note that `value` was sent in clear."""
        self._identifiers[kind].add(value)

    def spoke(self, protocol: str) -> None:
        """Count a frame that carries messages of a protocol."""
        self._protocols[protocol] += 1

    def stayed(self, who: object, gnb: str, moment: int, length: int) -> None:
        """Count a frame that is about a subscriber at a gNB; `who` stands for it until it has its name."""
        counts = self._stays.setdefault((who, gnb, moment // WINDOW_US * WINDOW_US), [0, 0])
        counts[0] += 1
        counts[1] += length

    def name(self, who: object, name: str, sst: int, sd: int, role: str) -> None:
        """Say by which name a reader can know a subscriber, its slice and what kind of UE it is."""
        self._names[who] = (name, sst, f"{sd:06x}", role)

    def _sessions(self) -> dict[Stay, Traffic]:
        sessions: dict[Stay, Traffic] = {}
        for (who, gnb, window), (packets, octets) in self._stays.items():
            name, sst, sd, role = self._names[who]
            stay = Stay(name, gnb, window)
            former = sessions.get(stay, Traffic(sst, sd, role, 0, 0))
            sessions[stay] = Traffic(sst, sd, role, former.packets + packets, former.bytes + octets)
        return sessions

    def close(self) -> SampleTruth:
        """Return the account as it stands."""
        return SampleTruth(
            packets=self._frames,
            hosts={ip: (count, len(self._peers[ip])) for ip, count in sorted(self._packets.items())},
            identifiers={kind: frozenset(values) for kind, values in self._identifiers.items()},
            protocols=dict(sorted(self._protocols.items())),
            sessions=self._sessions(),
            regions=dict(self.regions),
        )
