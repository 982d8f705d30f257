"""SIP (RFC 3261): its messages by their first line, and the telephone numbers in their headers."""

import re

from pratique_ingest.protocols.findings import Findings, Sign

FIRST_LINE = re.compile(rb"(?:[A-Z]{3,12} (?:sips?|tel):[^\r\n ]{1,1024} SIP/2\.0|SIP/2\.0 [1-6][0-9]{2} )")
MAX_HEAD = 8192
# A telephone number as its own scheme (RFC 3966), or as the user of a SIP address that says so (RFC 3261, 19.1.1).
NUMBER = re.compile(
    rb"(?<![\w-])(?:tel:|sips?:(?=\+?[0-9]{5,15}(?:;phone-context=|@[^>;\r\n]{1,255};user=phone)))"
    rb"\+?([0-9]{5,15})(?=[;>@\s\"?,])"
)
# The headers that say who speaks with whom (RFC 3261, 20; RFC 3325, 9.1; RFC 7315).
NAMING = re.compile(
    rb"\r\n(?:from|f|to|t|p-asserted-identity|p-preferred-identity|p-called-party-id|p-associated-uri)[ \t]{0,8}:"
    rb"([^\r\n]{1,2048})",
    re.IGNORECASE,
)


def telephone(text: bytes, found: Findings) -> None:
    """Keep the telephone numbers in a text of addresses; the sign of international numbers is not part of them."""
    for match in NUMBER.finditer(text):
        found.identity("msisdn", match[1].decode())


def sip(data: bytes, found: Findings) -> bool:
    """Read the head of a SIP message; False when the bytes do not begin one."""
    line = FIRST_LINE.match(data)
    if line is None:
        return False
    found.protocols.add("sip")
    found.signs(Sign.SIP_NODE, Sign.SIP_NODE)
    telephone(line[0], found)
    head = data[:MAX_HEAD].split(b"\r\n\r\n", 1)[0]
    for match in NAMING.finditer(head):
        telephone(match[1], found)
    return True
