"""NR RRC: the three messages that set a phone's connection up (3GPP TS 38.331, unaligned packed encoding)."""

from pratique_local.sample.aper import Bits, length


def setup_request(chance: int) -> bytes:
    """Return RRCSetupRequest with 39 random bits as identity, cause mo-Signalling."""
    return Bits().put(0, 3).put(1, 1).put(chance, 39).put(3, 4).put(0, 1).done()


def setup() -> bytes:
    """Return RRCSetup with SRB1 and an empty cell group."""
    cell_group = Bits().put(0, 10).done()
    # DL-CCCH, choice rrcSetup, transaction 0; of the optional parts only srb-ToAddModList, which holds SRB 1.
    bits = Bits().put(0, 1).put(1, 2).put(0, 2).put(0, 1).put(0, 2).put(0, 1).put(0b10000, 5)
    bits.put(0, 1).put(0, 4).put(0, 2)
    return bits.put(len(cell_group), 8).loose(cell_group).done()


def setup_complete(nas: bytes) -> bytes:
    """Return RRCSetupComplete with the first NAS message, between PDCP header and code (TS 38.323 §6.2.2.1)."""
    bits = Bits().put(0, 1).put(2, 4).put(0, 2).put(0, 1).put(0, 6).put(0, 4)
    return b"\0\0" + bits.loose(length(len(nas))).loose(nas).done() + bytes(4)
