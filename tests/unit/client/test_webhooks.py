"""Webhooks on the user's side: only what is genuine is read, and the shell shows what was sent and what comes."""

import base64
import contextlib
import json
import threading
import time
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest
from standardwebhooks import Webhook

from pratique.cli import main
from pratique.webhooks import NotGenuine, verify
from tests.support.house import free_port
from tests.unit.client.scripted import Scripted, Turn

SECRET = "whsec_" + base64.b64encode(bytes(range(32))).decode()
EVENT = {"type": "release.completed", "subject": "rel_1", "time": "2026-05-04T12:00:00Z", "data": {"verdict": "pass"}}
BODY = json.dumps(EVENT).encode()
NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)
WEBHOOK = {"id": "whk_1", "url": "https://x/", "events": ["release.completed"], "status": "enabled"}


def signed(body: bytes = BODY, at: datetime = NOON, identity: str = "dlv_1") -> dict[str, str]:
    """Headers as the official library makes them."""
    signature = Webhook(SECRET).sign(identity, at, body.decode())
    return {"webhook-id": identity, "webhook-timestamp": str(int(at.timestamp())), "webhook-signature": signature}


def run(line: str, *turns: Turn) -> tuple[int, Scripted]:
    service = Scripted(*turns)
    return main(line.split(), connect=lambda _: service.client()), service


def test_what_the_official_library_signed_is_genuine() -> None:
    assert verify(SECRET, signed(), BODY, NOON.timestamp()) == EVENT
    both = {**signed(), "webhook-signature": "v1a,xyz v1,abc " + signed()["webhook-signature"]}
    assert verify(SECRET, both, BODY, NOON.timestamp()) == EVENT


@pytest.mark.parametrize(
    ("changed", "body", "late", "code"),
    [
        ({}, BODY + b" ", 0, "not-genuine"),
        ({"webhook-id": "dlv_2"}, BODY, 0, "not-genuine"),
        ({"webhook-timestamp": "1777896001"}, BODY, 0, "not-genuine"),
        ({"webhook-signature": "v1a,x"}, BODY, 0, "not-genuine"),
        ({"webhook-signature": ""}, BODY, 0, "not-genuine"),
        ({"webhook-id": ""}, BODY, 0, "not-signed"),
        ({"webhook-timestamp": "soon"}, BODY, 0, "not-signed"),
        ({}, BODY, 301, "not-now"),
        ({}, BODY, -301, "not-now"),
    ],
)
def test_anything_else_is_refused(changed: dict[str, str], body: bytes, late: float, code: str) -> None:
    with pytest.raises(NotGenuine) as refused:
        verify(SECRET, {**signed(), **changed}, body, NOON.timestamp() + late)
    assert refused.value.code == code


def test_a_secret_that_is_none_is_told() -> None:
    with pytest.raises(NotGenuine) as refused:
        verify("whsec_!!", signed(), BODY, NOON.timestamp())
    assert refused.value.code == "bad-secret"


def test_add_shows_the_secret_and_sends_what_was_given(capsys: pytest.CaptureFixture[str]) -> None:
    line = "webhook add https://x/ --event release.completed --event release.failed --recipient fl"
    status, service = run(line, httpx.Response(201, json={**WEBHOOK, "secret": SECRET}))
    assert status == 0
    assert SECRET in capsys.readouterr().out
    assert json.loads(service.asked[0].content) == {
        "url": "https://x/",
        "events": ["release.completed", "release.failed"],
        "recipient": "fl",
    }
    assert service.asked[0].headers["idempotency-key"]


def test_list_deliveries_redeliver_and_delete(capsys: pytest.CaptureFixture[str]) -> None:
    delivery: dict[str, object] = {"id": "dlv_1", "event": "release.completed", "subject": "rel_1", "status": "pending"}
    delivery |= {"tries": [{"status": 500}, {"status": None, "error": "timed-out"}]}
    assert run("webhook list", httpx.Response(200, json={"data": [WEBHOOK], "next": None}))[0] == 0
    assert run("webhook deliveries whk_1", httpx.Response(200, json={"data": [delivery], "next": None}))[0] == 0
    status, service = run("webhook redeliver whk_1 dlv_1", httpx.Response(202, json=delivery))
    assert (status, service.asked[0].url.path) == (0, "/webhooks/whk_1/deliveries/dlv_1/redeliver")
    assert run("webhook delete whk_1", httpx.Response(204))[0] == 0
    told = capsys.readouterr().out
    assert "whk_1  enabled  release.completed  https://x/" in told
    assert "pending  2      timed-out" in told


def send(port: int, *messages: tuple[dict[str, str], bytes]) -> list[int]:
    """Post messages once somebody listens; return the statuses."""
    statuses = []
    with httpx.Client(trust_env=False) as client:
        for headers, body in messages:
            for _ in range(200):
                with contextlib.suppress(httpx.ConnectError):
                    statuses.append(client.post(f"http://127.0.0.1:{port}/", content=body, headers=headers).status_code)
                    break
                time.sleep(0.02)
    return statuses


def test_listen_makes_a_webhook_prints_genuine_events_once_and_deletes_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    port, statuses = free_port(), list[int]()
    now = datetime.now(UTC)
    first, second = signed(at=now), signed(at=now, identity="dlv_2")
    forged = {**first, "webhook-signature": "v1,x"}
    messages = ((forged, BODY), (first, BODY), (first, BODY), (second, BODY))
    sender = threading.Thread(target=lambda: statuses.extend(send(port, *messages)))
    sender.start()
    made = httpx.Response(201, json={**WEBHOOK, "secret": SECRET})
    status, service = run(f"webhook listen --port {port} --count 2", made, httpx.Response(204))
    sender.join()
    shown = capsys.readouterr()
    assert status == 0
    assert statuses == [401, 204, 204, 204]
    assert shown.out == "2026-05-04T12:00:00Z  release.completed  rel_1  pass\n" * 2
    assert "refused: The message is not signed" in shown.err
    assert json.loads(service.asked[0].content)["url"] == f"http://127.0.0.1:{port}/"
    assert (service.asked[1].method, service.asked[1].url.path) == ("DELETE", "/webhooks/whk_1")


def test_listen_with_a_secret_of_its_own_needs_neither_service_nor_key(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("PRATIQUE_KEY", "PRATIQUE_KEY_FILE", "PRATIQUE_DATA", "PRATIQUE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "secret").write_text(SECRET + "\n")
    port, statuses = free_port(), list[int]()
    messages = ((signed(at=datetime.now(UTC)), BODY),)
    sender = threading.Thread(target=lambda: statuses.extend(send(port, *messages)))
    sender.start()
    words = ["--json", "webhook", "listen", "--port", str(port), "--count", "1", "--secret-file", "secret"]
    assert main(words) == 0
    sender.join()
    assert json.loads(capsys.readouterr().out) == EVENT
