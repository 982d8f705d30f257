"""The meters: labels are ours whatever comes, and a process shows them on a port of its own."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.request import ProxyHandler, build_opener

import pytest
from prometheus_client import Counter

from pratique_shared.contracts.messages import Message
from pratique_shared.runtime import meters
from pratique_shared.runtime.meters import REGISTRY, outcome_of, refused, serve_meters, task_kind
from pratique_shared.runtime.queues import QueueSight, connect
from tests.support.house import free_port
from tests.support.valkey import valkey


@pytest.mark.parametrize(
    ("task", "kind"),
    [
        ("advance", "advance"),
        ("attack/partial_qi/0-19", "attack/partial_qi"),
        ("attack/exact/0-1", "attack/exact"),
        ("utility/splits/3-4", "utility"),
        ("attack/imsi/001010000000001-2", "other"),
        ("withdraw_everything", "other"),
    ],
)
def test_a_task_is_counted_under_its_kind_and_a_made_up_one_under_other(task: str, kind: str) -> None:
    assert task_kind(task) == kind


def test_refusals_have_as_many_series_as_there_are_codes_and_never_more_than_a_bound(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(meters, "_codes", {f"known-{number}" for number in range(meters.MOST_CODES)})
    before = REGISTRY.get_sample_value("pratique_http_refusals_total", {"code": "other"}) or 0
    for number in range(50):
        refused(f"made-up-{number}")
    assert REGISTRY.get_sample_value("pratique_http_refusals_total", {"code": "other"}) == before + 50
    assert REGISTRY.get_sample_value("pratique_http_refusals_total", {"code": "made-up-0"}) is None


def test_work_that_is_cut_off_is_neither_done_nor_failed() -> None:
    counter = Counter("ends", "Ends.", ("outcome",), registry=None)

    def counts() -> tuple[float, float]:
        return counter.labels("done")._value.get(), counter.labels("failed")._value.get()

    with outcome_of(counter, "done", "failed"):
        pass
    assert counts() == (1, 0)
    with suppress(asyncio.CancelledError), outcome_of(counter, "done", "failed"):
        raise asyncio.CancelledError
    assert counts() == (1, 0)
    with suppress(ZeroDivisionError), outcome_of(counter, "done", "failed"):
        raise ZeroDivisionError
    assert counts() == (1, 1)


def test_a_process_shows_its_meters_on_its_port_and_says_when_the_port_is_taken() -> None:
    port = free_port()
    served = serve_meters("127.0.0.1", port)
    assert served is not None
    try:
        with build_opener(ProxyHandler({})).open(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
            assert b"\npratique_http_requests_in_flight 0.0\n" in answer.read()
        with pytest.raises(SystemExit, match=f"PRATIQUE_METRICS_PORT={port} cannot be opened"):
            serve_meters("127.0.0.1", port)
    finally:
        served[0].shutdown()
        served[0].server_close()
        served[1].join()
    assert serve_meters("127.0.0.1", None) is None


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with valkey(tmp_path_factory.mktemp("valkey")) as url:
        yield url


async def test_a_queue_is_seen_with_what_waits_what_runs_and_who_works(url: str) -> None:
    bell = await connect(url)
    assert await bell.sight("attack") == QueueSight(waiting=0, oldest=0.0, working=0, workers=0)
    messages = [Message(task=f"attack/linkage/{n}-{n + 1}", id="rel_0000000000") for n in range(3)]
    began = time.time()
    await bell.ring_all("attack", messages)
    await bell.show("attack", "one")
    await bell.show("attack", "two")
    await bell._redis.zadd("pratique:attack:workers", {"killed a minute ago": time.time() - 60})
    await bell._redis.zadd("pratique:attack:working", {"of a killed worker": time.time() - 1, "alive": time.time() + 9})
    sight = await bell.sight("attack")
    assert sight is not None
    assert (sight.waiting, sight.working, sight.workers) == (3, 1, 2)
    assert 0 <= sight.oldest <= time.time() - began + 0.01  # arq writes whole milliseconds
    await bell.close()


async def test_a_queue_server_that_is_gone_is_no_error(tmp_path: Path) -> None:
    with valkey(tmp_path) as url:
        bell = await connect(url)
    assert await bell.sight("attack") is None
    await bell.close()
