"""The log of a process: an error's type and place, and never its text, whichever way the error takes."""

import json
import logging
import subprocess
import sys
from typing import Any

import pytest

from pratique_shared.runtime.telemetry import JsonLines

IMSI = "001010123456789"
HEAD = """
import asyncio, gc, logging, sys, threading
from pratique_shared.runtime.telemetry import log_as_json
log_as_json("INFO")
def fail(*given):
    raise ValueError("imsi " + "00101" + "0123456789")
async def work():
    fail()
"""
# Ways that an error takes past every handler of ours: its code, what the log says, and the status of the process.
WAYS = {
    "a process": ("fail()", "the process ended in an error", 1),
    "a loop": ("asyncio.run(work())", "the process ended in an error", 1),
    "a thread": (
        "t = threading.Thread(target=fail); t.start(); t.join()",
        "a thread ended in an error",
        0,
    ),
    "a finaliser": (
        "class Held:\n    __del__ = fail\nheld = Held(); del held",
        "an error came up where nothing could catch it",
        0,
    ),
    "a task": (
        "async def main():\n    asyncio.create_task(work()); await asyncio.sleep(0); gc.collect()\nasyncio.run(main())",
        "Task exception was never retrieved",
        0,
    ),
    "a callback": (
        "async def main():\n"
        "    asyncio.get_running_loop().call_soon(fail, '00101' + '0123456789'); await asyncio.sleep(0.01)\n"
        "asyncio.run(main())",
        "Exception in callback fail",
        0,
    ),
}


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", HEAD + code], capture_output=True, text=True, timeout=30, check=False)


@pytest.mark.parametrize("way", WAYS)
def test_an_error_that_nobody_catches_is_one_line_with_its_type_and_place_and_without_its_text(way: str) -> None:
    code, said, status = WAYS[way]
    done = run(code)
    assert done.returncode == status
    (line,) = [json.loads(line) for line in done.stderr.splitlines()]
    assert (line["message"], line["exception"]) == (said, "ValueError")
    assert line["frames"].split(" > ")[-1].startswith("fail:")
    assert IMSI not in done.stderr


def test_what_a_process_says_as_it_ends_by_itself_is_still_said() -> None:
    done = run("raise SystemExit('say which: api or worker')")
    assert (done.returncode, done.stderr) == (1, "say which: api or worker\n")
    assert run("threading.Thread(target=sys.exit).start()").stderr == ""


def test_a_record_that_cannot_be_written_is_not_printed_with_its_values() -> None:
    done = run(f"logging.getLogger('other').warning('of %s and %s', {IMSI!r}); logging.getLogger('other').info('on')")
    assert [json.loads(line)["message"] for line in done.stderr.splitlines()] == ["on"]


def told(logger: str, message: Any, *args: object) -> str:  # noqa: ANN401 - a library may log an error as it is
    record = logging.LogRecord(logger, logging.ERROR, "", 0, message, args, None)
    said: str = json.loads(JsonLines().format(record))["message"]
    return said


def test_an_error_among_the_arguments_of_a_library_is_told_by_its_type() -> None:
    error = ValueError(IMSI)
    assert told("arq.worker", "%0.2fs ! %s failed: %s", 1.5, "work", error) == "1.50s ! work failed: ValueError"
    assert told("uvicorn.error", error) == "ValueError"
    assert told("uvicorn.error", "100 % sure") == "100 % sure"
    assert told("pratique.identity", "refused: %s", ValueError("our own words")) == "refused: our own words"
