"""A real Valkey server of a test's own, from the wheel that `make run` uses."""

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pratique_local.supervisor import die_with_parent
from pratique_local.valkey import command, socket_of, url_of

PASSWORD = "a-password-of-the-tests"


@contextmanager
def valkey(folder: Path) -> Iterator[str]:
    """Run a server below `folder` and yield its URL."""
    process = subprocess.Popen(
        command(folder, PASSWORD),
        stdout=subprocess.DEVNULL,
        preexec_fn=die_with_parent,  # noqa: PLW1509 - it calls one function of the C library
    )
    until = time.monotonic() + 10
    while not socket_of(folder).exists():
        assert time.monotonic() < until, "the server did not come up"
        time.sleep(0.01)
    try:
        yield url_of(folder, PASSWORD)
    finally:
        process.kill()
        process.wait()
