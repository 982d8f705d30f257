"""Gadget messages: whatever is written into a queue is dropped, nothing of it is run, and the workers live on."""

import pickle
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import redis

from tests.assurance.figures import Figure, Profile, most, none, some
from tests.assurance.queue_server import QUEUES, drained, put, server_of, text_of
from tests.assurance.rehearsal import released
from tests.support.house import House, free_ports, house

HUGE = 32 << 20  # bytes of one message
PATIENCE = 120.0  # seconds
MOMENT = 1_700_000_000_000
NAMED = {"task": "advance", "id": "rel_00000000000000000000000000"}


class Gadget:
    """An object whose unpickling makes a file."""

    def __init__(self, marker: Path) -> None:
        self._marker = marker

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self._marker,)


def gadgets(marker: Path) -> list[bytes]:
    """Return messages of every bad kind."""
    pickled: dict[str, Any] = {"t": None, "f": "work", "a": (Gadget(marker),), "k": {}, "et": MOMENT}
    return [*(pickle.dumps(pickled, protocol) for protocol in range(6)), *_shapes(), *_fields(), *_named()]


def _shapes() -> Iterator[bytes]:
    """Yield texts that are no jobs, too deep, or too large."""
    yield from (b"", b"null", b"[]", b"{}", b"5", b'"work"', b"{", b"\xff\xfe", b"NaN", b'{"f": "work"}')
    yield from (b"[" * 100_000, b'{"a":' * 100_000, b"x" * HUGE)
    yield text_of({**NAMED, "more": "x" * HUGE})


def _fields() -> Iterator[bytes]:
    """Yield jobs of which one field is not as arq writes it."""
    wrong: dict[str, list[Any]] = {
        "f": ["__import__", "os.system", "builtins.eval", "cron:x", "", [], {}, None, 7, "../../work"],
        "t": ["1", [], -1, 10**400, 1.5],
        "et": ["now", None, [], 10**400, -(10**18), True],
        "k": [{"self": 1}, [], "x", {"message": NAMED}],
        "a": [[], "x", None, [[]], [1, 2], [NAMED, NAMED], {}],
    }
    yield from (text_of(NAMED, **{name: value}) for name, values in wrong.items() for value in values)


def _named() -> Iterator[bytes]:
    """Yield jobs whose message names what is none of ours."""
    nested: Any = {}
    for _ in range(400):
        nested = {"a": nested}
    wrong: dict[str, list[Any]] = {
        "id": [
            "../../etc/passwd",
            "/etc/passwd",
            "rel_" + "../" * 9 + "x",
            "",
            "rel_" + "0" * 300,
            "rel_\x00" + "0" * 20,
            "whk_0",
        ],
        "task": [
            "../../x",
            "attack/../../0-1",
            "__class__()",
            "",
            None,
            5,
            "attack/linkage/0-" + "9" * 200,
            "deliver\nadvance",
        ],
        "traceparent": ["00-" + "f" * 3000, 5],
        "more": [nested, 1],
    }
    wrong["id"] += [5, None, ["rel_" + "0" * 26], nested]
    yield from (text_of({**NAMED, name: value}) for name, values in wrong.items() for value in values)


def queue_messages(_: Profile, folder: Path) -> Iterator[Figure]:
    """Write gadgets into each queue beside work, and see what becomes of both."""
    marker, port = folder / "marker", free_ports(4)
    pickle.loads(pickle.dumps(Gadget(folder / "control")))
    yield some("control: a gadget that is unpickled makes its marker", int((folder / "control").exists()))
    written = gadgets(marker)
    with house(folder / "house", PRATIQUE_METRICS_PORT=str(port), PRATIQUE_LOG_LEVEL="INFO") as running:
        server = server_of(running)
        before = running.programs()
        with running.client() as client:
            made = released(client, 1)
            put = sum(_put(server, queue, written) for queue in QUEUES)
            begun = time.monotonic()
            yield some("gadgets put into the three queues", put, 3 * len(written))
            left = drained(server, PATIENCE)
            yield most("until all were gone from the queues", time.monotonic() - begun, PATIENCE, "s")
            yield none("gadgets left in the queues or kept as jobs", left)
            made += released(client, 2)
            yield none("answers that rings for what has ended changed", _rung_for_nothing(running, server, made[0]))
        yield none("markers of code that was run", int(marker.exists()))
        yield some("gadgets counted as dropped", _dropped(running), put)
        yield none("processes that ended", len(before.keys() - running.programs().keys()))
        yield some("releases made before and after", len(made), 3)
        yield none(
            "entries of the log that tell of a gadget's text",
            running.log.count("etc/passwd") + running.log.count("xxxxxxxx"),
        )


def _put(server: "redis.Redis", queue: str, written: list[bytes]) -> int:
    """Put gadgets under job ids like ours, and entries whose ids, types or texts are not there or none of ours."""
    first = f"{QUEUES.index(queue):x}"
    for number, text in enumerate(written):
        put(server, queue, f"{first}{number:023x}", text)
    wrong, poisoned = first + "e" * 23, first + "d" * 23
    server.rpush(f"arq:job:{wrong}", b"a list")
    server.rpush(f"arq:retry:{poisoned}", b"a list")
    put(server, queue, poisoned, text_of(NAMED))
    strange: list[bytes] = [b"\xff\xfe\x00", b"", b"../../etc/passwd", b"a" * 10_000, b"\xc3\xa9" * 12, wrong.encode()]
    server.zadd(f"pratique:{queue}", dict.fromkeys(strange, MOMENT))
    return len(written) + len(strange) + 1


def _rung_for_nothing(running: House, server: "redis.Redis", release: str) -> int:
    """Ring, in every queue, every task for what has ended and for nobody's ids; return 1 where the posture changed."""
    tasks = (
        "advance",
        "source_ready",
        "deliver",
        "profile",
        "attack/linkage/0-4",
        "attack/exact/0-0",
        "utility/splits/0-1",
    )
    ids = (release, *(f"{kind}_{'0' * 26}" for kind in ("rel", "cap", "whk", "swp")))
    with running.http() as http:
        before = http.get(f"/releases/{release}/posture").content
        wanted = [(queue, task, identity) for queue in QUEUES for task in tasks for identity in ids]
        for number, (queue, task, identity) in enumerate(wanted):
            put(server, queue, f"f{number:023x}", text_of({"task": task, "id": identity}))
        drained(server, PATIENCE)
        after = http.get(f"/releases/{release}/posture").content
    return int(after != before)


def _dropped(running: House) -> int:
    total = 0.0
    for place in range(1, 4):
        text = httpx.get(f"http://127.0.0.1:{running.meters + place}/metrics", trust_env=False).text
        lines = [line for line in text.splitlines() if line.startswith("pratique_messages_dropped_total")]
        total += sum(float(line.rpartition(" ")[2]) for line in lines)
    return int(total)
