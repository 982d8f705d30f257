"""Forwarding: the address at which our users reach us, and what a trusted proxy says of a request (RFC 7239)."""

import re
from contextvars import ContextVar
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_BASE: ContextVar[str] = ContextVar("base", default="")
_HOST: Final = re.compile(r"(?:[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?")
_PREFIX: Final = re.compile(r"(?:/[A-Za-z0-9._~-]+){1,16}")
_PAIR: Final = re.compile(r'\s*([A-Za-z-]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*))\s*(;|,|$)')
_X_FORWARDED: Final = ("x-forwarded-for", "x-forwarded-proto", "x-forwarded-host")
MOST_CHARACTERS: Final = 4096  # of a header that proxies write


@dataclass(frozen=True)
class Front:
    """What stands in front of the API: its public address where that is set, and the proxies that are believed."""

    public: str = ""
    proxies: tuple[IPv4Network | IPv6Network, ...] = ()

    def believes(self, address: str) -> bool:
        """Whether an address is that of a trusted proxy."""
        try:
            found = ip_address(address)
        except ValueError:
            return False
        mapped = getattr(found, "ipv4_mapped", None)
        return any((mapped or found) in network for network in self.proxies)


@dataclass(frozen=True)
class Hop:
    """What one proxy says of the request that came to it: from whom, by which scheme, for which host."""

    client: str = ""
    proto: str = ""
    host: str = ""


@dataclass(frozen=True)
class Seen:
    """A request as its sender saw it: the sender's address, and what the addresses of ours begin with."""

    peer: str
    base: str
    scheme: str


def linked(path: str) -> str:
    """Return a path of ours as who asks can follow it: complete where the public address is known, else as it is."""
    return _BASE.get() + path


def public_address(text: str) -> str:
    """Read the public address: http or https, a host, perhaps a path, and nothing else; raises ValueError."""
    parts = urlsplit(text.strip().rstrip("/"))
    is_plain = not parts.path or _PREFIX.fullmatch(parts.path)
    if parts.scheme not in ("http", "https") or not _HOST.fullmatch(parts.netloc) or not is_plain:
        raise ValueError("no scheme, host or path that an address of ours has")
    if parts.query or parts.fragment:
        raise ValueError("links cannot be put after a query or a fragment")
    return parts.geturl()


def networks(text: str) -> tuple[IPv4Network | IPv6Network, ...]:
    """Read a list of networks and addresses; raises ValueError."""
    return tuple(ip_network(entry) for entry in text.replace(",", " ").split())


def seen(front: Front, peer: str, scheme: str, headers: Headers) -> Seen:
    """Return a request as its sender saw it. Only what a trusted proxy says is believed.

    A proxy that writes one family of headers passes the other on as its client sent it: where both are there,
    neither is believed.
    """
    hop, prefix = Hop(), ""
    both = "forwarded" in headers and any(name in headers for name in _X_FORWARDED)
    if front.believes(peer) and not both:
        hop = _outermost(front, _of_forwarded(headers) if "forwarded" in headers else _of_x_forwarded(headers))
        prefix = _matching(_PREFIX, headers.get("x-forwarded-prefix", "").rstrip("/"))
        peer = hop.client or peer
    proto = hop.proto if hop.proto in ("http", "https") else ""
    if front.public:
        return Seen(peer, front.public, urlsplit(front.public).scheme)
    if not (proto or hop.host):
        return Seen(peer, prefix, scheme)
    host = hop.host or _matching(_HOST, headers.get("host", ""))
    return Seen(peer, f"{proto or scheme}://{host}{prefix}" if host else prefix, proto or scheme)


def _outermost(front: Front, hops: list[Hop]) -> Hop:
    """Return what the outermost trusted proxy says: the first one, from ours outwards, whose client is not one."""
    for hop in reversed(hops):
        if not front.believes(hop.client):
            return hop
    return hops[0] if hops else Hop()


def _of_x_forwarded(headers: Headers) -> list[Hop]:
    """Read the headers in use before RFC 7239. A proxy may write a single value where others append to a list."""
    clients, protos, hosts = (_listed(headers, name) for name in _X_FORWARDED)
    count = max(len(clients), len(protos), len(hosts))

    def at(values: list[str], back: int) -> str:
        return values[max(-back, -len(values))] if values else ""

    return [
        _hop(at(clients, back) if back <= len(clients) else "", at(protos, back), at(hosts, back))
        for back in range(count, 0, -1)
    ]


def _of_forwarded(headers: Headers) -> list[Hop]:
    """Read `Forwarded` (RFC 7239, 4); a header that is not well formed says nothing."""
    text = ",".join(headers.getlist("forwarded"))[:MOST_CHARACTERS]
    hops, told, at = list[Hop](), dict[str, str](), 0
    while at < len(text):
        pair = _PAIR.match(text, at)
        if pair is None:
            return []
        told[pair[1].lower()] = re.sub(r"\\(.)", r"\1", pair[2]) if pair[2] is not None else pair[3]
        at = pair.end()
        if pair[4] != ";":
            hops.append(_hop(told.get("for", ""), told.get("proto", ""), told.get("host", "")))
            told = {}
    return hops


def _hop(client: str, proto: str, host: str) -> Hop:
    return Hop(_address(client), proto.lower(), _matching(_HOST, host))


def _address(text: str) -> str:
    """Return the address of a node without its port (RFC 7239, 6); nothing for one that hides its address."""
    found = re.fullmatch(r"\[([0-9A-Fa-f:.]+)\](?::\d+)?|([0-9.]+)(?::\d+)?|([0-9A-Fa-f:.]+)", text)
    literal = next((part for part in found.groups() if part), "") if found else ""
    try:
        return str(ip_address(literal))
    except ValueError:
        return ""


def _matching(form: re.Pattern[str], text: str) -> str:
    return text if form.fullmatch(text) else ""


def _listed(headers: Headers, name: str) -> list[str]:
    text = ",".join(headers.getlist(name))[:MOST_CHARACTERS]
    return [entry.strip() for entry in text.split(",")] if text else []


class Forwarding:
    """Middleware: says where a request came from, and completes the `Location` of its answer."""

    def __init__(self, app: ASGIApp, front: Front) -> None:
        self._app, self._front = app, front

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        peer = (scope.get("client") or ("", 0))[0]
        found = seen(self._front, peer, scope["scheme"], Headers(scope=scope))
        scope["scheme"] = found.scheme
        scope.setdefault("state", {})["peer"] = found.peer

        async def completed(message: Message) -> None:
            if found.base and message["type"] == "http.response.start":
                message["headers"] = [_complete(found.base, *header) for header in message.get("headers", [])]
            await send(message)

        before = _BASE.set(found.base)
        try:
            await self._app(scope, receive, completed)
        finally:
            _BASE.reset(before)


def _complete(base: str, name: bytes, value: bytes) -> tuple[bytes, bytes]:
    is_path = name.lower() == b"location" and value.startswith(b"/") and not value.startswith(b"//")
    return name, base.encode("latin-1") + value if is_path else value
