"""Forms of pseudonym: what one key, or one salt, makes of one text."""

import hashlib
import hmac
from collections.abc import Callable, Iterable, Sequence

from pratique_shared.contracts.policy import OnCollision

TOKEN_BYTES = 16
SALT_BYTES = 16
_DIGEST_BITS = 256


def hmac_hex(key: bytes, texts: Iterable[str]) -> list[str]:
    """Return HMAC-SHA-256 over the UTF-8 of each text, all 256 bits as hex (Kekatos et al. 2026, §IV-C; RFC 2104)."""
    keyed = hmac.new(key, digestmod="sha256")
    digests = []
    for text in texts:
        one = keyed.copy()  # the key is hashed once, not once a value
        one.update(text.encode())
        digests.append(one.hexdigest())
    return digests


def salted_hex(salt: bytes, text: str, bits: int = 128) -> str:
    """Return the leading `bits` of SHA-256 over the salt, then the UTF-8 text, as hex."""
    return hashlib.sha256(salt + text.encode()).hexdigest()[: bits // 4]


def ipv4_shaped(key: bytes, texts: Sequence[str]) -> list[str]:
    """Return the first octet of each dotted IPv4 text and three from the HMAC over it (Kekatos et al. 2026, §IV-C).

    24 bits are not injective: some 4,800 hosts in one first octet collide as often as not.
    """
    digests = (bytes.fromhex(digest[:6]) for digest in hmac_hex(key, texts))
    return [".".join([text.partition(".")[0], *map(str, digest)]) for text, digest in zip(texts, digests, strict=True)]


def random_tokens(entropy: Callable[[int], bytes], count: int) -> list[str]:
    """Return `count` fresh tokens of 128 bits, as hex."""
    drawn = entropy(TOKEN_BYTES * count).hex()
    return [drawn[start : start + 2 * TOKEN_BYTES] for start in range(0, len(drawn), 2 * TOKEN_BYTES)]


def injective(tokens: Sequence[str]) -> bool:
    """Say whether no two of the tokens are equal."""
    return len(set(tokens)) == len(tokens)


def length_without_collision(digests: Sequence[str], bits: int, on_collision: OnCollision) -> int | None:
    """Return the bits at which the hex digests differ from each other: `bits`, or more under `lengthen`; else None.

    One length holds for the whole column, so that the length of a token says nothing about its value.
    """
    lengths = range(bits, (_DIGEST_BITS if on_collision == "lengthen" else bits) + 1, 4)
    return next((length for length in lengths if injective([digest[: length // 4] for digest in digests])), None)
