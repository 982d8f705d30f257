"""Pratique on one machine: the service, its secrets and backups, and what needs no service."""

import argparse
import os
import signal
import socket
import time
from pathlib import Path
from types import FrameType

from pratique.commands.arguments import some
from pratique_local.advise.command import DESCRIPTION, add_arguments
from pratique_local.advise.command import run as advise
from pratique_local.backup import back_up
from pratique_local.demo import demo
from pratique_local.one_time_link import one_time_link
from pratique_local.rekey import rekey
from pratique_local.sample import __main__ as sample
from pratique_local.supervisor import Supervisor, plan
from pratique_local.tenants import tenants
from pratique_privacy.policy.builtin import BUILT_IN

WATCH = 0.1  # seconds


def run(data: Path, port: int, attack_workers: int) -> int:
    """Serve until Ctrl-C or SIGTERM; 0 when everything stopped in order."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            raise SystemExit(
                f"port {port} is taken: stop what listens there, or choose another by PRATIQUE_PORT"
            ) from None
    try:
        supervisor = Supervisor(plan(data, port, os.environ, attack_workers))
    except OSError as error:
        raise SystemExit(f"the data folder {data} cannot be used: {error.strerror}") from None
    stopping = False

    def stop(_signal: int, _frame: FrameType | None) -> None:
        nonlocal stopping
        stopping = True

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    supervisor.start()
    print(f"Pratique starts on {supervisor.plan.url} ..", flush=True)
    told = False
    while not stopping:
        supervisor.watch()
        if not told and supervisor.ready():
            told = True
            key = data / "admin.key"
            print(f"Pratique serves {supervisor.plan.url} ; {_where(key)} ; Ctrl-C stops it", flush=True)
            if (link := one_time_link(supervisor.plan.url, key)) is not None:
                print(f"Open {link} (signs in once, within ten minutes)", flush=True)
        time.sleep(WATCH)
    return max(abs(code) for code in supervisor.stop().values())


def _where(key: Path) -> str:
    return f"the admin key is in {key}" if key.exists() else f"{key} is gone: use the key that you kept"


def _port(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) < 2**16:
        raise argparse.ArgumentTypeError(f"{text!r} is no port: give a number from 1 to 65535")
    return int(text)


def _paper(given: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    if given.captures is not None and not given.captures.is_dir():
        parser.error(f"there is no folder {given.captures}")
    # Loaded here: scikit-learn takes seconds that no other command should wait for.
    from pratique_local.paper import Studied, write_report  # noqa: PLC0415

    asked = Studied(given.least_hosts, given.repeats, given.trees, given.seed)
    try:
        write_report(given.captures, given.out, asked)
    except ValueError as error:
        parser.error(str(error))
    print(f"the report is in {given.out / 'report.html'} and {given.out / 'report.md'}")
    return 0


def _backup(given: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    if not (given.data / "store").is_dir():
        parser.error(f"there is no store in {given.data}")
    done = back_up(given.data, given.to, given.secrets_to)
    print(f"{done.files} files of {done.bytes} bytes copied, {done.removed} removed that the store no longer has")
    if given.secrets_to is None:
        print("the secrets were not copied: without secrets.json the copy opens to nobody")
    return 0


def _data(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("PRATIQUE_DATA") or ".data"))


def grammar() -> argparse.ArgumentParser:
    """Return the commands and their options."""
    parser = argparse.ArgumentParser(prog="python -m pratique_local", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    serve = commands.add_parser("run", help="serve until Ctrl-C")
    _data(serve)
    serve.add_argument("--port", type=_port, default=os.environ.get("PRATIQUE_PORT") or "8080")
    serve.add_argument("--attack-workers", type=some, default=1)
    tenant = commands.add_parser("tenant", help="make a tenant and its first admin key, which is shown this once")
    _data(tenant)
    tenant.add_argument("words", nargs="+", metavar="add NAME | admin-key NAME | list")
    changed = commands.add_parser(
        "rekey", help="change the storage keys and the master key of a service that is stopped"
    )
    _data(changed)
    saved = commands.add_parser("backup", help="copy the store, also of a service that runs")
    _data(saved)
    saved.add_argument("--to", type=Path, required=True, help="a folder; what is there already is not copied again")
    saved.add_argument("--secrets-to", type=Path, help="another folder, for secrets.json and admin.key")
    show = commands.add_parser("demo", help="profile a capture, release it under a policy, show the posture")
    show.add_argument("--capture", type=Path, default=None, help="a capture of your own instead of the generated one")
    show.add_argument("--max-packets", type=some, default=None, help="profile the first so many frames only")
    show.add_argument("--policy", default="C4", choices=sorted(BUILT_IN), help="a built-in policy")
    show.add_argument("--out", type=Path, default=Path("out"))
    sampled = commands.add_parser("sample", help="write a generated capture, and beside it what it holds")
    sample.describe(sampled)
    paper = commands.add_parser("paper", help="compute the paper's tables and figures anew, as a report")
    paper.add_argument("--captures", type=Path, default=None, help="a folder of captures instead of generated ones")
    paper.add_argument("--least-hosts", type=int, default=2, help="captures of fewer hosts are left out")
    paper.add_argument("--repeats", type=int, default=20, help="stratified splits of the learning task")
    paper.add_argument("--trees", type=int, default=400, help="trees of its forest")
    paper.add_argument("--seed", type=int, default=1)
    paper.add_argument("--out", type=Path, default=Path("out/paper"))
    add_arguments(
        commands.add_parser(
            "advise",
            help="say of each item of a stream whether to publish it or a family of it",
            description=DESCRIPTION,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
    )
    return parser


def main() -> int:
    """Read the command line."""
    parser = grammar()
    given = parser.parse_args()
    if given.command == "sample":
        return sample.run(given)
    if given.command == "advise":
        return advise(given)
    if given.command == "backup":
        return _backup(given, parser)
    if given.command == "run":
        return run(given.data, given.port, given.attack_workers)
    if given.command == "tenant":
        return tenants(given.data, given.words)
    if given.command == "rekey":
        return rekey(given.data)
    if given.command == "paper":
        return _paper(given, parser)
    if given.capture is not None and not given.capture.is_file():
        parser.error(f"there is no capture at {given.capture}")
    return demo(given.capture, given.policy, given.out, given.max_packets)


if __name__ == "__main__":
    raise SystemExit(main())
