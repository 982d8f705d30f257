"""NR-RRC (TS 38.331) as far as it carries NAS: information transfers and the completed setup, in unaligned PER."""

from pratique_ingest.protocols.findings import Findings
from pratique_ingest.protocols.nas5g import nas5g

UPLINK_TRANSFER, DOWNLINK_TRANSFER, SETUP_COMPLETE = 7, 5, 2
# PDCP's header of twelve-bit sequence numbers before, the integrity code behind (TS 38.323, 6.2.2.1).
PDCP_HEADER, PDCP_CODE = 2, 4


class _Bits:
    """Bits of a message, most significant first; reading past the end raises IndexError."""

    def __init__(self, data: bytes) -> None:
        self._number, self._left = int.from_bytes(data, "big"), len(data) * 8

    def take(self, count: int) -> int:
        self._left -= count
        if self._left < 0:
            raise IndexError
        return self._number >> self._left & ((1 << count) - 1)

    def string(self) -> bytes:
        """Return an OCTET STRING behind its length determinant."""
        size = self.take(8)
        if size & 0x80:
            size = (size & 0x3F) << 8 | self.take(8)
        return self.take(size * 8).to_bytes(size, "big")


def _setup_complete(bits: _Bits) -> bytes:
    """Return the NAS message of RRCSetupComplete, behind the registered AMF and the slices."""
    bits.take(3)  # transaction, critical extensions
    amf, guami_type, slices, _, _, _ = (bits.take(1) for _ in range(6))
    bits.take(4)  # selected PLMN
    if amf:
        if bits.take(1):
            _plmn(bits)
        bits.take(24)
    if guami_type:
        bits.take(1)
    if slices:
        for _ in range(bits.take(3) + 1):
            bits.take(32 if bits.take(1) else 8)
    return bits.string()


def _plmn(bits: _Bits) -> None:
    if bits.take(1):
        bits.take(12)  # MCC
    bits.take(12 if bits.take(1) else 8)  # MNC of three or two digits


def _transfer(bits: _Bits, transaction: int) -> bytes:
    """Return the NAS message of an information transfer; the downlink one has a transaction number before it."""
    bits.take(transaction + 1)
    present = bits.take(3) & 4
    return bits.string() if present else b""


def rrc(container: bytes, uplink: bool, found: Findings) -> bool:
    """Read a dedicated control message inside its PDCP frame; False when it carries no readable NAS."""
    found.protocols.add("nr-rrc")
    bits = _Bits(container[PDCP_HEADER:-PDCP_CODE])
    try:
        if bits.take(1):
            return False
        kind = bits.take(4)
        if uplink and kind == UPLINK_TRANSFER:
            message = _transfer(bits, 0)
        elif not uplink and kind == DOWNLINK_TRANSFER:
            message = _transfer(bits, 2)
        elif uplink and kind == SETUP_COMPLETE:
            message = _setup_complete(bits)
        else:
            return False
    except IndexError:
        return False
    return nas5g(message, found)
