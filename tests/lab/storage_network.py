"""A bookie that brokers reach through a network: in, what starts a cluster's processes; out, the bookie, and the network that can slow it down.

Brokers take a bookie's address from what it registers in ZooKeeper, so that is where the network's port is written instead.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator

from tests.lab.network import Network, running_network
from tests.lab.processes import free_port
from tests.lab.services import StartedProcess, Starter, ZooKeeper, running_bookie

_HOST = "127.0.0.1"
_REGISTER_S = 20
#: From here to 2**21 a port has three bytes in the registration, so that one can replace another.
_LEAST_PORT = 2**14


@contextlib.contextmanager
def running_bookie_behind_network(
    starter: Starter, zookeeper: ZooKeeper, max_lifetime_s: float, priority: int = 0
) -> Iterator[tuple[StartedProcess, Network]]:
    """Run a bookie and its network for the length of the context."""
    ports = iter(free_port, None)
    own, through = (next(port for port in ports if port >= _LEAST_PORT) for _ in range(2))
    network = running_network(
        _HOST,
        own,
        starter.scratch_dir,
        max_lifetime_s=max_lifetime_s,
        priority=priority,
        own_port=through,
    )
    with network as running, running_bookie(starter, zookeeper, own) as bookie:
        _register(zookeeper, own, through)
        yield bookie, running


def _register(zookeeper: ZooKeeper, own: int, through: int) -> None:
    """Replace a bookie's port in its registration."""
    # Clusters without such a network do without the package.
    from kazoo.client import KazooClient

    path, deadline = f"/ledgers/available/{_HOST}:{own}", time.monotonic() + _REGISTER_S
    client = KazooClient(f"{_HOST}:{zookeeper.port}")
    client.start()
    try:
        while not client.exists(path):
            if time.monotonic() > deadline:
                raise RuntimeError(f"no bookie has registered at {path} after {_REGISTER_S} s")
            time.sleep(0.2)
        body, _ = client.get(path)
        before, after = _varint(own), _varint(through)
        if body.count(before) != 1:
            raise RuntimeError(f"{path}: port {own} is {body.count(before)} times in {body!r}, not once")
        client.set(path, body.replace(before, after))
    finally:
        client.stop()
        client.close()


def _varint(number: int) -> bytes:
    """A number as Protocol Buffers write it."""
    out = []
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])
