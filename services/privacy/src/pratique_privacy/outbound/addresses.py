"""Addresses: where a request of ours may go (CWE-918: a user's address must not lead into our own network)."""

from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final, Self
from urllib.parse import urlsplit

Address = IPv4Address | IPv6Address
MOST_CHARACTERS = 2000
_PORTS: Final = {"https": 443, "http": 80}
_NAT64 = ip_network("64:ff9b::/96")  # RFC 6052: such an address ends in an IPv4 one
# Networks that `is_global` of one Python version or another takes for public (IANA's special-purpose registries).
_INSIDE = tuple(
    map(
        ip_network,
        (
            "64:ff9b:1::/48",  # RFC 8215: it leads into a network of ours
            "fec0::/10",  # RFC 3879: site-local addresses, deprecated and still routed in places
            "3fff::/20",  # RFC 9637: documentation
            "5f00::/16",  # RFC 9602: segment identifiers of a network of ours
            "192.0.0.0/24",  # RFC 6890: protocol assignments; clouds put their metadata there
        ),
    )
)


class Refused(Exception):
    """An address that we do not send to: a stable code and what to do, without the address."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(code)
        self.code, self.detail = code, detail


@dataclass(frozen=True)
class Target:
    """A URL in its parts: `resource` is path and query as they are sent."""

    scheme: str
    host: str
    port: int
    resource: str

    @property
    def authority(self) -> str:
        """The value of the header `Host` (RFC 9110, 7.2)."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        usual = _PORTS[self.scheme]
        return host if self.port == usual else f"{host}:{self.port}"


@dataclass(frozen=True)
class Allowed:
    """What an operator opens beyond the public internet over https: names of hosts, and networks."""

    hosts: frozenset[str] = frozenset()
    networks: tuple[IPv4Network | IPv6Network, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `192.0.2.0/24, ics.example`: networks in CIDR notation, addresses, names; raises ValueError."""
        hosts, networks = set(), []
        for entry in text.replace(",", " ").split():
            try:
                networks.append(ip_network(entry))
            except ValueError:
                if "/" in entry or ":" in entry:
                    raise ValueError("an entry is neither a network, nor an address, nor a name") from None
                hosts.add(entry.lower().rstrip("."))
        return cls(frozenset(hosts), tuple(networks))

    def names(self, host: str) -> bool:
        """Whether the operator names this host."""
        return host.lower().rstrip(".") in self.hosts

    def holds(self, address: Address) -> bool:
        """Whether an address lies in a network that the operator opens."""
        return any(address in network for network in self.networks)

    def permits(self, target: Target, address: Address) -> bool:
        """Whether a request to `target` may go to this one of its addresses."""
        if self.names(target.host) or self.holds(_inner(address)):
            return True
        return target.scheme == "https" and is_public(address)


def is_public(address: Address) -> bool:
    """Whether an address is one of the public internet (RFC 6890), the IPv4 address inside it included."""
    plain = _inner(address)
    inside = any(plain in network for network in _INSIDE)
    return plain.is_global and not plain.is_multicast and not plain.is_reserved and not inside


def _inner(address: Address) -> Address:
    """Return the IPv4 address that an IPv6 one stands for (mapped, 6to4, NAT64), or the address itself."""
    if isinstance(address, IPv4Address):
        return address
    if (mapped := address.ipv4_mapped or address.sixtofour) is not None:
        return mapped
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address


def target_of(url: str, allowed: Allowed) -> Target:
    """Take a URL apart; raises `Refused` where it can be seen at once that nothing may be sent there."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise _unreadable() from None
    readable = url.isascii() and url.isprintable() and " " not in url and len(url) <= MOST_CHARACTERS
    if not readable or parts.scheme not in ("https", "http") or not host or port == 0:
        raise _unreadable()
    if parts.username is not None or parts.password is not None or parts.fragment:
        raise Refused("address-unreadable", "must hold neither a user, nor a password, nor a fragment")
    resource = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    target = Target(parts.scheme, host, port or _PORTS[parts.scheme], resource)
    if (literal := _literal(host)) is not None and not allowed.permits(target, literal):
        raise not_allowed()
    if literal is None and target.scheme == "http" and not allowed.names(host) and not allowed.networks:
        raise not_allowed()
    if literal is None and (host == "localhost" or host.endswith(".localhost")) and allowed == Allowed():
        raise not_allowed()
    return target


def not_allowed() -> Refused:
    """Return the refusal of an address that leads into a network of ours, or that is not https."""
    return Refused("address-not-allowed", "must be https to a public address, or one that the operator has opened")


def _unreadable() -> Refused:
    return Refused("address-unreadable", "must be an https address that names a host")


def _literal(host: str) -> Address | None:
    try:
        return ip_address(host)
    except ValueError:
        return None
