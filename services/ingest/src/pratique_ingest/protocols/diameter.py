"""Diameter (RFC 6733): subscriber identities of S6a, Gx, Gy, Cx and Rx, and which end is which."""

from collections.abc import Iterator

from pratique_ingest.protocols.digits import packed_digits
from pratique_ingest.protocols.findings import IMSI, Findings, Sign
from pratique_ingest.protocols.sip import telephone

USER_NAME, SUBSCRIPTION_ID, SUBSCRIPTION_TYPE, SUBSCRIPTION_DATA, MSISDN, FRAMED_ADDRESS = 1, 443, 450, 444, 701, 8
PUBLIC_IDENTITY = 601  # TS 29.229, 6.3.2: a SIP address or a telephone number
IMEI, IMEI_GROUP, SUBSCRIPTION_CONTENT, SERVICE_INFORMATION = 1402, 1401, 1400, 873
USER_EQUIPMENT_INFO, USER_EQUIPMENT_VALUE = 458, 460
GROUPED = frozenset({SUBSCRIPTION_ID, IMEI_GROUP, SUBSCRIPTION_CONTENT, USER_EQUIPMENT_INFO, SERVICE_INFORMATION, 874})
E164_TYPE, IMSI_TYPE = 0, 1
MAX_DEPTH, MAX_ATTRIBUTES = 4, 512
# Application and command -> sign of who asks and of who answers.
S6A, CX, RX, GX, GY = 16_777_251, 16_777_216, 16_777_236, 16_777_238, 4
SIDES = {
    **dict.fromkeys(((S6A, 316), (S6A, 318), (S6A, 321), (S6A, 323)), (Sign.S6A_MME, Sign.S6A_HSS)),
    **dict.fromkeys(((S6A, 317), (S6A, 319)), (Sign.S6A_HSS, Sign.S6A_MME)),
    **dict.fromkeys(((CX, 300), (CX, 301), (CX, 302), (CX, 303)), (Sign.CX_CSCF, Sign.S6A_HSS)),
    (RX, 265): (Sign.CX_CSCF, Sign.GX_PCRF),
    (GX, 272): (Sign.GX_PGW, Sign.GX_PCRF),
    (GX, 258): (Sign.GX_PCRF, Sign.GX_PGW),
    (GY, 272): (Sign.GX_PGW, Sign.GY_OCS),
}


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield code and value of each attribute; lengths cover the header and are padded to words."""
    at = 0
    for _ in range(MAX_ATTRIBUTES):
        if at + 8 > len(data):
            return
        code, size = int.from_bytes(data[at : at + 4], "big"), int.from_bytes(data[at + 5 : at + 8], "big")
        header = 12 if data[at + 4] & 0x80 else 8
        if size < header or at + size > len(data):
            return
        yield code, data[at + header : at + size]
        at += size + 3 & ~3


def _imsi(text: str, found: Findings) -> None:
    digits = text.split("@", 1)[0]
    if IMSI.fullmatch(digits):
        found.identity("imsi", digits)


def _walk(data: bytes, depth: int, found: Findings) -> None:
    kind = None
    for code, value in _attributes(data):
        if code == USER_NAME:
            _imsi(value.decode("ascii", "ignore"), found)
        elif code == SUBSCRIPTION_TYPE:
            kind = int.from_bytes(value, "big")
        elif code == SUBSCRIPTION_DATA and kind == IMSI_TYPE:
            _imsi(value.decode("ascii", "ignore"), found)
        elif code == SUBSCRIPTION_DATA and kind == E164_TYPE:
            found.identity("msisdn", value.decode("ascii", "ignore"))
        elif code == MSISDN:
            found.identity("msisdn", packed_digits(value))
        elif code == PUBLIC_IDENTITY:
            telephone(value + b" ", found)
        elif code in (IMEI, USER_EQUIPMENT_VALUE):
            found.identity("imei", value.decode("ascii", "ignore"))
        elif code == FRAMED_ADDRESS and len(value) == 4:
            found.subscribers.add(value)
        elif code in GROUPED and depth < MAX_DEPTH:
            _walk(value, depth + 1, found)


def diameter(data: bytes, found: Findings) -> bool:
    """Read the messages that begin in `data`, also one that is cut; False when the first is none."""
    at = 0
    while at + 20 <= len(data):
        size = int.from_bytes(data[at + 1 : at + 4], "big")
        if data[at] != 1 or size < 20 or size % 4:
            break
        command, application = (
            int.from_bytes(data[at + 5 : at + 8], "big"),
            int.from_bytes(data[at + 8 : at + 12], "big"),
        )
        found.protocols.add("diameter")
        found.signs(Sign.DIAMETER_NODE, Sign.DIAMETER_NODE)
        if sides := SIDES.get((application, command)):
            found.signs(*(sides if data[at + 4] & 0x80 else sides[::-1]))
        _walk(data[at + 20 : at + size], 0, found)
        at += size
    return at > 0
