"""The federation on loopback: Pratique, a SuperLink and two SuperNodes; one run that trains, two that are refused.

Run by `make federation`. Flower gets an environment of its own, into which the client is installed beside it.
"""

# ruff: noqa: S603
# Every word of every command is written here.

import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from shutil import rmtree
from typing import BinaryIO

from pratique import Client
from pratique_local.sample import write_sample
from pratique_local.supervisor import Supervisor, plan

HERE = Path(__file__).resolve().parent
CLIENT = HERE.parents[1] / "clients" / "python"
FLOWER = ("flwr==1.42.*", "pyarrow==26.*")
PILOTS = ("lab", "field")
START, RUN = 180, 240  # seconds
ATTRIBUTES = {
    "quasi_identifiers": ["ip"],
    "sensitive": ["protocols"],
    "insensitive": ["role", "packets", "bytes", "peer_count", "protocol_count", "pilot"],
}


def main() -> int:
    """Show the three runs; 0 if the first trained and the others were refused."""
    out = Path("out/federation").absolute()
    out.mkdir(parents=True, exist_ok=True)
    flower = environment(out)
    with ExitStack() as running, (out / "log").open("wb") as log:
        url, admin = running.enter_context(service(out, log))
        with Client(url, key_file=admin) as pratique:
            release = released(pratique, out)
            recipient = out / "recipient.key"
            made = pratique.create_api_key({"role": "recipient", "recipient": "fl-aggregator-1"})
            recipient.touch(mode=0o600)
            recipient.write_text(made["key"])
            environ = settings(out, flower, url, recipient)
            port = running.enter_context(links(flower, environ, log))
            (out / "flwr").mkdir(exist_ok=True)
            connection = f'[superlink]\ndefault = "loopback"\n[superlink.loopback]\naddress = "127.0.0.1:{port}"\n'
            (out / "flwr" / "config.toml").write_text(connection + "insecure = true\n")
            told = [run(flower, environ, release)]
            told.append(run(flower, environ, release, "min-k=1000"))
            pratique.withdraw(release)
            told.append(run(flower, environ, release))
    for title, (outcome, lines) in zip(("as released", "k >= 1000", "withdrawn"), told, strict=True):
        print(f"\n== {title}: {outcome}", *lines, sep="\n   ")
    return 0 if [outcome for outcome, _ in told] == ["trained", "refused", "refused"] else 1


def environment(out: Path) -> Path:
    """Make Flower's environment, install the client beside it, and return its folder of programs."""
    uv, place = [sys.executable, "-m", "uv"], out / "env"
    if not (place / "bin" / "flwr").exists():
        subprocess.run([*uv, "venv", "--quiet", str(place)], check=True)
        _install(uv, place, *FLOWER)
    before = _frozen(uv, place)
    subprocess.run([*uv, "build", "--quiet", "--wheel", "--out-dir", str(out), str(CLIENT)], check=True)
    _install(uv, place, *map(str, out.glob("pratique-*.whl")))
    moved = before - _frozen(uv, place)
    print(f"the client stands beside flwr; packages that it moved: {sorted(moved) or 'none'}")
    return place / "bin"


def _install(uv: list[str], place: Path, *what: str) -> None:
    words = [*uv, "pip", "install", "--quiet", "--reinstall-package", "pratique", "--python", str(place / "bin/python")]
    subprocess.run([*words, *what], check=True)


def _frozen(uv: list[str], place: Path) -> set[str]:
    words = [*uv, "pip", "freeze", "--python", str(place / "bin/python")]
    listed = subprocess.run(words, check=True, capture_output=True, text=True).stdout.split("\n")
    return {line for line in listed if line and not line.startswith("pratique")}


@contextmanager
def service(out: Path, log: BinaryIO) -> Iterator[tuple[str, Path]]:
    """Run Pratique on a fresh folder."""
    data = out / "data"
    rmtree(data, ignore_errors=True)
    supervisor = Supervisor(plan(data, free_port(), os.environ), log)
    supervisor.start()
    try:
        until = time.monotonic() + START
        while not supervisor.ready():
            supervisor.watch()
            if time.monotonic() > until:
                raise SystemExit("Pratique did not come up")
            time.sleep(0.1)
        yield supervisor.plan.url, data / "admin.key"
    finally:
        supervisor.stop()


def released(pratique: Client, out: Path) -> str:
    """Release the hosts of two pilots in one table, and return its id."""
    captures = []
    for seed, pilot in enumerate(PILOTS, 1):
        write_sample(out / f"{pilot}.pcapng", seed=seed)
        sent = pratique.push_capture(out / f"{pilot}.pcapng", pilot=pilot)
        captures.append(pratique.wait_capture(sent["id"])["id"])
    columns = {name for capture in captures for record in pratique.records(capture) for name in record}
    listed = {name for names in ATTRIBUTES.values() for name in names}
    body = {
        "source": {"captures": captures},
        "policy": "C4",
        "recipient": "fl-aggregator-1",
        "attributes": {**ATTRIBUTES, "drop": sorted(columns - listed)},
        "gate": {"k": {"min": 3}},
    }
    release: str = pratique.create_release(body)["id"]
    state = pratique.wait_release(release)
    print(f"{release}: {state['verdict']}")
    return release


def settings(out: Path, flower: Path, url: str, key: Path) -> dict[str, str]:
    """Return the environment of everything of Flower's."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("PRATIQUE_", "PYTHON"))}
    return {
        **plain,
        "PATH": f"{flower}{os.pathsep}{os.environ['PATH']}",
        "FLWR_HOME": str(out / "flwr"),
        "FLWR_TELEMETRY_ENABLED": "0",
        "FLWR_DISABLE_UPDATE_CHECK": "1",
        "PRATIQUE_URL": url,
        "PRATIQUE_KEY_FILE": str(key),
        "PRATIQUE_CACHE": str(out / "cache"),
    }


@contextmanager
def links(flower: Path, environ: dict[str, str], log: BinaryIO) -> Iterator[int]:
    """Run a SuperLink and a SuperNode for each pilot, without TLS on loopback."""
    port, node_ports = free_port(), [free_port() for _ in PILOTS]
    link = [str(flower / "flower-superlink"), "--insecure", "--port", str(port)]
    words = [[*link, "--disable-runtime-dependency-installation"]]
    node = [str(flower / "flower-supernode"), "--insecure", "--superlink", f"127.0.0.1:{port}"]
    words += [
        [*node, "--port", str(at), "--node-config", f'pilot="{pilot}"']
        for at, pilot in zip(node_ports, PILOTS, strict=True)
    ]
    processes = []
    try:
        for each, at in zip(words, (port, *node_ports), strict=True):
            processes.append(subprocess.Popen(each, env=environ, stdout=log, stderr=log, start_new_session=True))
            await_port(at)
        yield port
    finally:
        for process in reversed(processes):
            os.killpg(process.pid, 15)
        for process in processes:
            process.wait(30)


def await_port(port: int) -> None:
    """Wait until somebody listens."""
    until = time.monotonic() + START
    while time.monotonic() < until:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.2)
    raise SystemExit("Flower did not come up: see out/federation/log")


def run(flower: Path, environ: dict[str, str], release: str, *further: str) -> tuple[str, list[str]]:
    """Run the app and return how it ended, with the lines that tell of it."""
    config = " ".join([f'release="{release}"', *further])
    words = [str(flower / "flwr"), "run", str(HERE), "--stream", "--run-config", config]
    try:
        done = subprocess.run(words, env=environ, capture_output=True, text=True, timeout=RUN, check=False)
    except subprocess.TimeoutExpired as late:
        return "no end", (late.stdout or b"").decode().splitlines()[-20:]
    text = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout + done.stderr)
    lines = [line.strip() for line in text.splitlines() if re.search(r"refused|Aggregated|Exit Code|xit code", line)]
    if any("is refused" in line for line in lines):
        return "refused", lines
    return ("trained" if "Strategy execution finished" in text else "failed"), lines or text.splitlines()[-20:]


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


if __name__ == "__main__":
    raise SystemExit(main())
