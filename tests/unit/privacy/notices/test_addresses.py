"""Addresses: what a user names must not lead into a network of ours (CWE-918)."""

from ipaddress import ip_address

import pytest

from pratique_privacy.outbound.addresses import Allowed, Refused, target_of

NOBODY = Allowed()
LAB = Allowed.parse("10.20.0.0/16, ics.lab  2001:db8::/32")


def permitted(url: str, address: str, allowed: Allowed = NOBODY) -> bool:
    return allowed.permits(target_of(url, allowed), ip_address(address))


@pytest.mark.parametrize("address", ["8.8.8.8", "2606:4700::1111", "64:ff9b::808:808"])
def test_https_may_go_to_public_addresses(address: str) -> None:
    assert permitted("https://hooks.example.com/x", address)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
        "224.0.0.1",
        "255.255.255.255",
        "::1",
        "::",
        "fe80::1",
        "fc00::1",
        "ff02::1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "::7f00:1",
        "2002:7f00:1::",
        "64:ff9b::7f00:1",
        "64:ff9b:1::7f00:1",
        "192.0.0.192",
        "fec0::1",
        "3fff::1",
        "5f00::1",
        "2001:0:7f00:1::",
    ],
)
def test_a_name_that_leads_inside_is_refused(address: str) -> None:
    assert not permitted("https://hooks.example.com/x", address)


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("http://hooks.example.com/x", "address-not-allowed"),
        ("https://127.0.0.1/x", "address-not-allowed"),
        ("https://[::1]/x", "address-not-allowed"),
        ("https://localhost/x", "address-not-allowed"),
        ("https://user:pass@hooks.example.com/", "address-unreadable"),
        ("https://hooks.example.com/#part", "address-unreadable"),
        ("https://hooks.example.com:99999/", "address-unreadable"),
        ("https://hooks.example.com/a b", "address-unreadable"),
        ("ftp://hooks.example.com/", "address-unreadable"),
        ("https:///x", "address-unreadable"),
        ("https://[::1/x", "address-unreadable"),
        ("https://hooks.example.com/\r\nHost: inside", "address-unreadable"),
        ("https://hooks.example.com/" + "x" * 2000, "address-unreadable"),
    ],
)
def test_an_address_that_is_none_is_refused_before_anything_is_sent(url: str, code: str) -> None:
    with pytest.raises(Refused) as refused:
        target_of(url, NOBODY)
    assert refused.value.code == code


def test_an_operator_opens_networks_and_names() -> None:
    assert permitted("http://10.20.3.4:8083/x", "10.20.3.4", LAB)
    assert permitted("http://ICS.lab/x", "192.168.7.7", LAB)
    assert permitted("http://other.lab/x", "2001:db8::7", LAB)
    assert not permitted("https://other.lab/x", "10.21.0.1", LAB)
    assert not permitted("http://other.lab/x", "8.8.8.8", LAB), "plain http stays inside what was opened"


@pytest.mark.parametrize("text", ["10.0.0.0/33", "10.0.0.1/8", "host:80", "a/b"])
def test_a_setting_that_cannot_be_read_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        Allowed.parse(text)


@pytest.mark.parametrize(
    ("url", "authority"),
    [
        ("https://h.example.com/a?b=c", "h.example.com"),
        ("https://h.example.com:8443", "h.example.com:8443"),
        ("http://[2001:db8::1]:8080/", "[2001:db8::1]:8080"),
    ],
)
def test_the_host_header_names_the_host_and_an_unusual_port(url: str, authority: str) -> None:
    assert target_of(url, LAB).authority == authority
