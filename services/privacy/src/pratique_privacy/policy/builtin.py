"""Built-in policies: the eight configurations C0 .. C7 of Kekatos et al. 2026, §V-E."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from pratique_shared.contracts.attributes import Attributes
from pratique_shared.contracts.policy import Bin, Hmac, IpPrefix, Policy, Step, Threshold

C4_TAU = 3  # not printed; a mean k of 3.00 under C4 in Table II forces it
C6_WIDTH = 5  # Table II: "protoCnt/bin5"


@dataclass(frozen=True)
class BuiltIn:
    """A named policy with the attributes that it was published with; the sensitive one is a caller's choice."""

    name: str
    title: str
    policy: Policy
    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]


def attributes_of(builtin: BuiltIn, columns: Iterable[str]) -> Attributes:
    """Return a built-in's own attributes over the columns of a source: everything else is dropped."""
    own = (*builtin.quasi_identifiers, *builtin.sensitive)
    return Attributes(
        quasi_identifiers=builtin.quasi_identifiers,
        sensitive=builtin.sensitive,
        drop=tuple(column for column in columns if column not in own),
    )


def _built_in(name: str, title: str, *steps: Step, qi: tuple[str, ...], sa: str) -> BuiltIn:
    return BuiltIn(name, title, Policy(steps=steps), qi, (sa,))


# Table II names quasi-identifiers and steps; that C0 .. C4 stand on the address alone follows from its exact column.
BUILT_IN: Mapping[str, BuiltIn] = MappingProxyType(
    {
        built_in.name: built_in
        for built_in in (
            _built_in("C0", "No transformation, the address as it is", qi=("ip",), sa="protocols"),
            _built_in(
                "C1",
                "HMAC pseudonyms of addresses",
                Hmac(column="ip", op="hmac", bits=128, scope="deterministic"),
                qi=("ip",),
                sa="protocols",
            ),
            _built_in(
                "C2",
                "Addresses cut to /24 and /64",
                IpPrefix(column="ip", op="ip_prefix", v4=24, v6=64),
                qi=("ip",),
                sa="protocols",
            ),
            _built_in(
                "C3",
                "Addresses cut to /16 and /48",
                IpPrefix(column="ip", op="ip_prefix", v4=16, v6=48),
                qi=("ip",),
                sa="protocols",
            ),
            _built_in(
                "C4",
                "Addresses cut to /24 and /64, rare networks suppressed",
                IpPrefix(column="ip", op="ip_prefix", v4=24, v6=64),
                Threshold(column="ip", op="threshold", tau=C4_TAU),
                qi=("ip",),
                sa="protocols",
            ),
            _built_in("C5", "Protocols and their count as they are", qi=("protocols", "protocol_count"), sa="role"),
            _built_in(
                "C6",
                "Protocol count in bins of five",
                Bin(column="protocol_count", op="bin", width=C6_WIDTH),
                qi=("protocol_count",),
                sa="role",
            ),
            _built_in("C7", "The role as it is", qi=("role",), sa="protocols"),
        )
    }
)
