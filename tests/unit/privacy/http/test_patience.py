"""Connections that keep us waiting are ended; those that move are not."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from uvicorn.config import Config
from uvicorn.server import ServerState

from pratique_privacy.http import patience
from pratique_privacy.http.patience import GRACE, HEAD, PACE, Patient, Waiting

LARGE = 64 << 20  # bytes that no buffer of a kernel holds


async def app(scope: dict[str, str], receive: object, send: object) -> None:
    """Read the whole body, then answer: `/large` with more than anybody takes at once."""
    assert callable(receive)
    assert callable(send)
    while (await receive()).get("more_body"):
        pass
    body = bytes(LARGE) if scope["path"] == "/large" else b"ok"
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
    await send({"type": "http.response.body", "body": body})


@pytest.fixture
async def port(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[int]:
    for name, seconds in (("LOOK", 0.02), ("HEAD", 0.2), ("GRACE", 0.2)):
        monkeypatch.setattr(patience, name, seconds)
    config = Config(app, log_config=None, lifespan="off")
    config.load()
    state = ServerState()
    server = await asyncio.get_running_loop().create_server(lambda: Patient(config, state, {}), "127.0.0.1", 0)
    yield server.sockets[0].getsockname()[1]
    server.close()


async def drip(port: int, sent: bytes, drop: bytes) -> bytes:
    """Send a beginning, then drops until the connection ends; return what came back."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(sent)
        async with asyncio.timeout(10):
            while not reader.at_eof():
                writer.write(drop)
                await writer.drain()
                await asyncio.sleep(0.02)
                if reader.exception():
                    return b""
            return await reader.read()
    except ConnectionError:
        return b""
    finally:
        writer.close()


@pytest.mark.parametrize(
    ("sent", "drop"),
    [
        (b"", b""),
        (b"GET / HTTP/1.1\r\n", b"a: b\r\n"),
        (b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000\r\n\r\n", b"x"),
        (b"POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
    ],
    ids=["nothing", "a head", "a body", "a chunked body"],
)
async def test_who_sends_a_head_or_a_body_by_drops_is_cut_off(port: int, sent: bytes, drop: bytes) -> None:
    assert await drip(port, sent, drop) == b""


async def test_who_asks_for_much_and_reads_nothing_is_cut_off(port: int) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 10)
    writer.write(b"GET /large HTTP/1.1\r\nhost: x\r\n\r\n")
    await asyncio.sleep(1.5)
    with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
        await reader.readexactly(LARGE)
    writer.close()


async def test_who_sends_and_reads_at_a_pace_is_answered(port: int) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"POST /large HTTP/1.1\r\nhost: x\r\ncontent-length: 100000\r\n\r\n")
    for _ in range(50):  # a second in all, five times what a client may stand still
        writer.write(bytes(2000))
        await asyncio.sleep(0.02)
    head = await reader.readuntil(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200")
    left = LARGE
    while left:
        left -= len(await reader.readexactly(min(left, LARGE // 40)))
        await asyncio.sleep(0.02)
    writer.close()


def test_a_head_has_its_seconds_however_much_comes_and_a_body_earns_more() -> None:
    head, body, idle = Waiting("head"), Waiting("body"), Waiting("body")
    assert not any(head.look("head", 10**6, 1.0) for _ in range(int(HEAD)))
    assert head.look("head", 10**6, 1.0)
    assert not any(body.look("body", int(PACE), 1.0) for _ in range(1000))
    assert not any(idle.look("body", 1, 1.0) for _ in range(int(GRACE)))
    assert idle.look("body", 1, 1.0)


def test_a_debt_that_is_paid_begins_anew() -> None:
    waiting = Waiting("body")
    for _ in range(5):
        assert not waiting.look("body", 0, GRACE)
        assert not waiting.look(None, 0, GRACE)
        assert not waiting.look("body", 0, GRACE)
