"""Which addresses a webhook may have: public ones alone. Pure."""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

NOT_PUBLIC_V4 = tuple(
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # behind a provider's NAT
        "127.0.0.0/8",  # this machine
        "169.254.0.0/16",  # link-local, and the metadata of clouds
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # protocol assignments
        "192.0.2.0/24",  # documentation
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",  # private
        "198.18.0.0/15",  # benchmarks of networks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, and broadcast
    )
)
# Outside of it lie loopback, link-local, unique local, multicast, and IPv4 mapped or behind NAT64.
GLOBAL_V6 = IPv6Network("2000::/3")
NOT_PUBLIC_V6 = tuple(
    IPv6Network(network)
    for network in (
        "2001::/23",  # protocol assignments, Teredo with IPv4 inside among them
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4, with IPv4 inside
        "3fff::/20",  # documentation
    )
)


def is_public(address: str) -> bool:
    """Whether an address, as it is written, belongs to a machine on the internet; a name or nonsense does not."""
    try:
        found = ip_address(address)
    except ValueError:
        return False
    return _is_public_v4(found) if isinstance(found, IPv4Address) else _is_public_v6(found)


def _is_public_v4(address: IPv4Address) -> bool:
    return not any(address in network for network in NOT_PUBLIC_V4)


def _is_public_v6(address: IPv6Address) -> bool:
    plain = IPv6Address(int(address))  # without a zone such as %eth0
    return address.scope_id is None and plain in GLOBAL_V6 and not any(plain in network for network in NOT_PUBLIC_V6)
