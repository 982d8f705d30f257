"""Words: what the name of a column is made of."""

import re

_PIECE = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")  # srcIp, MSISDN, ipv4


def words_of(name: str) -> tuple[list[str], list[str]]:
    """Return the words of a name in lower case, read in two ways.

    Cut where case and kind of character change (`srcIp` has the word ip), and cut at signs alone (`ipv4_addr` has the
    word ipv4).
    """
    at_signs = [word for word in re.split(r"[\W_]+", name) if word]
    return [piece.lower() for piece in _PIECE.findall(name)], [word.lower() for word in at_signs]
