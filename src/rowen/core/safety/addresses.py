"""Which internet addresses a fetch may go to.

A pure rule about one address. The code that opens the connection resolves names, and makes the exceptions
for what the operator typed. IPv6 is an allow-list (global unicast, less its special parts): new ranges are
refused until they are added here.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

Address = IPv4Address | IPv6Address

_SHARED_V4 = IPv4Network("100.64.0.0/10")
_RELAYS_V4 = IPv4Network("192.88.99.0/24")
_PROTOCOLS_V4 = IPv4Network("192.0.0.0/24")
_INSIDE_A_CLOUD = IPv4Address("168.63.129.16")
"""Looks public, and is what a virtual machine at Azure gets its secrets from."""
_UNICAST_V6 = IPv6Network("2000::/3")
_NAT64 = IPv6Network("64:ff9b::/96")
_SPECIAL_V6 = (
    IPv6Network("2001::/23"),  # Teredo, benchmarks, cryptographic hashes: no host of documents
    IPv6Network("2001:db8::/32"),  # documentation
    IPv6Network("3fff::/20"),  # documentation
)


def parse_address(text: str) -> Address:
    """An address as the socket layer spells it; IPv4 written as IPv6 becomes IPv4."""
    address = ip_address(text.partition("%")[0])
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return address


def is_public(address: Address) -> bool:
    """Could this be a server on the open internet? Wrapped IPv4 addresses are judged by what they wrap."""
    if isinstance(address, IPv4Address):
        return (
            not address.is_private
            and not address.is_multicast
            and not address.is_reserved
            and not address.is_loopback
            and not address.is_link_local
            and not address.is_unspecified
            and address not in _SHARED_V4
            and address not in _RELAYS_V4
            and address not in _PROTOCOLS_V4
            and address != _INSIDE_A_CLOUD
        )
    if address.ipv4_mapped is not None:
        return is_public(address.ipv4_mapped)
    if address in _NAT64:
        return is_public(IPv4Address(int(address) & 0xFFFFFFFF))
    if address.sixtofour is not None:
        return is_public(address.sixtofour)
    return address in _UNICAST_V6 and not any(address in network for network in _SPECIAL_V6)
