"""A webhook may be at public addresses alone, however the others are written."""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduling.notices.addresses import NOT_PUBLIC_V4, NOT_PUBLIC_V6, is_public

INSIDE_V4 = st.sampled_from(NOT_PUBLIC_V4).flatmap(lambda network: st.ip_addresses(network=network))
INSIDE_V6 = st.sampled_from(
    [
        *NOT_PUBLIC_V6,
        *(
            IPv6Network(network)
            for network in ("::/96", "::ffff:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "fc00::/7")
        ),
        *(
            IPv6Network(network)
            for network in ("fe80::/10", "fec0::/10", "ff00::/8", "4000::/2", "8000::/1", "5f00::/16")
        ),
    ]
).flatmap(lambda network: st.ip_addresses(network=network))
# Each of them carries an IPv4 address inside.
DISGUISES = {
    "mapped": lambda v4: int(IPv6Address("::ffff:0:0")) | int(v4),
    "compatible": int,
    "NAT64": lambda v4: int(IPv6Address("64:ff9b::")) | int(v4),
    "local NAT64": lambda v4: int(IPv6Address("64:ff9b:1::")) | int(v4),
    "6to4": lambda v4: int(IPv6Address("2002::")) | int(v4) << 80,
    "Teredo": lambda v4: int(IPv6Address("2001::")) | int(v4) ^ 0xFFFFFFFF,
}


@given(INSIDE_V4)
def test_no_address_of_a_reserved_ipv4_network_is_public(address):
    assert not is_public(str(address))


@given(INSIDE_V6)
def test_no_ipv6_address_outside_of_the_public_range_is_public(address):
    assert not is_public(str(address))


@given(st.ip_addresses(v=4), st.sampled_from(sorted(DISGUISES)))
def test_no_ipv6_address_with_an_ipv4_address_inside_is_public(v4, disguise):
    assert not is_public(str(IPv6Address(DISGUISES[disguise](v4))))


@given(st.ip_addresses())
def test_what_is_public_is_global_and_no_multicast(address):
    if is_public(str(address)):
        assert address.is_global
        kinds = ("is_multicast", "is_private", "is_loopback", "is_link_local", "is_reserved", "is_unspecified")
        assert [kind for kind in kinds if getattr(address, kind)] == []


@given(st.ip_addresses(v=4))
def test_no_more_ipv4_addresses_are_refused_than_the_registry_sets_apart(address):
    set_apart = not address.is_global or address.is_multicast
    if not is_public(str(address)):
        assert set_apart or address in IPv4Network("192.0.0.0/24") or address in IPv4Network("192.88.99.0/24")


@pytest.mark.parametrize("address", ["8.8.8.8", "1.1.1.1", "2606:4700:4700::1111", "2a00:1450:4001::1"])
def test_public_addresses_are_public(address):
    assert is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "169.254.169.254", "100.64.0.1", "255.255.255.255", "0.0.0.0", "::", "::1", "fe80::1%eth0"),
        *(
            "2606:4700::1%1",
            "localhost",
            "example.org",
            "",
            "127.1",
            "2130706433",
            "0x7f000001",
            "017700000001",
            "[::1]",
        ),
    ],
)
def test_everything_else_is_not(address):
    assert not is_public(address)


def test_a_reserved_network_is_refused_as_a_whole():
    for network in (*NOT_PUBLIC_V4, *NOT_PUBLIC_V6):
        for edge in (network.network_address, network.broadcast_address):
            assert isinstance(ip_address(str(edge)), IPv4Address | IPv6Address)
            assert not is_public(str(edge))
