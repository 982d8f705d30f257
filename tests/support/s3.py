"""A simulated S3 of a test's own, with conditional puts as the real one has them."""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from pratique_local.supervisor import die_with_parent
from tests.support.house import free_port

BUCKET = "pratique"
START = 60  # seconds; a busy machine takes its time to import the server


@dataclass(frozen=True)
class Bucket:
    """A prefix of a bucket, and the environment that leads the driver of the store there."""

    endpoint: str
    prefix: str

    @property
    def url(self) -> str:
        return f"s3://{BUCKET}/{self.prefix}"

    @property
    def environment(self) -> dict[str, str]:
        return {
            "AWS_ENDPOINT": self.endpoint,
            "AWS_REGION": "us-east-1",
            "AWS_ALLOW_HTTP": "true",
            "AWS_VIRTUAL_HOSTED_STYLE_REQUEST": "false",
            "AWS_ACCESS_KEY_ID": "an-access-key",
            "AWS_SECRET_ACCESS_KEY": "a-secret-access-key",
        }

    def listing(self) -> list[str]:
        """What lies below the prefix, by the server's own listing (up to a thousand keys)."""
        listing = httpx.get(f"{self.endpoint}/{BUCKET}?list-type=2&prefix={self.prefix}/", trust_env=False).text
        return [part.partition("</Key>")[0].removeprefix(f"{self.prefix}/") for part in listing.split("<Key>")[1:]]


@contextmanager
def s3(folder: Path) -> Iterator[str]:
    """Run a server with an empty bucket until the block ends; yield where it is reached."""
    port = free_port()
    command = [sys.executable, "-m", "tests.support.s3_server", str(port)]
    with (folder / "s3.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, preexec_fn=die_with_parent)  # noqa: PLW1509
    endpoint = f"http://127.0.0.1:{port}"
    until = time.monotonic() + START
    try:
        while True:
            try:
                assert httpx.put(f"{endpoint}/{BUCKET}", trust_env=False).is_success
                break
            except httpx.TransportError:
                assert time.monotonic() < until, (folder / "s3.log").read_text()[-2000:]
                time.sleep(0.05)
        yield endpoint
    finally:
        process.kill()
        process.wait()
