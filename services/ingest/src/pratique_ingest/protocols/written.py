"""Identifiers as they are written in paths, header fields and bodies (TS 29.571, 5.3.2), whole values only."""

import re
from typing import Final

from pratique_ingest.protocols.findings import Findings, Kind
from pratique_ingest.protocols.suci import concealed, network_access

# An identifier is a whole value: no word goes on before or behind it, so ranges, patterns, file names and placeholders
# (`imsi-20895[...]`) are none. Percent signs may hide a separator (RFC 3986, 2.1).
BEHIND = rb"(?=[\"'/?&,;)\]}<>|#\\\s\x00]|%(?:2[0267CF]|3[ABCEF]|5D|7D|0[AD])|\Z)"


# The byte that ends one.
ENDING = re.compile(rb"[\"'/?&,;)\]}<>|#\\\s\x00%]")


def _whole(prefix: bytes, value: bytes) -> bytes:
    # What stands before is asked behind the prefix, so that the search may look for its letters. It is no byte that a
    # name may hold: each byte is then read for one name at most, and none twice (no quantifier gives back).
    return prefix + rb"(?:(?<![\w*.!$+~^-]%b)|(?<=%%[0-9A-Fa-f]{2}%b))" % (prefix, prefix) + value


IDENTIFIER = re.compile(
    rb"(?:%b)" % b"|".join((
        _whole(b"imsi-", rb"(?P<imsi>[0-9]{13,15}+)"),
        _whole(b"msisdn-", rb"(?P<msisdn>[0-9]{5,15}+)"),
        _whole(b"imei-", rb"(?P<imei>[0-9]{14,16}+)"),
        _whole(b"imeisv-", rb"(?P<imeisv>[0-9]{14,16}+)"),
        _whole(b"suci-0-", rb"(?P<suci>[0-9]{3}-[0-9]{2,3}-[0-9]{0,4}-[0-9]{1,2}-[0-9]{1,3}-[0-9a-fA-F]{4,2800}+)"),
        _whole(b"5g-guti-", rb"(?P<guti>[0-9]{5,6}[0-9a-fA-F]{14})"),
        _whole(b"nai-", rb"(?P<nai>[\w.!$+~^-]{1,253}+(?:@|%40)[A-Za-z0-9.-]{3,253}+)"),
    ))
    + BEHIND
)  # fmt: skip
# One of these is in every text with an identifier; looking for them is faster than one expression for all.
SIGNS: Final = (b"imsi-", b"suci-", b"msisdn-", b"imei", b"guti-", b"nai-")
PLAIN: Final[tuple[tuple[str, Kind], ...]] = (
    ("imsi", "imsi"), ("msisdn", "msisdn"), ("imei", "imei"), ("imeisv", "imei"),
)  # fmt: skip
# Enough of what was read last to complete an identifier that goes on in the next piece; a long concealed one that is
# not at its end is kept from where it began.
TAIL, LONGEST = 256, 3000
OPEN = re.compile(rb"suci-0-[0-9-]{0,24}[0-9a-fA-F]*\Z")


def _guti(text: str) -> str:
    """Return a 5G-GUTI as NAS gives it: network, then region, set and pointer of the AMF, and TMSI, all in hex."""
    network, amf, tmsi = text[:-14], int(text[-14:-8], 16), text[-8:].lower()
    return f"{network[:3]}-{network[3:]}-{amf >> 16:02x}-{amf >> 6 & 0x3FF:03x}-{amf & 0x3F:02x}-{tmsi}"


def _keep(match: re.Match[bytes], found: Findings) -> None:
    for name, kind in PLAIN:
        if match[name]:
            found.identity(kind, match[name].decode())
    if match["suci"]:
        mcc, mnc, routing, scheme, key, output = match["suci"].decode().split("-")
        concealed(mcc, mnc, routing, int(scheme), int(key), output.lower(), found)
    elif match["guti"] and match["guti"].strip(b"0"):
        found.identity("guti", _guti(match["guti"].decode()))
    elif match["nai"]:
        network_access(match["nai"].replace(b"%40", b"@"), found)


def text_identities(data: bytes, found: Findings, known: int = 0, closed: bool = True) -> None:
    """Keep the identifiers that stand in a text.

    The first `known` bytes were read before. Unless `closed`, what ends with the data may go on: it waits for more.
    """
    if b"i-" not in data and b"msisdn-" not in data and b"imeisv-" not in data:
        return
    if not any(sign in data for sign in SIGNS):
        return
    seen: set[bytes] = set()
    for match in IDENTIFIER.finditer(data):
        end = match.end()
        # A percent sign that was cut left its value waiting, too.
        if end < known and not (data[end] == 0x25 and end + 3 > known):
            continue
        if (end < len(data) or closed) and match[0] not in seen:
            seen.add(match[0])
            _keep(match, found)


class Trail:
    """A text that comes in pieces: each identifier is found once, and whole, wherever it is cut."""

    __slots__ = ("tail",)

    def __init__(self) -> None:
        self.tail = b""

    def take(self, data: bytes, found: Findings) -> None:
        """Read the next piece."""
        tail = self.tail
        joined = tail + data if tail else data
        if ENDING.search(joined, max(len(tail) - 2, 0)) is not None:
            text_identities(joined, found, len(tail), closed=False)
        self.tail = joined if len(joined) <= TAIL else _kept(joined)

    def end(self, found: Findings) -> None:
        """Read what waited: nothing follows any more."""
        if self.tail:
            text_identities(self.tail, found, len(self.tail))
            self.tail = b""

    def cut(self) -> None:
        """Forget what waits: the bytes behind it are missing."""
        self.tail = b""


def _kept(joined: bytes) -> bytes:
    begun = joined.rfind(b"suci-", -LONGEST)
    if 0 < begun < len(joined) - TAIL and OPEN.match(joined, begun):
        return joined[begun - 1 :]
    return joined[-TAIL:]
