"""Places: where the outermost IP header of each frame stands, for the link layers that most captures have."""

import numpy as np

from pratique_ingest.capture.chunks import Chunk
from pratique_ingest.capture.lanes import Bytes, Places
from pratique_ingest.capture.link import LOOPBACK_IPV6, VLAN_TAGS
from pratique_ingest.fast.rows import Flags

ETHERNET, RAW, LOOPBACK = 1, (12, 14, 101, 228, 229), (0, 108)
# Link type -> where its EtherType stands, and how long its header is.
TYPED = {ETHERNET: (12, 14), 113: (14, 16), 276: (0, 20)}
# Two tags make QinQ; deeper stacks are rare enough for the exact path.
TAGS = 2


def _swapped(kinds: list[int], width: int) -> list[int]:
    """Numbers as they read when a field in network order is loaded as it stands."""
    return [int.from_bytes(kind.to_bytes(width, "big"), "little") for kind in kinds]


IP_TYPES, TAG_TYPES = _swapped([0x0800, 0x86DD], 2), np.array(_swapped(sorted(VLAN_TAGS), 2), dtype=np.uint16)
FAMILIES = [2, *LOOPBACK_IPV6]
LOOPBACK_FAMILIES = np.array(FAMILIES + _swapped(FAMILIES, 4), dtype=np.uint32)
EVERYBODY = np.uint32(0xFFFFFFFF)


def _typed(buffer: Bytes, starts: Places, type_at: int, header: int) -> tuple[Places, Flags]:
    """Pass a link header with an EtherType, and VLAN tags; say which frames have IP behind it."""
    shorts = np.ndarray((len(buffer) - 1,), "<u2", buffer, 0, (1,))
    at, kinds = starts + header, shorts[starts + type_at]
    for _ in range(TAGS):
        tagged = np.flatnonzero(np.isin(kinds, TAG_TYPES)) if (kinds != IP_TYPES[0]).any() else ()
        if not len(tagged):
            break
        kinds[tagged] = shorts[at[tagged] + 2]
        at[tagged] += 4
    return at, (kinds == IP_TYPES[0]) | (kinds == IP_TYPES[1])


def _one_link(link_type: int, buffer: Bytes, starts: Places) -> tuple[Places, Flags]:
    words = np.ndarray((len(buffer) - 3,), "<u4", buffer, 0, (1,))
    if link_type in RAW:
        return starts, np.ones(len(starts), dtype=np.bool_)
    if link_type in LOOPBACK:
        return starts + 4, np.isin(words[starts], LOOPBACK_FAMILIES)
    if link_type not in TYPED:
        return starts, np.zeros(len(starts), dtype=np.bool_)
    at, found = _typed(buffer, starts, *TYPED[link_type])
    if link_type == ETHERNET:  # a broadcast frame says something about its receiver
        found &= words[starts] != EVERYBODY
    return at, found


def versions(chunk: Chunk) -> tuple[Places, Places]:
    """Return the offset of each frame's IP header, and its version: zero for frames that the exact path must read.

    A header that lies beyond the frame's end is found out when the header is read: the bytes are inside the buffer.
    """
    links = chunk.links
    if (links == links[0]).all():
        at, found = _one_link(int(links[0]), chunk.buffer, chunk.starts)
    else:
        at, found = np.zeros_like(links), np.zeros(len(links), dtype=np.bool_)
        for link_type in np.unique(links):
            mine = np.flatnonzero(links == link_type)
            at[mine], found[mine] = _one_link(int(link_type), chunk.buffer, chunk.starts[mine])
    version = chunk.buffer[at] >> 4
    return at, np.where(found & ((version == 4) | (version == 6)), version, 0).astype(np.int64)
