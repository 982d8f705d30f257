"""The capture child: a capture comes in by pieces, records go out. It knows neither the store nor a key."""

import io
import json
from collections.abc import Iterator
from dataclasses import asdict, fields

from pratique_ingest.profile import NotACapture, Progress, host_row, profile_capture, session_row
from pratique_ingest.records import instant
from pratique_shared.contracts.problems import Unsupported
from pratique_shared.runtime.children import Call, Reply


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
        profile = profile_capture(source, pilot=call.body["pilot"], report=report)
    except NotACapture as error:
        raise Unsupported(
            error.code, "This is neither pcap nor pcapng: send the file that the capture tool wrote."
        ) from error
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
    identifiers = {
        kind.name: [found._asdict() for found in getattr(profile.identifiers, kind.name)]
        for kind in fields(profile.identifiers)
    }
    hosts = b"".join(json.dumps(host_row(host)).encode() + b"\n" for host in profile.hosts)
    sessions = b"".join(json.dumps(session_row(session)).encode() + b"\n" for session in profile.sessions)
    return Reply(body, (hosts, sessions, json.dumps(identifiers).encode()))


def _text(seconds: float | None) -> str | None:
    return None if seconds is None else instant(int(seconds * 1e6) * 1000)
