"""Children: they answer, refuse, report, die alone, and never outlive a late call."""

import asyncio
import importlib
import json
import os
import signal
import socket
import struct
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from pratique_shared.contracts.problems import FieldError, PolicyRefused, Unavailable
from pratique_shared.runtime.child_process import FILES, Call, Limits, PipedCall, Reply
from pratique_shared.runtime.children import Child, ChildDied, Children, these
from pratique_shared.runtime.sealing import BrokenSeal

LIMITS = Limits(memory=2 << 30, seconds=20)
ENTRY = "tests.unit.shared.test_children:entry"
TAKEN_OVER = "tests.unit.shared.test_children:taken_over"


def entry(call: Call) -> Reply:
    match call.body["do"]:
        case "join":
            call.progress({"seen": 1})
            return Reply({"pid": os.getpid()}, (b"".join(call.blobs()), b"second"))
        case "refuse":
            raise PolicyRefused("identifier-in-clear", "Say what becomes of it.", [FieldError("/a/0", "here")])
        case "die":
            os.kill(os.getpid(), signal.SIGKILL)
        case "hang":
            signal.pause()
        case "try":
            return Reply({"reached": [step for step, do in STEPS.items() if reached(do, Path(call.body["path"]))]}, ())
        case "hog":
            return Reply({"size": len(bytearray(8 << 30))}, ())
        case "open":
            return Reply({"opened": opened()}, ())
        case "burn":
            until = time.process_time() + call.body["seconds"]
            while time.process_time() < until:
                pass
            return Reply({"pid": os.getpid()}, ())
        case "limits":
            return Reply({"limits": Path("/proc/self/limits").read_text(), "pid": os.getpid()}, ())
    raise AssertionError


# What a process may try with a file, and beside it.
STEPS: dict[str, Callable[[Path], object]] = {
    "read": Path.read_bytes,
    "list": lambda path: next(path.parent.iterdir()),
    "write": lambda path: path.with_name("new").write_bytes(b""),
    "cut": lambda path: os.truncate(path, 0),
    "link": lambda path: path.with_name("linked").symlink_to("/etc/passwd"),
    "remove": Path.unlink,
    "passwd": lambda _: Path("/etc/passwd").read_bytes(),
    "dial": lambda _: socket.socket().close(),
    "import what was not": lambda _: importlib.import_module("colorsys"),
    "environment of the parent": lambda _: Path(f"/proc/{os.getppid()}/environ").read_bytes(),
}


def reached(do: Callable[[Path], object], path: Path) -> bool:
    """Whether something can be done to a file."""
    try:
        do(path)
    except PermissionError:
        return False
    return True


def value() -> str:
    """A value of a record that is in no line of code, as a traceback shows one."""
    return "".join(("00101", "0123456789"))


def fail() -> None:
    raise ValueError(value())


def failing(call: Call) -> Reply:
    match call.body["do"]:
        case "fail in a thread":
            thread = threading.Thread(target=fail)
            thread.start()
            thread.join()
        case "panic":  # as native code does, which asks no logger
            os.write(2, f"panicked at a value: {value()}".encode())
            os.kill(os.getpid(), signal.SIGABRT)
        case _:
            fail()
    return Reply({}, ())


FRAMES = {
    "one frame": struct.pack("!i", 64 << 20) + b"B" + bytes((64 << 20) - 1),
    "many frames": struct.pack("!i", 1 << 16) + b"B" + bytes((1 << 16) - 1),
    "empty frames": (struct.pack("!i", 1) + b"B") * 10_000,
}


def taken_over(call: Call) -> Reply:
    """What whoever took a child over could do with its pipe."""
    assert isinstance(call, PipedCall)
    pipe = call._pipe.fileno()
    match call.body["do"]:
        case "stop short":  # within the four bytes of a frame's length
            os.write(pipe, b"\x00")
            signal.pause()
        case "lie":  # a frame of 2 GiB less a byte, of which a byte comes
            os.write(pipe, struct.pack("!i", 0x7FFFFFFF) + b"B")
            signal.pause()
        case "fork":
            if os.fork() == 0:
                os.write(pipe, b"\x00")
                time.sleep(10)
                os._exit(0)
            os.kill(os.getpid(), signal.SIGKILL)
        case frames:
            while True:
                os.write(pipe, FRAMES[frames])
    raise AssertionError


def opened() -> int:
    """Open files until the limit says stop; return how many there were."""
    files: list[int] = []
    with suppress(OSError):
        while len(files) < 1000:
            files.append(os.open(os.devnull, os.O_RDONLY))
    for file in files:
        os.close(file)
    return len(files)


def limit(text: str, name: str) -> list[str]:
    """The soft and the hard value of a line of /proc/<pid>/limits."""
    (line,) = [line for line in text.splitlines() if line.startswith(name)]
    return line.removeprefix(name).split()[:2]


@pytest.fixture
def child() -> Iterator[Child]:
    child = Child(ENTRY, LIMITS)
    yield child
    child.kill()


async def test_a_call_carries_blobs_both_ways_and_progress_on_the_way(child: Child) -> None:
    told: list[dict[str, object]] = []
    reply = await child.call({"do": "join"}, these(b"one ", b"two"), told.append)
    assert reply.blobs == (b"one two", b"second")
    assert told == [{"seen": 1}]
    assert reply.body["pid"] != os.getpid()


async def test_a_refusal_arrives_as_the_problem_that_it_is_and_the_child_lives_on(child: Child) -> None:
    with pytest.raises(PolicyRefused) as refused:
        await child.call({"do": "refuse"}, these(b"unread"), print)
    assert (refused.value.code, refused.value.errors) == ("identifier-in-clear", (FieldError("/a/0", "here"),))
    assert (await child.call({"do": "join"}, these(), print)).blobs[0] == b""


@pytest.mark.parametrize("way", ["fail", "fail in a thread", "panic"])
async def test_an_error_of_a_child_is_logged_by_its_type_whatever_its_way_and_never_by_its_text(
    way: str, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    child = Child("tests.unit.shared.test_children:failing", LIMITS)
    with suppress(ChildDied):
        await child.call({"do": way}, these(), print)
    child.kill()
    said = capfd.readouterr().err
    assert value() not in said
    if way == "panic":  # what ended it is told by its parent
        assert [vars(record)["status"] for record in caplog.records] == [-signal.SIGABRT]
    else:
        (line,) = [json.loads(line) for line in said.splitlines()]
        assert (line["exception"], line["frames"].split(" > ")[-1].partition(":")[0]) == ("ValueError", "fail")


async def test_a_killed_child_is_noticed_and_replaced(child: Child) -> None:
    with pytest.raises(ChildDied):
        await child.call({"do": "die"}, these(), print)
    assert (await child.call({"do": "join"}, these(b"x"), print)).blobs[0] == b"x"


async def test_a_child_that_wants_more_memory_than_its_limit_dies_alone(child: Child) -> None:
    with pytest.raises(ChildDied, match="memory-limit"):
        await child.call({"do": "hog"}, these(), print)
    assert (await child.call({"do": "join"}, these(b"x"), print)).blobs[0] == b"x"


async def test_the_limits_are_set_in_the_running_child_and_cannot_be_raised(child: Child) -> None:
    pid = (await child.call({"do": "limits"}, these(), print)).body["pid"]
    seen = await asyncio.to_thread(Path(f"/proc/{pid}/limits").read_text)
    status = await asyncio.to_thread(Path(f"/proc/{pid}/status").read_text)
    assert limit(seen, "Max address space") == [str(2 << 30)] * 2
    assert limit(seen, "Max open files") == [str(FILES)] * 2
    assert limit(seen, "Max core file size") == ["0", "0"]
    assert "Seccomp:\t2" in status  # a filter is in force (proc(5))
    assert "NoNewPrivs:\t1" in status


async def test_a_child_opens_no_more_files_than_it_may(child: Child) -> None:
    assert 0 < (await child.call({"do": "open"}, these(), print)).body["opened"] < FILES


async def test_a_call_has_its_own_share_of_the_processor_however_much_the_calls_before_it_took() -> None:
    child = Child(ENTRY, Limits(memory=2 << 30, seconds=60, processor=1))
    try:
        # The limit is in whole seconds, rounded up: with one limit for all calls the third would be beyond it.
        pids = [(await child.call({"do": "burn", "seconds": 0.9}, these(), print)).body["pid"] for _ in range(3)]
        assert len(set(pids)) == 1
        soft, hard = limit((await child.call({"do": "limits"}, these(), print)).body["limits"], "Max cpu time")
        assert int(soft) >= 3
        assert hard == "unlimited" or int(hard) > int(soft)
        with pytest.raises(ChildDied, match="time-limit"):
            await child.call({"do": "burn", "seconds": 30}, these(), print)
        assert (await child.call({"do": "join"}, these(b"x"), print)).blobs[0] == b"x"
    finally:
        child.kill()


async def test_a_child_has_neither_network_nor_files(child: Child, tmp_path: Path) -> None:
    path = tmp_path / "secrets.json"
    path.write_bytes(b"secret")
    found = await child.call({"do": "try", "path": str(path)}, these(), print)
    assert found.body == {"reached": ["import what was not"]}
    assert [each.name for each in tmp_path.iterdir()] == ["secrets.json"]
    # The control: its parent, the same user, reaches all but what is root's.
    assert {name for name, do in STEPS.items() if reached(do, path)} >= {"read", "write", "dial", "remove"}


async def test_a_child_does_not_read_below_the_working_folder(
    child: Child, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))  # as `python -m` does with the working folder, where the data may be
    path = tmp_path / ".data" / "secrets.json"
    path.parent.mkdir()
    path.write_bytes(b"secret")
    found = await child.call({"do": "try", "path": str(path)}, these(), print)
    assert found.body == {"reached": ["import what was not"]}


async def test_a_late_call_kills_its_child() -> None:
    child = Child(ENTRY, Limits(memory=2 << 30, seconds=1.5))
    with pytest.raises(ChildDied, match="time-limit"):
        await child.call({"do": "hang"}, these(), print)
    assert child._process is None


async def slowly() -> AsyncIterator[bytes]:
    while True:
        await asyncio.sleep(0.01)
        yield b"x"


@pytest.mark.parametrize("blobs", [slowly, these])
async def test_a_child_that_stops_within_a_frame_is_ended_in_its_time_and_holds_nobody_up(
    blobs: Callable[[], AsyncIterator[bytes]],
) -> None:
    child, beats = Child(TAKEN_OVER, Limits(memory=2 << 30, seconds=0.5)), 0

    async def beat() -> None:
        nonlocal beats
        while True:
            await asyncio.sleep(0.01)
            beats += 1

    try:
        await child.ready()
        beating = asyncio.create_task(beat())
        async with asyncio.timeout(5):
            with pytest.raises(ChildDied, match="time-limit"):
                await child.call({"do": "stop short"}, blobs(), print)
        beating.cancel()
        assert beats > 20  # the loop went on meanwhile
        child._entry, child._limits = ENTRY, LIMITS
        assert (await child.call({"do": "join"}, these(b"x"), print)).blobs[0] == b"x"
        async with asyncio.timeout(5):
            await asyncio.get_running_loop().shutdown_default_executor()  # no thread still waits
    finally:
        child.kill()


@pytest.mark.parametrize("frames", FRAMES)
async def test_an_answer_that_its_child_could_not_have_held_ends_it(frames: str) -> None:
    child = Child(TAKEN_OVER, LIMITS)
    try:
        await child.ready()
        child._limits = Limits(memory=2 << 20, seconds=20)  # what an answer may have, lower than it was started with
        async with asyncio.timeout(10):
            with pytest.raises(ChildDied, match="task-crashed"):
                await child.call({"do": frames}, these(), print)
    finally:
        child.kill()


async def test_a_length_that_lies_ends_its_child_at_once() -> None:
    child = Child(TAKEN_OVER, LIMITS)
    with pytest.raises(ChildDied, match="task-crashed"):
        await child.call({"do": "lie"}, these(), print)
    assert child._process is None


async def test_a_process_that_a_child_left_behind_does_not_hold_the_pipe_open() -> None:
    child = Child(TAKEN_OVER, Limits(memory=2 << 30, seconds=1))
    await child.ready()
    async with asyncio.timeout(5):
        with pytest.raises(ChildDied, match="time-limit"):
            await child.call({"do": "fork"}, these(), print)
        await asyncio.get_running_loop().shutdown_default_executor()


async def test_two_children_work_at_once_and_each_serves_one_caller() -> None:
    children = Children(ENTRY, LIMITS, 2)
    try:
        replies = await asyncio.gather(*(children.call({"do": "join"}, these(b"%d" % n)) for n in range(6)))
        assert [reply.blobs[0] for reply in replies] == [b"0", b"1", b"2", b"3", b"4", b"5"]
        assert len({reply.body["pid"] for reply in replies}) == 2
    finally:
        children.close()


async def test_a_child_that_cannot_import_its_entry_is_a_part_that_is_missing_and_no_death() -> None:
    child = Child("tests.unit.shared.no_such_module:entry", LIMITS)
    with pytest.raises(Unavailable):
        await child.call({"do": "join"}, these(), print)


async def test_a_call_that_its_own_blobs_cut_off_leaves_nothing_to_the_next_caller(child: Child) -> None:
    async def damaged() -> AsyncIterator[bytes]:
        yield b"the first caller's records"
        raise BrokenSeal("blobs/x")

    with pytest.raises(BrokenSeal):
        await child.call({"do": "join"}, damaged(), print)
    assert (await child.call({"do": "join"}, these(b"mine"), print)).blobs[0] == b"mine"


async def test_whoever_comes_when_too_many_wait_is_sent_away_and_the_others_are_served() -> None:
    children = Children(ENTRY, LIMITS, 1, most_waiting=2)
    try:
        async with children.lent():
            waiting = [asyncio.create_task(children.call({"do": "join"}, these(b"x"))) for _ in range(2)]
            await asyncio.sleep(0)
            with pytest.raises(Unavailable, match="busy"):
                await children.call({"do": "join"}, these(b"x"))
        assert [reply.blobs[0] for reply in await asyncio.gather(*waiting)] == [b"x", b"x"]
        assert (await children.call({"do": "join"}, these(b"y"))).blobs[0] == b"y"
    finally:
        children.close()
