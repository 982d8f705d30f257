"""A capture's profile: every frame read once, into one record per host."""

from collections.abc import Iterator
from itertools import islice
from typing import BinaryIO, NamedTuple

from pratique_ingest.capture.chunks import ChunkedFile
from pratique_ingest.capture.containers import EXPANDED_LIMIT, NotACapture, open_capture
from pratique_ingest.capture.frames import Frame, FrameFile
from pratique_ingest.capture.link import link_name
from pratique_ingest.capture.stream import Stream
from pratique_ingest.fast.batches import Batches
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
    "bad-ip": "frames said to carry IP whose header is none",
    "cut-header": "frames cut before the end of their headers",
    "too-deep": "frames with more tags or tunnels than are followed",
    "unknown-link": "frames of a link type without IP, or not known",
    "packet-not-decoded": "frames whose payload broke a decoder; they are counted for their hosts",
    "nas-ciphered": "NAS messages that are ciphered: their identifiers cannot be read",
    "not-reassembled": "fragments of messages and datagrams whose other parts are missing",
    "limits-reached": "beyond what is kept in memory: ",
}


def _profile(survey: Survey, stream: Stream, file: FrameFile, pilot: str | None) -> Profile:
    """Return what has been counted."""
    cautions, cut = survey.cautions, survey.budget.cut
    ended_by = stream.trouble or file.ended_by
    if ended_by:
        cautions[ended_by] += 1
    if lost := survey.dissector.given_up:
        cautions["not-reassembled"] += lost
    if cut:
        cautions["limits-reached"] += cut.total()
    details = DETAILS | {"limits-reached": DETAILS["limits-reached"] + ", ".join(sorted(cut))}
    return Profile(
        packets=survey.packets,
        bytes=stream.position,
        complete=ended_by is None and not cut,
        warnings=tuple(Caution(code, count, details[code]) for code, count in sorted(cautions.items())),
        link_types=tuple(dict.fromkeys(link_name(link_type) for link_type in file.link_types)),
        started=None if survey.started is None else survey.started / 1e9,
        ended=None if survey.ended is None else survey.ended / 1e9,
        hosts=tuple(survey.ledger.records(pilot)),
        sessions=tuple(survey.sessions.records(pilot)),
        identifiers=survey.ledger.identifiers(),
    )


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


def _steps(survey: Survey, file: ChunkedFile, stream: Stream, pace: Pace) -> Iterator[None]:
    """Read a capture to its end, in steps: chunks where there are some, else frame by frame.

    Where no chunk can be had, ever more frames are read before the next try, and where one ended early the next one is
    small: a file made to stop the fast path is read little slower than without it.
    """
    batches, frames = Batches(survey, pace.batch), iter(file)
    window, patience = pace.first_window, 1
    largest = min(pace.window, COMPRESSED_WINDOW) if stream.compressed else pace.window
    while not _beyond(survey, stream):
        chunk = file.chunk(window)
        if chunk is None:
            if not _read_exactly(survey, frames, patience, stream):
                break
            patience = min(2 * patience, pace.patience)
            window = pace.first_window
        else:
            batches.take(chunk)
            patience = 1
            window = min(4 * window, largest)
        yield
    batches.settle()


def _single_steps(survey: Survey, file: FrameFile, stream: Stream) -> Iterator[None]:
    """Read a capture frame by frame."""
    for frame in file:
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
) -> Profile:
    """Read a capture (pcap or pcapng; plain, gzip or zstd) from its first byte to its last and profile its hosts.

    `source` is only read forwards. A file that is cut, damaged, or expands beyond `expanded_limit` bytes keeps what
    came before: `complete` is False and a warning says why. `pace` None reads every frame by itself, for the same
    profile. Raises NotACapture when there is no file header.
    """
    stream, file = open_capture(source, expanded_limit)
    survey = Survey()
    steps = _single_steps(survey, file, stream) if pace is None else _steps(survey, file, stream, pace)
    told = 0
    for _ in steps:
        if report is not None and survey.packets - told >= REPORT_EVERY:
            told = survey.packets
            report(Progress(told, stream.consumed))
    if report is not None:
        report(Progress(survey.packets, stream.consumed))
    return _profile(survey, stream, file, pilot)
