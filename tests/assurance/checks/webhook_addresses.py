"""Webhook addresses: none leads into our own network, by whatever spelling, name, redirect or second look-up.

One loopback address, 127.0.0.9, stands for the outside and is the only one that the operator has opened. A listener at
every other address of this machine counts connections. Addresses that this machine does not have are asked of the
product's own client, with an audit hook of the interpreter on `connect`.
"""

import asyncio
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from ipaddress import ip_address
from pathlib import Path

from pratique_privacy.outbound.addresses import Address, Allowed
from pratique_privacy.outbound.post import Outbound
from tests.assurance.figures import Bound, Figure, Profile, none, some
from tests.assurance.rehearsal import released
from tests.support.house import House, house

OUTSIDE = "127.0.0.9"
PATIENCE = 60.0  # seconds
SPELLINGS = (
    "127.0.0.2", "127.2", "2130706434", "0x7f000002", "0x7f.0.0.2", "0177.0.0.2", "017700000002", "127.0.0.2.",
    "0.0.0.0", "0",
    "[::1]", "[::]", "[::ffff:127.0.0.2]", "[::ffff:7f00:2]", "[::127.0.0.2]", "[64:ff9b::7f00:2]",
    "[2002:7f00:2::]", "[::1%25lo]",
    "localhost", "LOCALHOST", "localhost.", "a.localhost", "ip6-localhost", "①②⑦.⓪.⓪.②",
    "127。0。0。2", "127.0.0.2%00.example.com",
    "user@127.0.0.2", "hooks.example.com@127.0.0.2", "127.0.0.9@127.0.0.2", "127.0.0.2#@127.0.0.9",
    "127.0.0.2\\@127.0.0.9",
    "127.0.0.9\\@127.0.0.2", "127.0.0.9 @127.0.0.2", "127.0.0.9:80@127.0.0.2", "127.0.0.9\t.127.0.0.2",
)  # fmt: skip
INSIDE = (
    "127.0.0.1", "10.1.2.3", "172.16.0.1", "172.31.255.254", "192.168.1.1", "169.254.169.254", "169.254.170.2",
    "100.64.0.1",
    "192.0.0.192", "198.18.0.1", "0.0.0.0", "224.0.0.1", "255.255.255.255", "::1", "::", "fe80::1", "fec0::1",
    "fc00::1",
    "fd00:ec2::254", "ff02::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::7f00:1",
    "2002:a9fe:a9fe::1",
    "64:ff9b::a9fe:a9fe", "64:ff9b:1::7f00:1", "2001:0:7f00:1::", "2001:db8::1",
)  # fmt: skip
REDIRECTS = (301, 302, 303, 307, 308)


class Listener:
    """Counts connections; answers each with a status and, to a redirect, where to go instead."""

    def __init__(self, host: str, port: int = 0, elsewhere: str = "") -> None:
        self.connections = self.requests = 0
        self._elsewhere = elsewhere
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._socket = socket.create_server((host, port), family=family, dualstack_ipv6=family == socket.AF_INET6)
        self.port: int = self._socket.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                there, _ = self._socket.accept()
                self.connections += 1
                threading.Thread(target=self._answer, args=(there,), daemon=True).start()

    def _answer(self, there: socket.socket) -> None:
        with there, suppress(OSError):
            there.settimeout(5)
            path = there.recv(65_536).split(b" ")[1:2]
            self.requests += bool(path)
            code = int(path[0][1:]) if path and path[0][1:].isdigit() else 204
            where = f"{self._elsewhere}/from-{code}"
            there.sendall(f"HTTP/1.1 {code} x\r\nLocation: {where}\r\nContent-Length: 0\r\n\r\n".encode())

    def close(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()


@contextmanager
def listening(host: str, elsewhere: str = "") -> Iterator[Listener]:
    """Listen until the block ends."""
    listener = Listener(host, elsewhere=elsewhere)
    try:
        yield listener
    finally:
        listener.close()


def webhook_addresses(_: Profile, folder: Path) -> Iterator[Figure]:
    """Name the inside in every way as a webhook, let events happen, and count what arrived there."""
    with (
        listening("::" if socket.has_dualstack_ipv6() else "0.0.0.0") as inside,
        listening(OUTSIDE, f"http://127.0.0.2:{inside.port}") as outside,
    ):
        socket.create_connection(("127.0.0.2", inside.port)).close()
        _until(lambda: inside.connections == 1)
        yield some("control: a connection of our own is seen inside", inside.connections)
        with house(folder / "house", PRATIQUE_WEBHOOK_ALLOW=OUTSIDE) as running:
            taken, refused, failed = _named(running, inside.port, outside.port)
            expected = 1 + len(REDIRECTS)
            with running.client() as client:
                released(client, 1)
            _until(lambda: outside.requests >= expected)
            pending = _until(lambda: not _untried(running, taken))
        yield some("spellings of the inside refused at once", refused)
        yield none("answers of 5xx", failed)
        yield none("deliveries that were not tried", 0 if pending else 1)
        yield some("control: deliveries to the opened address, redirects among them", outside.requests, expected)
        yield none("connections that arrived inside", inside.connections - 1)
        asked, reached, looked = asyncio.run(_asked_of_the_client(inside.port, outside.port))
        yield some("names that lead inside asked of the client", asked, len(INSIDE))
        yield none("connections begun to an inside address", reached)
        yield Figure("look-ups of a name whose second answer leads inside", looked, Bound.EXACTLY, 1)
        yield none("connections that arrived inside after that", inside.connections - 1)


def _named(running: House, inside: int, outside: int) -> tuple[list[str], int, int]:
    """Ask for webhooks; return the ids of those that were taken, and how many were refused or failed."""
    urls = [f"http://{OUTSIDE}:{outside}/hook"] + [f"http://{OUTSIDE}:{outside}/{code}" for code in REDIRECTS]
    for spelling in SPELLINGS:
        urls += [f"{scheme}://{spelling}:{inside}/" for scheme in ("http", "https")]
    urls += [f"{scheme}://127.0.0.2:{inside}/" for scheme in ("HTTP", "ftp", "file", "gopher", "http:", "//")]
    taken, refused, failed = [], 0, 0
    with running.http() as http:
        for url in urls:
            answer = http.post("/webhooks", json={"url": url})
            taken += [answer.json()["id"]] if answer.status_code == 201 else []
            refused += answer.status_code == 422
            failed += answer.status_code >= 500
    return taken, refused, failed


def _untried(running: House, webhooks: list[str]) -> bool:
    with running.http() as http:
        pages = [http.get(f"/webhooks/{one}/deliveries").json()["data"] for one in webhooks]
    return any(not delivery["tries"] for page in pages for delivery in page) or not all(pages)


def _until(look: Callable[[], bool]) -> bool:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if look():
            return True
        time.sleep(0.05)
    return False


async def _asked_of_the_client(inside: int, outside: int) -> tuple[int, int, int]:
    """Post to names that lead inside, and to one that leads outside first; count connections and look-ups."""
    begun: list[str] = []
    watching = True

    def watch(event: str, arguments: tuple[object, ...]) -> None:
        if watching and event == "socket.connect" and isinstance(arguments[1], tuple):
            begun.append(str(arguments[1][0]))

    sys.addaudithook(watch)
    asked = 0
    for text in INSIDE:

        async def leads_inside(host: str, port: int, address: str = text) -> list[Address]:
            return [ip_address(address)]

        out = Outbound(Allowed.parse(OUTSIDE), resolve=leads_inside, whole=0.5)
        for scheme in ("http", "https"):
            asked += 1
            await out.post(f"{scheme}://hooks.example.com:{inside}/", b"{}", {})
        await out.close()
    looked: list[str] = []

    async def rebinding(host: str, port: int) -> list[Address]:
        looked.append(host)
        return [ip_address(OUTSIDE if len(looked) == 1 else "127.0.0.2")]

    out = Outbound(Allowed.parse(OUTSIDE), resolve=rebinding, whole=2)
    await out.post(f"http://rebinding.example.com:{outside}/302", b"{}", {})
    await out.close()
    watching = False
    return asked, sum(address != OUTSIDE for address in begun), len(looked) if OUTSIDE in begun else 0
