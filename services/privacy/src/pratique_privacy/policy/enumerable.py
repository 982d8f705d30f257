"""Enumerable domains: columns whose values can all be tried against an unkeyed hash."""

from itertools import chain

import polars as pl

from pratique_privacy.policy.words import words_of

# Addresses, numbering plans of mobile networks (3GPP TS 23.003), and lists that anyone can write down.
_THEMES = (
    "ip ipv4 ipv6 addr address mac port vlan teid seid",
    "imsi supi suci guti tmsi msin msisdn gpsi imei imeisv pei iccid phone tel telephone mobile",
    "mcc mnc plmn tac ecgi ncgi nci rnti sst sd snssai slice region role roles protocol protocols",
    "zip postcode age sex gender birth birthdate dob date time day month year pin ssn",
)
_NAMES = frozenset(name for names in _THEMES for name in names.split())
_SHAPES = (
    r"^[0-9]{1,20}$",  # numbers: an IMSI has 15 digits, of which a search skips the first five
    r"^[0-9]{1,3}(\.[0-9]{1,3}){3}(/[0-9]{1,2})?$",
    r"^[0-9A-Fa-f:]*:[0-9A-Fa-f:]*:[0-9A-Fa-f:.]*(/[0-9]{1,3})?$",  # IPv6 and MAC
    r"^[0-9]{4}-[0-9]{2}-[0-9]{2}",
    r"^(imsi|msisdn|imei|imeisv|suci)-[0-9]",  # TS 29.571 spellings
)


def enumerable(name: str, values: pl.Series | None = None) -> bool:
    """Say whether a column's values can be enumerated: by a word in its name, or by the shape of all its values."""
    if not _NAMES.isdisjoint(chain(*words_of(name))):
        return True
    if values is None:
        return False
    if values.dtype.is_integer():
        return True
    texts = (values.explode() if isinstance(values.dtype, pl.List) else values).drop_nulls()
    return texts.dtype == pl.String and len(texts) > 0 and any(texts.str.contains(shape).all() for shape in _SHAPES)
