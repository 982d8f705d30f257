"""IP addresses: strict reading, and the network that an address is published as."""

from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import TypeAlias

import polars as pl

from pratique_privacy.policy.cells import Reading, Rewritten, Scalar, rewrite

Address: TypeAlias = IPv4Address | IPv6Address

_OCTET = "(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_IPV4 = rf"^{_OCTET}\.{_OCTET}\.{_OCTET}\.{_OCTET}$"


def address_of(value: Scalar) -> Address | None:
    """Read an address: four decimal octets without leading zeros, or RFC 4291 text without a zone; else None.

    An IPv4-mapped IPv6 address is an IPv6 address: it is cut and mapped by the rules of the form it is written in.
    """
    if not isinstance(value, str) or "%" in value:
        return None
    try:
        return ip_address(value)
    except ValueError:
        return None


def ip_prefix(column: pl.Series, v4: int, v6: int) -> Rewritten:
    """Replace addresses by their network, `v4` or `v6` leading bits (Kekatos et al. 2026, §IV-C).

    A network (`10.45.3.0/24`) may be cut once more and never gets longer. IPv4 in a text column goes through whole
    columns of octets; everything else is read one distinct value at a time.
    """
    if column.dtype != pl.String:
        return rewrite(column, _network_reading(v4, v6))
    plain = column.str.contains(_IPV4).fill_null(value=False)
    rest = rewrite(column.filter(~plain), _network_reading(v4, v6))
    rows = pl.concat([plain.arg_true(), (~plain).arg_true()])
    both = pl.concat([_ipv4_networks(column.filter(plain), v4), rest.column])
    return Rewritten(both if plain.all() else both.gather(rows.arg_sort()), rest.unreadable)


def _ipv4_networks(column: pl.Series, bits: int) -> pl.Series:
    octets = column.str.split_exact(".", 3).struct.unnest()
    mask = (0xFFFFFFFF << (32 - bits)) & 0xFFFFFFFF
    # The first octet is never a literal: a format of literals alone would have one row.
    kept = [
        pl.col(name) if keep == 255 else pl.lit("0") if place and not keep else pl.col(name).cast(pl.UInt8) & keep
        for place, (name, keep) in enumerate(zip(octets.columns, mask.to_bytes(4), strict=True))
    ]
    network = pl.format("{}.{}.{}.{}/" + str(bits), *kept)
    return octets.select(network.alias(column.name)).to_series()


def _network_reading(v4: int, v6: int) -> Reading:
    def network(value: Scalar) -> str | None:
        text, slash, length = value.partition("/") if isinstance(value, str) else ("", "", "")
        address = address_of(text)
        if address is None:
            return None
        width = address.max_prefixlen
        given = _prefix_length(length, width) if slash else width
        if given is None:
            return None
        bits = min(v4 if address.version == 4 else v6, given)
        kept = int(address) >> (width - bits) << (width - bits)
        return f"{type(address)(kept)}/{bits}"

    return network


def _prefix_length(text: str, width: int) -> int | None:
    if not (text.isascii() and text.isdigit() and len(text) <= 3):
        return None
    return int(text) if int(text) <= width else None
