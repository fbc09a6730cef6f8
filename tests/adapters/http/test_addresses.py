"""Which internet addresses anybody may be sent to."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowen.core.safety.addresses import is_public, parse_address

PUBLIC = ["93.184.216.34", "8.8.8.8", "2606:4700::6810:84e5", "2a00:1450:4001::1"]
NOT_PUBLIC_V4 = [
    "0.0.0.0",
    "0.1.2.3",
    "10.1.2.3",
    "100.64.0.1",
    "100.127.255.255",
    "127.0.0.1",
    "127.255.0.1",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.8",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.1.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "239.255.255.250",
    "240.0.0.1",
    "255.255.255.255",
]
NOT_PUBLIC_V6 = [
    "::",
    "::1",
    "::7f00:1",
    "fe80::1",
    "fe80::1%eth0",
    "fec0::1",
    "fc00::1",
    "fd12:3456::1",
    "ff02::1",
    "100::1",
    "2001:db8::1",
    "2001::1",
    "3fff::1",
    "64:ff9b:1::808:808",
]


@pytest.mark.parametrize("text", PUBLIC)
def test_servers_on_the_open_internet_are_public(text: str) -> None:
    assert is_public(parse_address(text))


@pytest.mark.parametrize("text", NOT_PUBLIC_V4 + NOT_PUBLIC_V6)
def test_private_local_and_reserved_addresses_are_not(text: str) -> None:
    assert not is_public(parse_address(text))


def _wrappings(address: IPv4Address) -> list[str]:
    number = int(address)
    high, low = number >> 16, number & 0xFFFF
    return [
        f"::ffff:{address}",
        f"64:ff9b::{high:x}:{low:x}",
        f"2002:{high:x}:{low:x}::1",
        f"::{high:x}:{low:x}",
        f"2001:0:{high:x}:{low:x}::{high ^ 0xFFFF:x}:{low ^ 0xFFFF:x}",
    ]


@pytest.mark.parametrize("text", NOT_PUBLIC_V4)
def test_no_ipv6_wrapping_makes_an_ipv4_address_public(text: str) -> None:
    for wrapped in _wrappings(IPv4Address(text)):
        assert not is_public(parse_address(wrapped)), wrapped
        assert not is_public(IPv6Address(wrapped)), wrapped


def test_a_public_ipv4_address_stays_public_behind_a_translator() -> None:
    mapped, nat64, six_to_four, *_ = _wrappings(IPv4Address("8.8.8.8"))
    assert all(is_public(parse_address(text)) for text in (mapped, nat64, six_to_four))


@given(st.ip_addresses())
def test_public_is_never_wider_than_the_standard_library_says(
    address: IPv4Address | IPv6Address,
) -> None:
    unwrapped = isinstance(address, IPv6Address) and (
        address.ipv4_mapped or address.sixtofour or address in _NAT64
    )
    if is_public(address) and not unwrapped:
        assert address.is_global
        assert not address.is_multicast


class _Nat64:
    def __contains__(self, address: IPv6Address) -> bool:
        return str(address).startswith("64:ff9b::")


_NAT64 = _Nat64()
