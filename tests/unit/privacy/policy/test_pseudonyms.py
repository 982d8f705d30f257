"""Pseudonyms: scopes, pilots, domains, collisions, and what no pseudonym may change."""

import hashlib
from ipaddress import IPv4Address, IPv6Address, ip_address

import polars as pl
import pytest
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from hypothesis import given, settings
from hypothesis import strategies as st

from pratique_privacy.policy.addresses import Address
from pratique_privacy.policy.apply import apply_policy
from pratique_privacy.policy.crypto_pan import crypto_pan
from pratique_privacy.policy.forms import length_without_collision
from pratique_privacy.policy.keys import Keys
from pratique_shared.contracts.attributes import Attributes
from tests.unit.privacy.policy.released import KEYS, RUN, TENANT, column, partition, policy_of, refusal, release

HOSTS = ["10.0.0.1", "10.0.0.2", "10.0.0.1"]
FORMS = ("hmac", "ipv4_shaped", "crypto_pan")

# The sample trace of the Crypto-PAn distribution (Fan, Xu, Ammar and Moon), key included.
SAMPLE_KEY = bytes.fromhex("1522178d33a4cf80130a5b1649907d10d8988f837979652762574c2d2a842202")
SAMPLE = {
    "128.11.68.132": "135.242.180.132",
    "129.118.74.4": "134.136.186.123",
    "130.132.252.244": "133.68.164.234",
    "141.223.7.43": "141.167.8.160",
    "192.102.249.13": "252.138.62.131",
}


def test_a_pseudonym_of_another_tenant_column_or_pilot_is_another_one() -> None:
    other = Keys(bytes(32), RUN)
    for form in FORMS:
        step = {"op": form, "scope": "per_pilot"}
        one = column(HOSTS, step)
        others = [
            column(HOSTS, step, keys=other),
            column(HOSTS, step, pilot="field"),
            column(HOSTS, {**step, "domain": "w"}),
            column(HOSTS, {**step, "scope": "deterministic"}),
            column(HOSTS, {**step, "scope": "per_run"}),
        ]
        for found in others:
            assert partition(found) == partition(one)
            assert not set(found) & set(one)


def test_a_named_domain_gives_equal_tokens_in_two_columns() -> None:
    steps = [{"column": name, "op": "hmac", "domain": "address"} for name in ("src", "dst")]
    made = release([{"src": "10.0.0.1", "dst": "10.0.0.2"}, {"src": "10.0.0.2", "dst": "10.0.0.1"}], *steps, qi=["src"])
    assert made.table["src"].to_list() == made.table["dst"].to_list()[::-1]
    apart = release([{"src": "a", "dst": "a"}], *({**step, "domain": None} for step in steps), qi=["src"])
    assert apart.table["src"][0] != apart.table["dst"][0]


def test_the_pilot_of_a_row_goes_before_that_of_the_release() -> None:
    rows: list[dict[str, object]] = [
        {"v": "h", "pilot": "lab"},
        {"v": "h", "pilot": "field"},
        {"v": "h", "pilot": None},
        {"v": "h", "pilot": ""},
    ]
    step = {"column": "v", "op": "hmac"}
    tokens = release(rows, step, pilot="field", drop=["pilot"]).table["v"].to_list()
    assert partition(tokens) == [[0], [1, 2, 3]]
    lab = column(["h"], {"op": "hmac"}, pilot="lab")
    assert tokens[:1] == lab


def test_the_key_follows_the_pilot_of_the_source_after_that_column_was_suppressed() -> None:
    rows = [{"v": "h", "pilot": "lab"}, {"v": "h", "pilot": "field"}]
    steps = [{"column": "pilot", "op": "cell"}, {"column": "v", "op": "hmac"}]
    made = release(rows, *steps, pilot=None)
    assert made.table["v"].n_unique() == 2
    assert made.table["pilot"].to_list() == ["*", "*"]


def test_per_pilot_without_any_pilot_is_refused_and_the_other_scopes_need_none() -> None:
    refused = refusal("pilot-missing", lambda: column(HOSTS, {"op": "hmac"}, pilot=None))
    assert [error.pointer for error in refused.errors] == ["/pilot"]
    assert "10.0" not in refused.detail
    for scope in ("deterministic", "per_run"):
        assert partition(column(HOSTS, {"op": "hmac", "scope": scope}, pilot=None)) == [[0, 2], [1]]
    assert column([None, "*"], {"op": "hmac"}, pilot=None) == [None, "*"]


def test_runs_share_no_token_under_per_run_token_and_salted_hash() -> None:
    fresh = Keys(TENANT, bytes(reversed(RUN)))
    for step in ({"op": "hmac", "scope": "per_run"}, {"op": "token"}, {"op": "salted_hash"}):
        one = column(["a", "b", "a"], step)
        two = column(["a", "b", "a"], step, keys=fresh, seed=1)
        assert partition(one) == partition(two) == [[0, 2], [1]]
        assert not set(one) & set(two)


def test_keys_are_hkdf_over_parts_that_cannot_run_into_each_other() -> None:
    info = b"pratique pseudonym 1" + b"".join(
        b"\1" + len(part).to_bytes(4, "big") + part for part in (b"per_pilot", b"lab", b"ip", b"hmac")
    )
    assert KEYS.derive("per_pilot", "lab", "ip") == HKDF(SHA256(), 32, salt=None, info=info).derive(TENANT)
    ways = [("a", "bc"), ("ab", "c"), ("abc", ""), ("", "abc")]
    assert len({KEYS.derive("per_pilot", pilot, domain) for pilot, domain in ways}) == len(ways)
    assert KEYS.derive("per_run", None, "ip") != KEYS.derive("per_run", "", "ip")
    assert KEYS.derive("deterministic", "lab", "ip") == KEYS.derive("deterministic", None, "ip")


def test_secrets_never_show_and_short_ones_are_turned_down() -> None:
    assert repr(KEYS) == "Keys()"
    with pytest.raises(ValueError, match="at least 32 bytes"):
        Keys(b"short", RUN)
    with pytest.raises(ValueError, match="needs a pilot"):
        KEYS.derive("per_pilot", None, "ip")


def test_integers_are_hashed_in_decimal_and_null_and_star_stay() -> None:
    assert column([42, None], {"op": "hmac"}) == column(["42", None], {"op": "hmac"})
    assert column(["*", None, "x"], {"op": "hmac"})[:2] == ["*", None]
    assert column([[], None, ["*"]], {"op": "token"}) == [[], None, ["*"]]


def test_elements_of_a_list_have_the_tokens_of_the_values_alone() -> None:
    alone = dict(zip("abc", column(["a", "b", "c"], {"op": "hmac"}), strict=True))
    found = column([["a", "b"], ["c", "b"], ["a"]], {"op": "hmac"})
    assert found == [sorted(map(str, (alone[e] for e in cell))) for cell in ("ab", "cb", "a")]


def test_ipv4_shaped_keeps_the_first_octet_and_stars_what_is_no_ipv4_address() -> None:
    made = release(
        [{"v": v} for v in ["10.1.2.3", "2001:db8::1", "host", "010.0.0.1", "*", None, "host"]],
        {"column": "v", "op": "ipv4_shaped"},
    )
    found = made.table["v"].to_list()
    assert found[0].startswith("10.")
    assert found[0] != "10.1.2.3"
    assert IPv4Address(found[0])
    assert found[1:] == ["*", "*", "*", "*", None, "*"]
    assert made.unreadable == {"v": 4}
    assert made.cells_suppressed == {"v": pytest.approx(5 / 7)}


def test_a_collision_of_ipv4_shaped_tokens_is_refused_without_a_value() -> None:
    # 24 bits and 30,000 hosts in one first octet: 1 - exp(-30000^2 / 2^25) leaves 2e-12 for no collision.
    hosts = [f"10.{n >> 16}.{n >> 8 & 255}.{n & 255}" for n in range(30_000)]
    refused = refusal("pseudonym-collision", lambda: column(hosts, {"op": "ipv4_shaped"}))
    assert [error.pointer for error in refused.errors] == ["/policy/steps/0"]
    assert "10." not in refused.detail + refused.errors[0].detail
    assert len(set(column(hosts, {"op": "hmac", "bits": 96}))) == len(hosts)


def test_collisions_of_list_elements_are_found_too() -> None:
    hosts = [[f"10.{n >> 16}.{n >> 8 & 255}.{n & 255}" for n in range(start, 30_000, 3)] for start in range(3)]
    refused = refusal("pseudonym-collision", lambda: column(hosts, {"op": "ipv4_shaped"}))
    assert [error.pointer for error in refused.errors] == ["/policy/steps/0"]


def test_equal_random_tokens_are_refused() -> None:
    table, attributes = pl.DataFrame({"v": ["a", "b"]}), Attributes(quasi_identifiers=("v",))
    policy = policy_of({"column": "v", "op": "token"})
    broken = bytes  # an entropy that gives zeros alone
    refused = refusal(
        "pseudonym-collision",
        lambda: apply_policy(table, policy, attributes, keys=KEYS, pilot=None, entropy=broken),
    )
    assert [error.pointer for error in refused.errors] == ["/policy/steps/0"]


def test_a_collision_lengthens_every_token_by_as_little_as_it_takes() -> None:
    digests = ["00" * 6 + "ab" + "0" * 50, "00" * 6 + "ac" + "0" * 50, "11" * 32]
    # equal up to 12 hex digits and one more: they differ at the 14th, 56 bits
    assert length_without_collision(digests, 48, "lengthen") == 56
    assert length_without_collision(digests, 48, "fail") is None
    assert length_without_collision(digests, 64, "fail") == 64
    assert length_without_collision([digests[0]] * 2, 48, "lengthen") is None


def test_lengthened_tokens_are_published_at_one_length_with_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    digests = {"a": "00" * 6 + "a" + "0" * 51, "b": "00" * 6 + "b" + "0" * 51, "c": "11" * 32}
    monkeypatch.setattr(
        "pratique_privacy.policy.pseudonyms.hmac_hex", lambda _key, texts: [digests[text] for text in texts]
    )
    step = {"column": "v", "op": "hmac", "bits": 48, "on_collision": "lengthen"}
    made = release([{"v": v} for v in "abca"], step)
    assert made.table["v"].to_list() == [digests[v][:13] for v in "abca"]
    assert [(finding.code, finding.column) for finding in made.findings] == [("pseudonym-lengthened", "v")]
    refusal("pseudonym-collision", lambda: release([{"v": v} for v in "abca"], {**step, "on_collision": "fail"}))


def test_a_salted_hash_of_an_enumerable_column_is_reported() -> None:
    rows = [{"v": "a", "imsi": "001010000000001"}]
    steps = [
        {"column": "v", "op": "salted_hash", "acknowledge_enumerable": True},
        {"column": "imsi", "op": "salted_hash", "acknowledge_enumerable": True},
    ]
    made = release(rows, *steps, identifiers=["imsi"])
    assert [(finding.code, finding.column) for finding in made.findings] == [("salted-hash-enumerable", "imsi")]
    assert len(made.table["imsi"][0]) == 32
    assert made.table["imsi"][0] != hashlib.sha256(b"001010000000001").hexdigest()[:32]


def test_crypto_pan_maps_the_published_sample_trace() -> None:
    assert crypto_pan(SAMPLE_KEY, [ip_address(text) for text in SAMPLE]) == list(SAMPLE.values())


def test_crypto_pan_maps_ipv6_as_another_implementation_does() -> None:
    # The example of the yacryptopan package.
    key = b"32-char-str-for-AES-key-and-pad."
    found = crypto_pan(key, [ip_address("192.0.2.1"), ip_address("2001:db8::1")])
    assert found == ["192.0.125.244", "27fe:8bc7:fee:1e:1e1f:f0fe:f0e1:83fd"]


def common_bits(left: int, right: int, width: int) -> int:
    return width - (left ^ right).bit_length()


@settings(deadline=None, max_examples=25)
@given(st.lists(st.integers(0, 2**32 - 1), min_size=2, max_size=8), st.lists(st.integers(0, 2**128 - 1), max_size=4))
def test_crypto_pan_keeps_common_prefixes_at_their_exact_length(four: list[int], six: list[int]) -> None:
    addresses: list[Address] = [*map(IPv4Address, four), *map(IPv6Address, six)]
    mapped = [ip_address(text) for text in crypto_pan(SAMPLE_KEY, addresses)]
    for one, image in zip(addresses, mapped, strict=True):
        for other, shadow in zip(addresses, mapped, strict=True):
            if one.version == other.version:
                width = one.max_prefixlen
                kept = common_bits(int(image), int(shadow), width)
                assert kept == common_bits(int(one), int(other), width)


def test_two_spellings_of_one_ipv6_address_are_one_subject() -> None:
    spelt = ["2001:DB8::1", "2001:db8:0:0::1", "2001:db8::2"]
    assert partition(column(spelt, {"op": "crypto_pan"})) == [[0, 1], [2]]
    assert partition(column(spelt, {"op": "hmac"})) == [[0], [1], [2]]


@settings(deadline=None, max_examples=40)
@given(
    st.lists(
        st.tuples(st.sampled_from(["a", "b", "c", None, "*", ""]), st.sampled_from(["lab", "field", None])), max_size=12
    ),
    st.sampled_from(["deterministic", "per_run", "per_pilot"]),
)
def test_hmac_leaves_the_partition_of_each_pilot_as_it_was(
    cells: list[tuple[str | None, str | None]], scope: str
) -> None:
    table = pl.DataFrame(
        {"v": [value for value, _ in cells], "pilot": [pilot for _, pilot in cells]},
        schema={"v": pl.String, "pilot": pl.String},
    )
    found = release(table, {"column": "v", "op": "hmac", "scope": scope}, pilot="lab").table["v"].to_list()
    by_pilot = scope != "deterministic"
    # null and `*` are no subjects: they stay whatever the pilot
    wanted = [(value, (pilot or "lab") if by_pilot and value not in (None, "*") else None) for value, pilot in cells]
    assert partition(found) == partition(wanted)
