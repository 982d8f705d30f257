"""The network plan: what the operator says of ports and regions."""

import hashlib
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address, ip_network
from typing import ClassVar

from pratique_ingest.protocols.services import SPOKEN, STANDARD, Ports, Transport

LAST_PORT = 65_535
PLACE = re.compile(r"line [0-9]+, column [0-9]+")  # as the reader of TOML tells it
LONGEST_REGION = 100
# A plan of a whole country's sites has some ten thousand lines; more is another file by mistake.
LARGEST = 1 << 20
Prefix = tuple[int, int, int]  # IP version, length, and the bits of the network


class BadPlan(ValueError):
    """The text is no network plan; `advice` says where, and what to write instead."""

    code: ClassVar[str] = "network-plan-invalid"

    def __init__(self, advice: str) -> None:
        super().__init__(advice)
        self.advice = advice


@dataclass(frozen=True)
class Plan:
    """Ports that stand for protocols beside the standard ones, and the RIC region of each address prefix."""

    text: str = field(default="", repr=False)
    ports: Ports = field(default=STANDARD, repr=False)
    regions: Mapping[Prefix, str] = field(default_factory=dict, repr=False)

    @property
    def sha256(self) -> str | None:
        """The digest of the plan's text; None without a plan."""
        return hashlib.sha256(self.text.encode()).hexdigest() if self.text else None

    def region(self, address: bytes) -> str | None:
        """Return the region of the longest prefix that has the address (4 or 16 bytes), if one has."""
        width = len(address) * 8
        version, bits = (4 if width == 32 else 6), int.from_bytes(address, "big")
        for length in sorted({length for one, length, _ in self.regions if one == version}, reverse=True):
            region = self.regions.get((version, length, bits >> (width - length)))
            if region is not None:
                return region
        return None


NO_PLAN = Plan()


def read_plan(text: str) -> Plan:
    """Read the TOML of a plan: `ports.sctp`, `ports.udp`, `ports.tcp` (port = protocol), `regions` (prefix = name).

    Raises BadPlan.
    """
    if len(text) > LARGEST:
        raise BadPlan(f"the plan has more than {LARGEST} characters: name the right file")
    try:
        told = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = PLACE.search(str(error))
        raise BadPlan(f"the plan is no TOML: mend {place[0] if place else 'its end'}") from None
    except RecursionError:
        raise BadPlan("the plan has values within values beyond measure: write tables of ports and regions") from None
    unknown = sorted(told.keys() - {"ports", "regions"})
    if unknown:
        raise BadPlan(f"[{unknown[0]}] is no part of a plan: write [ports.sctp], [ports.udp], [ports.tcp] or [regions]")
    ports, regions = _table(told, "ports", "ports"), _table(told, "regions", "regions")
    unknown = sorted(ports.keys() - SPOKEN.keys())
    if unknown:
        raise BadPlan(f"[ports.{unknown[0]}] is no transport: write [ports.sctp], [ports.udp] or [ports.tcp]")
    named = {end: name for transport in SPOKEN for end, name in _named(transport, _table(ports, transport, "ports"))}
    return Plan(text, STANDARD.beside(named), _regions(regions))


def _table(told: Mapping[str, object], name: str, where: str) -> dict[str, object]:
    found = told.get(name, {})
    if not isinstance(found, dict):
        raise BadPlan(f"[{where}]: {name} must be a table, as in [ports.sctp] or [regions]")
    return found


def _named(transport: Transport, told: Mapping[str, object]) -> Iterator[tuple[tuple[Transport, int], str]]:
    """Yield the ports of a transport, each once."""
    seen: set[int] = set()
    for key, name in told.items():
        where = f"[ports.{transport}] {key}"
        port = int(key) if key.isascii() and key.isdecimal() and len(key) <= len(str(LAST_PORT)) else 0
        if not 0 < port <= LAST_PORT:
            raise BadPlan(f"{where} is no port: write a number from 1 to {LAST_PORT}")
        if port in seen:
            raise BadPlan(f"{where} stands there twice: leave one")
        seen.add(port)
        if not isinstance(name, str) or name not in SPOKEN[transport]:
            raise BadPlan(
                f"{where} names no protocol that is known: write one of {', '.join(sorted(SPOKEN[transport]))}"
            )
        yield (transport, port), name


def _regions(told: Mapping[str, object]) -> dict[Prefix, str]:
    regions: dict[Prefix, str] = {}
    for key, name in told.items():
        where = f'[regions] "{key}"'
        try:
            network = ip_network(key)
        except ValueError:
            raise BadPlan(f'{where} is no prefix: write the first address and a length, as in "10.20.0.0/24"') from None
        if not isinstance(name, str) or not name.strip() or len(name) > LONGEST_REGION or not name.isprintable():
            raise BadPlan(f"{where} needs a name of 1 to {LONGEST_REGION} printable characters")
        width = network.max_prefixlen
        bits = int(ip_address(network.network_address)) >> (width - network.prefixlen)
        prefix = (network.version, network.prefixlen, bits)
        if prefix in regions:
            raise BadPlan(f"{where} stands there twice, perhaps in another spelling: leave one")
        regions[prefix] = name
    return regions
