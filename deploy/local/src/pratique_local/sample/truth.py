"""What a sample capture holds, counted while it is written and so without any reader's help."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["imsi", "suci", "guti", "msisdn", "imei"]
KINDS: tuple[Kind, ...] = ("imsi", "suci", "guti", "msisdn", "imei")


@dataclass(frozen=True)
class SampleTruth:
    """What went into a sample.

    `packets` are the frames of the file, IP or not. `hosts` maps each outermost IP address to (packets, peers): a
    frame counts once for its source and once for its destination, a peer is a distinct other end. `identifiers` maps
    each kind to the values that can be read in clear in the capture.
    """

    packets: int
    hosts: Mapping[str, tuple[int, int]]
    identifiers: Mapping[Kind, frozenset[str]] = field(repr=False)


class Ledger:
    """The running account of a capture under construction."""

    def __init__(self) -> None:
        self._frames = 0
        self._packets: Counter[str] = Counter()
        self._peers: defaultdict[str, set[str]] = defaultdict(set)
        self._identifiers: dict[Kind, set[str]] = {kind: set() for kind in KINDS}

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

    def close(self) -> SampleTruth:
        """Return the account as it stands."""
        return SampleTruth(
            packets=self._frames,
            hosts={ip: (count, len(self._peers[ip])) for ip, count in sorted(self._packets.items())},
            identifiers={kind: frozenset(values) for kind, values in self._identifiers.items()},
        )
