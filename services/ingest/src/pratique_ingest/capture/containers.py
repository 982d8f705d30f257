"""Capture containers: pcap and pcapng, plain or compressed, told apart by their magic and not by a name."""

from typing import BinaryIO, ClassVar

from pratique_ingest.capture.chunks import ChunkedFile
from pratique_ingest.capture.pcap import MAGICS, PcapFile
from pratique_ingest.capture.pcapng import SECTION_MAGIC, PcapngFile
from pratique_ingest.capture.stream import Stream

GIB = 1 << 30
EXPANDED_LIMIT = 64 * GIB


class NotACapture(ValueError):
    """The bytes are neither pcap nor pcapng, plain, gzip or zstd."""

    code: ClassVar[str] = "not-a-capture"

    def __init__(self) -> None:
        super().__init__("not a pcap or pcapng file (plain, gzip or zstd)")


def open_capture(source: BinaryIO, expanded_limit: int = EXPANDED_LIMIT) -> tuple[Stream, ChunkedFile]:
    """Return the stream and its frames; raise NotACapture unless a whole file header is there.

    A compressed file that is damaged inside the header is a capture without frames: its magic says what it was.
    """
    stream = Stream(source, expanded_limit)
    magic = stream.take(4)
    file: PcapFile | PcapngFile
    if magic in MAGICS:
        file = PcapFile(stream, magic)
    elif magic == SECTION_MAGIC:
        file = PcapngFile(stream)
    else:
        raise NotACapture
    if not file.valid and not stream.trouble:
        raise NotACapture
    return stream, file
