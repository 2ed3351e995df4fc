"""Loopback addresses of a cluster's brokers: in, how many; out, addresses of 127/8 that no other process here uses meanwhile."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator, Sequence

#: Pulsar's own ports: an address of its own for each broker lets all of them have these.
BROKER_PORT, WEB_PORT = 6650, 8080
#: Bound, never listened on, while a cluster uses an address: two clusters that start at once find different ones.
_CLAIM_PORT = 6649
_BLOCKS = 50


@contextlib.contextmanager
def claimed_hosts(count: int, hosts: Sequence[str] | None = None) -> Iterator[tuple[str, ...]]:
    """Reserve one address per broker for the length of the context.

    Parameters
    ----------
    count
        Number of brokers; the first goes to 127.0.0.2, unless another cluster is there: then to 127.0.1.2 and so on.
    hosts
        These addresses and no others.
    """
    blocks = [tuple(hosts)] if hosts else [_block(number, count) for number in range(_BLOCKS)]
    for block in blocks:
        with contextlib.ExitStack() as claims:
            try:
                for host in block:
                    claims.enter_context(_claim(host))
            except OSError:
                continue
            yield block
            return
    tried = ", ".join(blocks[0]) if hosts else f"127.0.0.2 to 127.0.{_BLOCKS - 1}.{count + 1}"
    raise RuntimeError(f"ports {BROKER_PORT} and {WEB_PORT} are not free on {tried}")


def _block(number: int, count: int) -> tuple[str, ...]:
    return tuple(f"127.0.{number}.{2 + index}" for index in range(count))


@contextlib.contextmanager
def _claim(host: str) -> Iterator[None]:
    with socket.socket() as claim:
        claim.bind((host, _CLAIM_PORT))
        for port in (BROKER_PORT, WEB_PORT):
            with socket.socket() as probe:
                # Connections of an earlier server that still time out are no obstacle; a server is.
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind((host, port))
        yield
