"""A whole Pratique on this machine, as `make run` starts it, for tests that need all of it."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import httpx

from pratique import Client

START = 240  # seconds; a busy machine takes its time to import polars four times
STOP = 30


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def free_ports(count: int) -> int:
    """The first of so many free ports in a row, below those that the kernel gives to whoever connects."""
    first = 20_000 + os.getpid() * 16 % 12_000
    while True:
        try:
            with ExitStack() as held:
                for number in range(first, first + count):
                    held.enter_context(socket.socket()).bind(("127.0.0.1", number))
        except OSError:
            first += count
            continue
        return first


def command_name(pid: int) -> str:
    """The module that a process runs and its arguments, or the name of its binary; nothing once it has ended."""
    words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    name = b" ".join(words[2:]).strip() if words[1:2] == [b"-m"] else words[0].split(b" ")[0].rsplit(b"/", 1)[-1]
    return name.decode()


class House:
    """A running supervisor and what belongs to it."""

    def __init__(self, data: Path, port: int, process: subprocess.Popen[bytes], meters: int = 0) -> None:
        self.data, self.url, self.process = data, f"http://127.0.0.1:{port}", process
        self.meters = meters  # the first of the ports at which the processes show theirs

    @property
    def key(self) -> str:
        return (self.data / "admin.key").read_text().strip()

    @property
    def log(self) -> str:
        return (self.data / "test.log").read_text()

    def client(self) -> Client:
        return Client(self.url, self.key)

    def http(self, key: str | None = None) -> httpx.Client:
        headers = {"Authorization": f"Bearer {self.key if key is None else key}"}
        return httpx.Client(base_url=self.url, headers=headers, timeout=60, trust_env=False)

    def programs(self) -> dict[int, str]:
        """The supervisor's children that live now: process id to module and its arguments, or to the binary's name."""
        pid = self.process.pid
        found = {}
        for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            with suppress(OSError):
                if name := command_name(int(child)):  # one that ended and was not waited for yet has none
                    found[int(child)] = name
        return found

    def ready(self) -> bool:
        try:
            return httpx.get(f"{self.url}/readyz", trust_env=False, timeout=5).status_code == 200
        except httpx.HTTPError:
            return False

    def await_ready(self) -> None:
        until = time.monotonic() + START
        while not self.ready():
            assert self.process.poll() is None, self.log[-2000:]
            assert time.monotonic() < until, self.log[-2000:]
            time.sleep(0.1)

    def stop(self) -> int:
        """Stop it as a user does; return the exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(STOP)


@contextmanager
def house(data: Path, *arguments: str, port: int | None = None, **environment: str) -> Iterator[House]:
    """Run Pratique on a folder until the block ends."""
    data.mkdir(parents=True, exist_ok=True)
    port = port or free_port()
    command = [sys.executable, "-m", "pratique_local", "run", "--data", str(data), "--port", str(port), *arguments]
    plain = {key: value for key, value in os.environ.items() if not key.startswith("PRATIQUE_")}
    with (data / "test.log").open("wb") as log:
        process = subprocess.Popen(command, env=plain | environment, stdout=log, stderr=log)
    running = House(data, port, process, int(environment.get("PRATIQUE_METRICS_PORT", "0")))
    try:
        running.await_ready()
        yield running
    finally:
        if process.poll() is None:
            running.stop()
