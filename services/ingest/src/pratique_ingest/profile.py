"""A capture's profile: every frame read once, into one record per host."""

from collections import Counter
from typing import BinaryIO

from pratique_ingest.budget import Budget
from pratique_ingest.capture.containers import EXPANDED_LIMIT, NotACapture, open_capture
from pratique_ingest.capture.frames import Frame, FrameFile
from pratique_ingest.capture.link import link_name, outermost
from pratique_ingest.capture.network import Datagram, datagram
from pratique_ingest.capture.stream import Stream
from pratique_ingest.dissection import Dissector
from pratique_ingest.effort import Effort
from pratique_ingest.hosts import Ledger
from pratique_ingest.protocols.findings import Findings, Sign
from pratique_ingest.records import (
    Caution,
    HostRecord,
    Identifiers,
    Profile,
    Progress,
    Report,
    SessionRecord,
    Sighting,
    host_row,
    session_row,
)
from pratique_ingest.sessions import Sessions

__all__ = [
    "Caution", "HostRecord", "Identifiers", "NotACapture", "Profile", "Progress", "SessionRecord", "Sighting",
    "host_row", "profile_capture", "session_row",
]  # fmt: skip

REPORT_EVERY = 4096
BROADCAST_MAC = b"\xff" * 6
DETAILS = {
    "cut-file": "the file ends inside a record; what came before is kept",
    "damaged-length": "a record states an impossible length; what came before is kept",
    "damaged-block": "a block cannot be read; what came before is kept",
    "damaged-section": "a section header cannot be read; what came before is kept",
    "damaged-compression": "the compressed data is damaged or cut; what came before is kept",
    "expanded-limit": "the file expands to more than captures do: send it uncompressed; what came before is kept",
    "bad-ip": "frames said to carry IP whose header is none",
    "cut-header": "frames cut before the end of their headers",
    "too-deep": "frames with more tags or tunnels than are followed",
    "unknown-link": "frames of a link type without IP, or not known",
    "packet-not-decoded": "frames whose payload broke a decoder; they are counted for their hosts",
    "nas-ciphered": "NAS messages that are ciphered: their identifiers cannot be read",
    "not-reassembled": "fragments of messages and datagrams whose other parts are missing",
    "limits-reached": "beyond what is kept in memory: ",
}


class _Profiler:
    """The state of one pass over a capture."""

    def __init__(self) -> None:
        self.budget = Budget()
        self.effort = Effort()
        self.ledger = Ledger(self.budget)
        self.sessions = Sessions(self.budget)
        self.dissector = Dissector()
        self.cautions: Counter[str] = Counter()
        self.packets = 0
        self.started: int | None = None
        self.ended: int | None = None

    def take(self, frame: Frame) -> None:
        """Count one frame for its hosts; whatever its payload does to a decoder is counted, not raised."""
        self.packets += 1
        self.effort.frame()
        link_type, time, length, data = frame
        if time is not None:
            self.started = time if self.started is None or time < self.started else self.started
            self.ended = time if self.ended is None or time > self.ended else self.ended
        place = outermost(link_type, data)
        if not place.version:
            if place.name in DETAILS:
                self.cautions[place.name] += 1
            return
        header = datagram(place.version, data, place.offset, len(data))
        if header is None:
            self.cautions["cut-header"] += 1
            return
        found = self._dissect(header, data)
        self.effort.decoded(found.protocols, len(data))
        if link_type == 1 and data[:6] == BROADCAST_MAC:
            found.receiver.add(Sign.BROADCAST_FRAME)
        self.cautions.update(found.troubles)
        self.ledger.count(header.source, header.destination, length, time, found)
        if found.contexts:
            self.sessions.note(header.source, header.destination, length, time, found)

    def _dissect(self, header: Datagram, data: bytes) -> Findings:
        found = Findings()
        try:
            self.dissector.dissect(header, data, found)
        except Exception:  # noqa: BLE001 - the bytes of one packet are hostile; the next packet is another matter
            self.cautions["packet-not-decoded"] += 1
        return found

    def profile(self, stream: Stream, file: FrameFile, pilot: str | None) -> Profile:
        """Return what has been counted."""
        ended_by = stream.trouble or file.ended_by
        if ended_by:
            self.cautions[ended_by] += 1
        if lost := self.dissector.given_up:
            self.cautions["not-reassembled"] += lost
        cut = self.budget.cut
        if cut:
            self.cautions["limits-reached"] += cut.total()
        details = DETAILS | {"limits-reached": DETAILS["limits-reached"] + ", ".join(sorted(cut))}
        return Profile(
            packets=self.packets,
            bytes=stream.position,
            complete=ended_by is None and not cut,
            warnings=tuple(Caution(code, count, details[code]) for code, count in sorted(self.cautions.items())),
            link_types=tuple(dict.fromkeys(link_name(link_type) for link_type in file.link_types)),
            started=None if self.started is None else self.started / 1e9,
            ended=None if self.ended is None else self.ended / 1e9,
            hosts=tuple(self.ledger.records(pilot)),
            sessions=tuple(self.sessions.records(pilot)),
            identifiers=self.ledger.identifiers(),
        )


def profile_capture(
    source: BinaryIO, *, pilot: str | None, report: Report | None = None, expanded_limit: int = EXPANDED_LIMIT
) -> Profile:
    """Read a capture (pcap or pcapng; plain, gzip or zstd) from its first byte to its last and profile its hosts.

    `source` is only read forwards. A file that is cut, damaged, or expands beyond `expanded_limit` bytes keeps what
    came before: `complete` is False and a warning says why. Raises NotACapture when there is no file header.
    """
    stream, file = open_capture(source, expanded_limit)
    profiler = _Profiler()
    for frame in file:
        profiler.take(frame)
        if stream.compressed and profiler.effort.beyond(stream.consumed):
            stream.trouble = "expanded-limit"
            break
        if report is not None and not profiler.packets % REPORT_EVERY:
            report(Progress(profiler.packets, stream.consumed))
    if report is not None:
        report(Progress(profiler.packets, stream.consumed))
    return profiler.profile(stream, file, pilot)
