"""SUCI: which concealed identifiers are possible (TS 23.003, 2.2B; TS 33.501, annex C), in the text of TS 29.571."""

import re

from pratique_ingest.protocols.findings import IMSI, Findings

NULL, PROFILE_A, PROFILE_B = 0, 1, 2
RESERVED = frozenset(range(3, 12))
# TS 33.501, C.3.4: an ephemeral key of 32 or 33 bytes, the digits of the MSIN two a byte (8 to 10 of them; some are
# sent padded), and a code of 8 bytes.
OUTPUT_BYTES = {PROFILE_A: range(32 + 1 + 8, 32 + 16 + 8 + 1), PROFILE_B: range(33 + 1 + 8, 33 + 16 + 8 + 1)}
PROPRIETARY_BYTES = range(1, 1401)
# RFC 7542, 2.2: a name and a realm of two labels at least; TS 23.003, 28.7: "anonymous" conceals who it is.
NAI = re.compile(r"(?!anonymous@)[!-?A-~]{1,253}@(?:[A-Za-z0-9-]{1,63}\.){1,16}[A-Za-z0-9-]{1,63}", re.IGNORECASE)
# TS 23.003, 28.7.3: a network access identifier says its scheme in the name.
UNCONCEALED_NAI = re.compile(rf"nai-type[0-9]\.rid[0-9]{{1,4}}\.schid{NULL}\.userid", re.IGNORECASE)
HEX = re.compile(r"(?:[0-9a-f]{2})+")


def concealed(mcc: str, mnc: str, routing: str, scheme: int, key: int, output: str, found: Findings) -> None:
    """Keep a SUCI whose SUPI is an IMSI, unless it is an impossible one; the null scheme gives the IMSI in clear too.

    A routing indicator that is not there stands for the default, 0 (TS 23.003, 2.2B).
    """
    if not (mcc + mnc).isdecimal() or not (routing or "0").isdecimal() or scheme in RESERVED:
        return
    if scheme == NULL:
        imsi = mcc + mnc + output
        if not IMSI.fullmatch(imsi) or not imsi.strip("0"):
            return
        found.identity("imsi", imsi)
    elif not HEX.fullmatch(output) or len(output) // 2 not in OUTPUT_BYTES.get(scheme, PROPRIETARY_BYTES):
        return
    found.identity("suci", f"suci-0-{mcc}-{mnc}-{routing or '0'}-{scheme}-{key}-{output}")


def unconcealed(suci: str) -> bool:
    """Whether the text of a SUCI gives its SUPI in clear: by the null scheme (TS 33.501, C.2), in either form of it."""
    parts = suci.split("-")
    return (parts[0] == "suci" and parts[5] == str(NULL)) or UNCONCEALED_NAI.match(suci) is not None


def network_access(name: bytes, found: Findings) -> None:
    """Keep a SUCI that is a network access identifier, if it names somebody (TS 23.003, 28.7.3)."""
    text = name.decode("latin-1")
    if NAI.fullmatch(text):
        found.identity("suci", f"nai-{text}")
