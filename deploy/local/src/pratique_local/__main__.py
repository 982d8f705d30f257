"""`python -m pratique_local run` keeps Pratique serving on this machine; `demo` shows a release from end to end."""

import argparse
import os
import signal
import time
from pathlib import Path
from types import FrameType

from pratique_local.demo import demo
from pratique_local.supervisor import Supervisor, plan

WATCH = 0.1  # seconds


def run(data: Path, port: int, attack_workers: int) -> int:
    """Serve until Ctrl-C or SIGTERM; 0 when everything stopped in order."""
    supervisor = Supervisor(plan(data, port, os.environ, attack_workers))
    stopping = False

    def stop(_signal: int, _frame: FrameType | None) -> None:
        nonlocal stopping
        stopping = True

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    supervisor.start()
    print(f"Pratique serves {supervisor.plan.url} ; the admin key is in {data / 'admin.key'} ; Ctrl-C stops it")
    while not stopping:
        supervisor.watch()
        time.sleep(WATCH)
    return max(abs(code) for code in supervisor.stop().values())


def main() -> int:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m pratique_local", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    serve = commands.add_parser("run", help="serve until Ctrl-C")
    serve.add_argument("--data", type=Path, default=Path(os.environ.get("PRATIQUE_DATA") or ".data"))
    serve.add_argument("--port", type=int, default=int(os.environ.get("PRATIQUE_PORT") or 8080))
    serve.add_argument("--attack-workers", type=int, default=1)
    show = commands.add_parser("demo", help="profile a capture, release it under a policy, show the posture")
    show.add_argument("--capture", type=Path, default=None, help="a capture of your own instead of the generated one")
    show.add_argument("--policy", default="C4", help="a built-in policy, C0 to C7")
    show.add_argument("--out", type=Path, default=Path("out"))
    given = parser.parse_args()
    if given.command == "run":
        return run(given.data, given.port, given.attack_workers)
    return demo(given.capture, given.policy, given.out)


if __name__ == "__main__":
    raise SystemExit(main())
