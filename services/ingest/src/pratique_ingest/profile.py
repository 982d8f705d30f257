"""A capture's profile: every frame read once, into one record per host."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import BinaryIO, NamedTuple

from pratique_ingest.capture.chunks import ChunkedFile
from pratique_ingest.capture.containers import EXPANDED_LIMIT, NotACapture, open_capture
from pratique_ingest.capture.frames import Frame, FrameFile
from pratique_ingest.capture.link import link_name
from pratique_ingest.capture.stream import Stream
from pratique_ingest.fast.batches import Batches
from pratique_ingest.plan import NO_PLAN, Plan
from pratique_ingest.protocols.suci import unconcealed
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
from pratique_ingest.survey import Survey

__all__ = [
    "Caution", "HostRecord", "Identifiers", "NotACapture", "Profile", "Progress", "SessionRecord", "Sighting",
    "host_row", "profile_capture", "session_row",
]  # fmt: skip

REPORT_EVERY = 4096
MOST = 1 << 62  # frames, where nobody asks for fewer


class Pace(NamedTuple):
    """How much the fast path takes at once: bytes of the first and of later chunks, frames a batch.

    `patience` bounds the frames that are read singly before a chunk is tried again.
    """

    first_window: int
    window: int
    batch: int
    patience: int


# A window of 8 MiB holds some 40,000 frames, which is enough for the lanes; more only costs memory.
PACE = Pace(first_window=1 << 18, window=1 << 23, batch=16_384, patience=4096)
# The effort that a compressed capture may ask for is weighed after every window.
COMPRESSED_WINDOW = 1 << 20
DETAILS = {
    "cut-file": "the file ends inside a record; what came before is kept",
    "damaged-length": "a record states an impossible length; what came before is kept",
    "damaged-block": "a block cannot be read; what came before is kept",
    "damaged-section": "a section header cannot be read; what came before is kept",
    "damaged-compression": "the compressed data is damaged or cut; what came before is kept",
    "expanded-limit": "the file expands to more than captures do: send it uncompressed; what came before is kept",
    "cut-at-max-packets": "the file has more frames than were asked for; those up to there are profiled",
    "ecpri": "frames of eCPRI on Ethernet: the fronthaul has no IP address, so they belong to no host",
    "bad-ip": "frames said to carry IP whose header is none",
    "cut-header": "frames cut before the end of their headers",
    "too-deep": "frames with more tags or tunnels than are followed",
    "unknown-link": "frames of a link type without IP, or not known",
    "packet-not-decoded": "frames whose payload broke a decoder, counted for their hosts all the same, by cause: ",
    "nas-ciphered": "NAS messages that are ciphered: their identifiers cannot be read",
    "stream-gap": "gaps in TCP connections that are read as streams: what stood in them, or ran over them, is missing",
    "hpack-state-unknown": "header blocks of HTTP/2 that refer to what was sent before the capture, or in a gap",
    "body-not-read": "compressed bodies of HTTP that are damaged or grow beyond what bodies do: the rest is not read",
    "suci-null-scheme": "concealed identifiers under the null scheme: the SUPI is sent in clear",
    "not-reassembled": "fragments of messages and datagrams whose other parts are missing",
    "gtpu-unknown-session": "GTP-U frames of tunnels that no NGAP or PFCP before them names, as on F1-U or in 4G:"
    " they count for their hosts, for no session",
    "limits-reached": "beyond what is kept in memory: ",
}


def _profile(survey: Survey, stream: Stream, file: FrameFile, pilot: str | None) -> Profile:
    """Return what has been counted."""
    survey.finish()
    ended_by = stream.trouble or file.ended_by
    if ended_by:
        survey.cautions[ended_by] += 1
    sessions, identifiers = tuple(survey.sessions.records(pilot)), survey.ledger.identifiers()
    cut = survey.budget.cut + survey.flows.budget.cut
    return Profile(
        packets=survey.packets,
        bytes=stream.position,
        complete=ended_by is None and not cut and "cut-at-max-packets" not in survey.cautions,
        warnings=_warnings(survey, cut, sessions, identifiers),
        link_types=tuple(dict.fromkeys(link_name(link_type) for link_type in file.link_types)),
        started=None if survey.started is None else survey.started / 1e9,
        ended=None if survey.ended is None else survey.ended / 1e9,
        hosts=tuple(survey.ledger.records(pilot)),
        sessions=sessions,
        identifiers=identifiers,
    )


def _warnings(
    survey: Survey, cut: Counter[str], sessions: Sequence[SessionRecord], identifiers: Identifiers
) -> tuple[Caution, ...]:
    """Return what could not be read, or should not have been readable."""
    cautions = survey.cautions
    if lost := survey.dissector.given_up:
        cautions["not-reassembled"] += lost
    if cut:
        cautions["limits-reached"] += cut.total()
    if survey.broken:
        cautions["packet-not-decoded"] += survey.broken.total()
    causes = ", ".join(f"{name} {count}" for name, count in sorted(survey.broken.items()))
    details = DETAILS | {
        "limits-reached": DETAILS["limits-reached"] + ", ".join(sorted(cut)),
        "packet-not-decoded": DETAILS["packet-not-decoded"] + causes,
    }
    if clear := sum(unconcealed(sighting.value) for sighting in identifiers.suci):
        cautions["suci-null-scheme"] += clear
    # Where there are no sessions at all, nobody misses frames in them.
    if sessions and (unknown := survey.sessions.tunnels.unknown):
        cautions["gtpu-unknown-session"] += unknown
    return tuple(Caution(code, count, details[code]) for code, count in sorted(cautions.items()))


def _beyond(survey: Survey, stream: Stream) -> bool:
    """Whether a compressed capture asks for more effort than captures do; its reading ends there."""
    if not stream.compressed or not survey.effort.beyond(stream.consumed):
        return False
    stream.trouble = "expanded-limit"
    return True


def _read_exactly(survey: Survey, frames: Iterator[Frame], count: int, stream: Stream) -> bool:
    """Take up to `count` frames one by one; False when there were fewer, or too much effort in them."""
    taken = 0
    for frame in islice(frames, count):
        survey.take(frame)
        taken += 1
        if _beyond(survey, stream):
            return False
    return taken == count


def _steps(
    survey: Survey, file: ChunkedFile, frames: Iterator[Frame], stream: Stream, pace: Pace, most: int
) -> Iterator[None]:
    """Read a capture to its end, or so many frames of it, in steps: chunks where there are some, else frame by frame.

    Where no chunk can be had, ever more frames are read before the next try, and where one ended early the next one is
    small: a file made to stop the fast path is read little slower than without it.
    """
    batches = Batches(survey, pace.batch)
    window, patience = pace.first_window, 1
    largest = min(pace.window, COMPRESSED_WINDOW) if stream.compressed else pace.window
    while (left := most - survey.packets) and not _beyond(survey, stream):
        chunk = file.chunk(window, left)
        if chunk is None:
            if not _read_exactly(survey, frames, min(patience, left), stream):
                break
            patience = min(2 * patience, pace.patience)
            window = pace.first_window
        else:
            batches.take(chunk)
            patience = 1
            window = min(4 * window, largest)
        yield
    batches.settle()


def _single_steps(survey: Survey, frames: Iterator[Frame], stream: Stream, most: int) -> Iterator[None]:
    """Read so many frames of a capture one by one."""
    for frame in islice(frames, most):
        survey.take(frame)
        if _beyond(survey, stream):
            break
        if not survey.packets % REPORT_EVERY:
            yield


def profile_capture(
    source: BinaryIO,
    *,
    pilot: str | None,
    report: Report | None = None,
    expanded_limit: int = EXPANDED_LIMIT,
    pace: Pace | None = PACE,
    plan: Plan = NO_PLAN,
    max_packets: int | None = None,
) -> Profile:
    """Read a capture (pcap or pcapng; plain, gzip or zstd) from its first byte to its last and profile its hosts.

    `source` is only read forwards. A file that is cut, damaged, or expands beyond `expanded_limit` bytes keeps what
    came before: `complete` is False and a warning says why. So does one that has more than `max_packets` frames. `pace`
    None reads every frame by itself, for the same profile. Raises NotACapture when there is no file header.
    """
    stream, file = open_capture(source, expanded_limit)
    survey, frames = Survey(plan), iter(file)
    most = MOST if max_packets is None else max_packets
    if pace is None:
        steps = _single_steps(survey, frames, stream, most)
    else:
        steps = _steps(survey, file, frames, stream, pace, most)
    told = 0
    for _ in steps:
        if report is not None and survey.packets - told >= REPORT_EVERY:
            told = survey.packets
            report(Progress(told, stream.consumed))
    if survey.packets == most and next(frames, None) is not None:
        survey.cautions["cut-at-max-packets"] += 1
    if report is not None:
        report(Progress(survey.packets, stream.consumed))
    return _profile(survey, stream, file, pilot)
