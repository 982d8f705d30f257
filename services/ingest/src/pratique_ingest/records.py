"""Host and session records: what one capture says about the machines and subscribers in it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Progress(NamedTuple):
    """How far the reading of a capture has come: frames, and bytes of the file."""

    packets: int
    bytes: int


Report = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class Caution:
    """Something that the profile does not hold, by cause: how often, and what it means to the reader."""

    code: str
    count: int
    detail: str


class Sighting(NamedTuple):
    """One subscriber identifier, in how many frames it stood and which hosts exchanged them."""

    value: str
    packets: int
    hosts: tuple[str, ...]

    def __repr__(self) -> str:
        return f"Sighting(packets={self.packets}, hosts={len(self.hosts)})"


@dataclass(frozen=True, slots=True)
class Identifiers:
    """The subscriber identifiers of a capture by kind, each list sorted by value."""

    imsi: tuple[Sighting, ...] = field(default=(), repr=False)
    suci: tuple[Sighting, ...] = field(default=(), repr=False)
    guti: tuple[Sighting, ...] = field(default=(), repr=False)
    guti_4g: tuple[Sighting, ...] = field(default=(), repr=False)
    s_tmsi: tuple[Sighting, ...] = field(default=(), repr=False)
    msisdn: tuple[Sighting, ...] = field(default=(), repr=False)
    imei: tuple[Sighting, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class HostRecord:
    """One outermost IP address: what it did and which roles the rules gave it, strongest first."""

    ip: str
    role: str
    role_evidence: str
    roles: tuple[str, ...]
    protocols: tuple[str, ...]
    protocol_packets: Mapping[str, int]
    packets: int
    bytes: int
    peer_count: int
    first_seen: str | None
    last_seen: str | None
    pilot: str | None
    inner_addresses: tuple[str, ...] = field(default=(), repr=False)
    imsi: tuple[str, ...] = field(default=(), repr=False)
    suci: tuple[str, ...] = field(default=(), repr=False)
    guti: tuple[str, ...] = field(default=(), repr=False)
    msisdn: tuple[str, ...] = field(default=(), repr=False)
    imei: tuple[str, ...] = field(default=(), repr=False)

    @property
    def protocol_count(self) -> int:
        """How many protocols the host was seen to speak."""
        return len(self.protocols)


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """One subscriber at one gNB in one 5-minute window."""

    subscriber: str = field(repr=False)
    gnb: str
    amf: str | None
    sst: int | None
    sd: str | None
    region: str | None
    window: str
    role: str
    packets: int
    bytes: int
    pilot: str | None


@dataclass(frozen=True, slots=True)
class Profile:
    """A whole capture: its frames, what was missed, and its records.

    `bytes` counts the capture as expanded, `started` and `ended` are epoch seconds.
    """

    packets: int
    bytes: int
    complete: bool
    warnings: tuple[Caution, ...]
    link_types: tuple[str, ...]
    started: float | None
    ended: float | None
    hosts: tuple[HostRecord, ...]
    sessions: tuple[SessionRecord, ...]
    identifiers: Identifiers


def host_row(record: HostRecord) -> dict[str, object]:
    """Return the record as the plain JSON row that crosses the service's wall."""
    return {
        "ip": record.ip,
        "role": record.role,
        "role_evidence": record.role_evidence,
        "roles": list(record.roles),
        "protocols": list(record.protocols),
        "protocol_count": record.protocol_count,
        "protocol_packets": dict(record.protocol_packets),
        "packets": record.packets,
        "bytes": record.bytes,
        "peer_count": record.peer_count,
        "first_seen": record.first_seen,
        "last_seen": record.last_seen,
        "pilot": record.pilot,
        "inner_addresses": list(record.inner_addresses),
        "imsi": list(record.imsi),
        "suci": list(record.suci),
        "guti": list(record.guti),
        "msisdn": list(record.msisdn),
        "imei": list(record.imei),
    }


def session_row(record: SessionRecord) -> dict[str, object]:
    """Return the session record as a plain JSON row."""
    return {
        "subscriber": record.subscriber,
        "gnb": record.gnb,
        "amf": record.amf,
        "sst": record.sst,
        "sd": record.sd,
        "region": record.region,
        "window": record.window,
        "role": record.role,
        "packets": record.packets,
        "bytes": record.bytes,
        "pilot": record.pilot,
    }


def instant(nanoseconds: int | None) -> str | None:
    """Return epoch nanoseconds as UTC text, or None for a time that no calendar holds."""
    if nanoseconds is None:
        return None
    try:
        moment = EPOCH + timedelta(microseconds=nanoseconds // 1000)
    except OverflowError:
        return None
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ") if moment.year >= 1000 else None
