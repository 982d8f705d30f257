"""The simulated S3 as a program: moto's application, one request at a time.

moto looks whether a key is there and then writes it, in a thread per request: of two conditional puts that meet, both
may win, which S3 itself rules out. The lock gives the simulation that promise back.
"""

import sys
import threading
from collections.abc import Callable, Iterable
from typing import Any

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
from werkzeug.serving import run_simple

Application = Callable[[dict[str, Any], Any], Iterable[bytes]]


def one_at_a_time(application: Application) -> Application:
    """Return the application behind a lock that is held until its whole answer is made."""
    lock = threading.Lock()

    def locked(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:  # noqa: ANN401
        with lock:
            return list(application(environ, start_response))

    return locked


if __name__ == "__main__":
    run_simple(
        "127.0.0.1",
        int(sys.argv[1]),
        one_at_a_time(DomainDispatcherApplication(create_backend_app)),
        threaded=True,
        request_handler=MotoRequestHandler,
    )
