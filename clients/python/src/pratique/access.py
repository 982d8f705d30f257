"""Access: where the service is, and the key that opens it."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path

import httpx

from pratique.errors import LocalFault

DEFAULT_URL = "http://127.0.0.1:8080"  # where `make run` listens
ADMIN_KEY = "admin.key"  # written by the first start into the data folder, mode 0600


@dataclass(frozen=True)
class Access:
    """An address without a trailing slash, and an API key that no repr shows."""

    url: str
    key: str = field(repr=False)

    @property
    def loopback(self) -> bool:
        """Whether the address stays on this machine."""
        return is_loopback(self.url)


def find_access(
    url: str | None = None,
    key: str | None = None,
    key_file: str | Path | None = None,
    environ: Mapping[str, str] | None = None,
) -> Access:
    """Settle address and key: what is given, then the environment, then the key that a local first start wrote.

    Key: `key`, `key_file`, `PRATIQUE_KEY`, `PRATIQUE_KEY_FILE`, and for a loopback address `$PRATIQUE_DATA/admin.key`
    (`./.data/admin.key`). Raises LocalFault when the address is none or no key is found.
    """
    known = os.environ if environ is None else environ
    address = checked_url(url or known.get("PRATIQUE_URL") or DEFAULT_URL)
    if key:
        return Access(address, checked_key(key))
    if key_file is not None:
        return Access(address, read_key(Path(key_file)))
    if known.get("PRATIQUE_KEY"):
        return Access(address, checked_key(known["PRATIQUE_KEY"]))
    if known.get("PRATIQUE_KEY_FILE"):
        return Access(address, read_key(Path(known["PRATIQUE_KEY_FILE"])))
    # The admin key of this machine is for the service of this machine: it is never sent to another host.
    local = Path(known.get("PRATIQUE_DATA") or ".data") / ADMIN_KEY
    if is_loopback(address) and local.is_file():
        return Access(address, read_key(local))
    raise LocalFault("no-key", f"No API key for {address}: neither PRATIQUE_KEY nor PRATIQUE_KEY_FILE is set.")


def checked_url(url: str) -> str:
    """Return `url` without a trailing slash, or raise LocalFault; an address with a password in it is refused."""
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL:
        raise LocalFault("bad-url", "The address of the service cannot be read as a URL.") from None
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise LocalFault("bad-url", "The address of the service must begin with http:// or https:// and name a host.")
    if parsed.userinfo or parsed.query or parsed.fragment:
        raise LocalFault("bad-url", "The address of the service holds more than scheme, host, port and path.")
    return str(parsed).rstrip("/")


def is_loopback(url: str) -> bool:
    """Whether the host of `url` is `localhost` or a loopback address (RFC 6890, RFC 6761)."""
    host = httpx.URL(url).host
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def read_key(path: Path) -> str:
    """Return the key in the first line of a file; raises LocalFault, naming the file and never its content."""
    try:
        content = path.read_text(encoding="ascii").strip()
    except UnicodeDecodeError:
        raise LocalFault("bad-key", f"{path} holds no API key.") from None
    except OSError as error:
        raise LocalFault("no-key", f"The key file {path} cannot be read: {error.strerror}.") from None
    return checked_key(content)


def checked_key(key: str) -> str:
    """Return `key` if it can stand in a header; an error never repeats it."""
    bare = key.strip()
    if not bare or not bare.isascii() or not bare.isprintable() or " " in bare:
        raise LocalFault("bad-key", "The API key is empty, or holds characters that no key has.")
    return bare
