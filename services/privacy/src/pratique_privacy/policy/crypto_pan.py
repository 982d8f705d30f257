"""Crypto-PAn: pseudonyms of addresses that share a prefix exactly as long as the addresses did."""

from collections.abc import Sequence
from ipaddress import IPv6Address

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES128
from cryptography.hazmat.primitives.ciphers.modes import ECB

from pratique_privacy.policy.addresses import Address


def crypto_pan(key: bytes, addresses: Sequence[Address]) -> list[str]:
    """Return the prefix-preserving pseudonym of each address (Xu, Fan, Ammar and Moon 2002).

    `key` has 32 bytes: an AES-128 key, and a block whose encryption pads the prefixes. Bit i of the result is bit i of
    the address, flipped by the first bit of AES(first i bits of the address, then pad). IPv6 runs the same rule on
    128 bits. It is a bijection for each version.
    """
    pseudonyms = [""] * len(addresses)
    for version in (4, 6):
        places = [place for place, address in enumerate(addresses) if address.version == version]
        if not places:
            continue
        packed = b"".join(addresses[place].packed for place in places)
        found = _map_all(key, np.frombuffer(packed, dtype=np.uint8).reshape(len(places), -1))
        for place, row in zip(places, found, strict=True):
            pseudonyms[place] = ".".join(map(str, row)) if version == 4 else str(IPv6Address(row.tobytes()))
    return pseudonyms


def _map_all(key: bytes, octets: np.ndarray) -> np.ndarray:
    """Map rows of 4 or 16 octets: one pass of AES over all of them for each bit."""
    # ECB is the bare block permutation here, which is what the construction asks for; no message is encrypted.
    cipher = Cipher(AES128(key[:16]), ECB()).encryptor()  # noqa: S305
    pad = np.frombuffer(cipher.update(key[16:32]), dtype=np.uint8)
    count, width = octets.shape
    blocks = np.tile(pad, (count, 1))
    flips = np.zeros((count, width * 8), dtype=np.uint8)
    for bit in range(width * 8):
        block = np.frombuffer(cipher.update(blocks.tobytes()), dtype=np.uint8).reshape(count, 16)
        flips[:, bit] = block[:, 0] >> 7
        octet, mask = bit // 8, np.uint8(0x80 >> bit % 8)
        blocks[:, octet] = (blocks[:, octet] & ~mask) | (octets[:, octet] & mask)
    return octets ^ np.packbits(flips, axis=1)
