"""The capture child: a capture comes in by pieces, records go out. It knows neither the store nor a key."""

import io
import json
from collections.abc import Iterator
from dataclasses import asdict, fields

from pratique_ingest.plan import read_plan
from pratique_ingest.profile import NotACapture, Profile, Progress, host_row, profile_capture, session_row
from pratique_ingest.records import Identifiers, instant
from pratique_shared.contracts.problems import Unsupported
from pratique_shared.runtime.child_process import Call, Reply


class _Pieces(io.RawIOBase):
    """The pieces of a call as a readable stream."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces, self._left = pieces, memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        while not self._left:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._left = memoryview(piece)
        count = min(len(buffer), len(self._left))
        buffer[:count] = self._left[:count]
        self._left = self._left[count:]
        return count


def profile_in_child(call: Call) -> Reply:
    """Profile the capture that comes with a call. Runs in the capture child, which knows neither store nor key."""

    def report(progress: Progress) -> None:
        call.progress(progress._asdict())

    source = io.BufferedReader(_Pieces(call.blobs()), buffer_size=1 << 20)
    try:
        profile = profile_capture(
            source,
            pilot=call.body["pilot"],
            report=report,
            plan=read_plan(call.body["plan"]),
            max_packets=call.body["max_packets"],
        )
    except NotACapture as error:
        raise Unsupported(
            error.code, "This is neither pcap nor pcapng: send the file that the capture tool wrote."
        ) from error
    return _reply(profile)


def _reply(profile: Profile) -> Reply:
    """Return the profile as it leaves the child: a summary, and three blobs that are written piece by piece."""
    body = {
        "packets": profile.packets,
        "bytes": profile.bytes,
        "complete": profile.complete,
        "warnings": [asdict(warning) for warning in profile.warnings],
        "link_types": profile.link_types,
        "started": _text(profile.started),
        "ended": _text(profile.ended),
        "hosts": len(profile.hosts),
        "sessions": len(profile.sessions),
    }
    hosts = _written(json.dumps(host_row(host)) + "\n" for host in profile.hosts)
    sessions = _written(json.dumps(session_row(session)) + "\n" for session in profile.sessions)
    return Reply(body, (hosts, sessions, _written(_identifiers(profile.identifiers))))


def _written(texts: Iterator[str]) -> bytes:
    """Join texts without holding them all beside the whole."""
    whole = io.BytesIO()
    for text in texts:
        whole.write(text.encode())
    return whole.getvalue()


def _identifiers(identifiers: Identifiers) -> Iterator[str]:
    """Yield a JSON object of lists, one a kind of identifier."""
    opening = "{"
    for kind in fields(identifiers):
        yield f'{opening}"{kind.name}": ['
        for number, sighting in enumerate(getattr(identifiers, kind.name)):
            yield (", " if number else "") + json.dumps(sighting._asdict())
        yield "]"
        opening = ", "
    yield "}"


def _text(seconds: float | None) -> str | None:
    return None if seconds is None else instant(int(seconds * 1e6) * 1000)
