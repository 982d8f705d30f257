"""The supervisor: every process of Pratique on this machine, started, watched, restarted, and stopped together.

It owns the data folder by a lock, and its children by the kernel: whatever ends the supervisor ends them too.
"""

import ctypes
import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import IO
from urllib.request import ProxyHandler, build_opener

from pratique_local.secrets import Secrets, secrets_in
from pratique_local.valkey import command as valkey_command
from pratique_local.valkey import url_of

PR_SET_PDEATHSIG = 1
NETWORK_PLAN = "PRATIQUE_NETWORK_PLAN"
METRICS_PORT = "PRATIQUE_METRICS_PORT"  # of the API; the other processes have the numbers after it
STANDS_BACK = 10  # niceness of the workers: a request is answered before the work that earlier ones left
GRACE = 10  # seconds between SIGTERM and SIGKILL
HANDED_ON = (  # settings of privacy that lead outside or stand at its door, handed on as they are
    "PRATIQUE_TRUSTED_PROXIES",
    "PRATIQUE_RATE",
    "PRATIQUE_RATE_BURST",
    "PRATIQUE_FAILURE_RATE",
    "PRATIQUE_FAILURE_BURST",
    "PRATIQUE_API_WAITING",
    "PRATIQUE_METRICS_TOKEN",
    "PRATIQUE_JWT_ISSUER",
    "PRATIQUE_JWT_AUDIENCE",
    "PRATIQUE_JWT_JWKS_URL",
    "PRATIQUE_JWT_JWKS_FILE",
    "PRATIQUE_JWT_ROLE_CLAIM",
    "PRATIQUE_JWT_ROLE_PREFIX",
    "PRATIQUE_JWT_TENANT_CLAIM",
    "PRATIQUE_JWT_RECIPIENT_CLAIM",
    "PRATIQUE_PUBLIC_URL",
    "PRATIQUE_WEBHOOK_ALLOW",
    "PRATIQUE_KEEP_CAPTURES_DAYS",
    "PRATIQUE_KEEP_DATASETS_DAYS",
    "PRATIQUE_KEEP_RELEASES_DAYS",
    "PRATIQUE_ICS_URL",
    "PRATIQUE_ICS_CALLBACK_URL",
    "PRATIQUE_ICS_TOKEN",
    "PRATIQUE_ICS_TENANT",
    "PRATIQUE_ICS_RECIPIENT",
    "PRATIQUE_ICS_ALLOW",
)
RESTART_AFTER = (0.1, 0.5, 1, 2, 3)  # seconds before the next start of a process that keeps ending
STEADY = 30  # seconds of life after which a process counts as well
_LOOPBACK = build_opener(ProxyHandler({}))  # no proxy of the environment stands between us and ourselves
_LIBC = ctypes.CDLL(None, use_errno=True)


def die_with_parent(niceness: int = 0) -> None:
    """Runs in the child between fork and exec."""
    if sys.platform == "linux":
        _LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    os.setpgid(0, 0)  # a Ctrl-C reaches the supervisor alone, which then stops the others in order
    os.nice(niceness)


@dataclass(frozen=True)
class Program:
    """A process to keep alive: its name, command line, whole environment, and how far it stands back (nice(2))."""

    name: str
    command: list[str]
    environment: Mapping[str, str] = field(repr=False)
    niceness: int = 0


@dataclass
class _Running:
    program: Program
    process: subprocess.Popen[bytes]
    started: float
    failures: int = 0
    restart_at: float | None = None


@dataclass(frozen=True)
class Plan:
    """What runs on this machine, and where it is reached."""

    data: Path
    url: str
    programs: tuple[Program, ...]


def check_data(data: Path) -> None:
    """End the process where a folder is no data folder of ours."""
    if not (data / "secrets.json").exists():
        raise SystemExit(f"{data} is no data folder of Pratique: start it there once, or name another by --data")


def run_as_house(data: Path, *words: str) -> int:
    """Run a command of `python -m pratique_privacy` with the secrets of a data folder; return its exit code."""
    api = next(program for program in plan(data, 0, os.environ).programs if program.name == "api")
    command = [*api.command[:-1], *words]
    return subprocess.run(command, env=dict(api.environment), check=False).returncode  # noqa: S603 - it is ours


def plan(data: Path, port: int, environment: Mapping[str, str], attack_workers: int = 1) -> Plan:
    """Lay out the processes: the queue server, the API, and a worker of each kind; each has the keys of its own rooms.

    `PRATIQUE_REDIS_URL` in the environment replaces the embedded queue server.
    """
    data = data.absolute()
    secrets = secrets_in(data)
    given = environment.get("PRATIQUE_REDIS_URL")
    redis_url = given or url_of(data, secrets.queue_password)
    plain = {key: value for key, value in environment.items() if not key.startswith("PRATIQUE_")}
    shared = {
        **plain,
        "PRATIQUE_REDIS_URL": redis_url,
        "PRATIQUE_DATA": str(data),
        "PRATIQUE_STORE": environment.get("PRATIQUE_STORE", ""),
        "PRATIQUE_LOG_LEVEL": environment.get("PRATIQUE_LOG_LEVEL", "WARNING"),
        "POLARS_MAX_THREADS": environment.get("POLARS_MAX_THREADS", "2"),
        # One heap a thread, glibc's own choice, keeps some ten MiB an hour of what threads free.
        "MALLOC_ARENA_MAX": environment.get("MALLOC_ARENA_MAX", "2"),
    }
    privacy = {
        **shared,
        **_room_keys(secrets, ("captures", "releases", "keys", "matrices", "scores")),
        "PRATIQUE_MASTER_KEY": secrets.master,
        "PRATIQUE_PORT": str(port),
        "PRATIQUE_HOST": "127.0.0.1",
        **{name: environment[name] for name in HANDED_ON if name in environment},
    }
    network = {name: environment[name] for name in (NETWORK_PLAN,) if environment.get(name)}
    ingest = {**shared, **network, **_room_keys(secrets, ("captures",))}
    python = [sys.executable, "-m"]
    programs = [] if given else [Program("valkey", valkey_command(data, secrets.queue_password), plain)]
    programs += [
        Program("api", [*python, "pratique_privacy", "api"], privacy),
        Program("privacy", [*python, "pratique_privacy", "worker"], privacy, STANDS_BACK),
        Program("ingest", [*python, "pratique_ingest"], ingest, STANDS_BACK),
    ]
    attack = {**shared, **_room_keys(secrets, ("matrices", "scores"))}
    programs += [
        Program(f"attack-{number}", [*python, "pratique_attack_sim"], attack, STANDS_BACK)
        for number in range(attack_workers)
    ]
    return Plan(data, f"http://127.0.0.1:{port}", tuple(_metered(programs, environment)))


def _metered(programs: list[Program], environment: Mapping[str, str]) -> Iterator[Program]:
    """Yield the processes, each of ours with a port of its own for its meters where `PRATIQUE_METRICS_PORT` is set."""
    given = environment.get(METRICS_PORT) or "0"
    if not given.isdecimal():
        raise SystemExit(f"{METRICS_PORT} is the number of a port: the API's, and the ones after it are the workers'")
    port = int(given)
    for program in programs:
        if port and program.name != "valkey":
            yield replace(program, environment={**program.environment, METRICS_PORT: str(port)})
            port += 1
        else:
            yield program


def holding(data: Path) -> IO[str]:
    """Take a data folder until the file is closed; exits when a supervisor holds it."""
    lock = (data / "supervisor.lock").open("w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.close()
        raise SystemExit(
            f"Pratique already runs on {data}: stop it first, or choose another folder by PRATIQUE_DATA"
        ) from None
    return lock


def _room_keys(secrets: Secrets, rooms: tuple[str, ...]) -> dict[str, str]:
    return {f"PRATIQUE_KEY_{room.upper()}": secrets.rooms[room] for room in rooms}


class Supervisor:
    """Keeps the processes of a plan alive between `start` and `stop`."""

    def __init__(self, plan: Plan, log: IO[bytes] | None = None) -> None:
        self.plan, self._log = plan, log
        self._running: dict[str, _Running] = {}
        self._lock: IO[str] | None = None

    def start(self) -> None:
        """Take the data folder and start everything; exits when another supervisor holds the folder."""
        os.umask(0o077)  # what is stored is nobody else's business
        self.plan.data.mkdir(parents=True, exist_ok=True)
        self._lock = holding(self.plan.data)
        for program in self.plan.programs:
            self._running[program.name] = _Running(program, self._spawn(program), time.monotonic())

    def pid(self, name: str) -> int:
        """Return the process id of a program."""
        return self._running[name].process.pid

    def ready(self) -> bool:
        """Whether everything is up: the API says so."""
        try:
            with _LOOPBACK.open(f"{self.plan.url}/readyz", timeout=5) as answer:
                return bool(answer.status == HTTPStatus.OK)
        except OSError:
            return False

    def watch(self) -> None:
        """Start again, after a pause that grows, whatever has ended. Call it often."""
        for running in self._running.values():
            if running.restart_at is not None:
                if time.monotonic() >= running.restart_at:
                    running.process, running.started = self._spawn(running.program), time.monotonic()
                    running.restart_at = None
            elif running.process.poll() is not None:
                steady = time.monotonic() - running.started > STEADY
                running.failures = 1 if steady else running.failures + 1
                pause = RESTART_AFTER[min(running.failures, len(RESTART_AFTER)) - 1]
                running.restart_at = time.monotonic() + pause

    def stop(self) -> dict[str, int]:
        """Stop everything, the queue server last; return each exit code."""
        codes = {}
        valkey = [r for r in self._running.values() if r.program.name == "valkey"]
        others = [r for r in self._running.values() if r.program.name != "valkey"]
        for group in (others, valkey):
            for running in group:
                if running.process.poll() is None:
                    running.process.terminate()
            deadline = time.monotonic() + GRACE
            for running in group:
                try:
                    running.process.wait(max(0.0, deadline - time.monotonic()))
                except subprocess.TimeoutExpired:
                    running.process.kill()
                    running.process.wait()
                codes[running.program.name] = running.process.returncode
        self._running.clear()
        if self._lock is not None:
            self._lock.close()
        return codes

    def _spawn(self, program: Program) -> subprocess.Popen[bytes]:
        return subprocess.Popen(  # noqa: S603 - the command lines are ours
            program.command,
            env=dict(program.environment),
            stdin=subprocess.DEVNULL,
            stdout=self._log or subprocess.DEVNULL,
            stderr=self._log or None,
            preexec_fn=partial(die_with_parent, program.niceness),  # noqa: PLW1509 - the supervisor has one thread
        )
