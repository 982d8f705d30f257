"""WebSocket: the upgrade and the text frames under OCPP (RFC 6455)."""

import base64
import hashlib
import struct
from random import Random

_GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_TEXT, _CLOSE, _PING, _PONG = 0x81, 0x88, 0x89, 0x8A


def upgrade(host: str, path: str, protocol: str, nonce: bytes) -> bytes:
    """Ask to leave HTTP for a sub-protocol (§4.1)."""
    lines = (
        f"GET {path} HTTP/1.1",
        f"Host: {host}",
        "Upgrade: websocket",
        "Connection: Upgrade",
        f"Sec-WebSocket-Key: {base64.b64encode(nonce).decode('ascii')}",
        f"Sec-WebSocket-Protocol: {protocol}",
        "Sec-WebSocket-Version: 13",
    )
    return "\r\n".join((*lines, "", "")).encode("ascii")


def switching(protocol: str, nonce: bytes) -> bytes:
    """Agree (§4.2.2)."""
    proof = base64.b64encode(nonce).decode("ascii") + _GUID
    accept = base64.b64encode(hashlib.sha1(proof.encode("ascii"), usedforsecurity=False).digest()).decode("ascii")
    lines = (
        "HTTP/1.1 101 Switching Protocols",
        "Upgrade: websocket",
        "Connection: Upgrade",
        f"Sec-WebSocket-Accept: {accept}",
        f"Sec-WebSocket-Protocol: {protocol}",
    )
    return "\r\n".join((*lines, "", "")).encode("ascii")


def _frame(first: int, payload: bytes, mask: bytes | None) -> bytes:
    flag = 0 if mask is None else 0x80
    size = len(payload)
    head = bytes([first, flag | size]) if size < 126 else struct.pack("!BBH", first, flag | 126, size)
    if mask is None:
        return head + payload
    return head + mask + bytes(octet ^ mask[i % 4] for i, octet in enumerate(payload))


def text_from_client(chance: Random, text: str) -> bytes:
    """Return a text frame with a random mask, as a client must send it (§5.3)."""
    return _frame(_TEXT, text.encode(), chance.randbytes(4))


def text_from_server(text: str) -> bytes:
    """Return a text frame in clear."""
    return _frame(_TEXT, text.encode(), None)


def ping(chance: Random, payload: bytes) -> bytes:
    """Return a client's ping (§5.5.2)."""
    return _frame(_PING, payload, chance.randbytes(4))


def pong(payload: bytes) -> bytes:
    """Return the server's answer to a ping."""
    return _frame(_PONG, payload, None)
