"""What the system says about listening sockets, and that a standalone broker listens on loopback only."""

from __future__ import annotations

import ipaddress
import os
import socket
from urllib.parse import urlparse

import pytest

from tests.lab.broker import running_broker
from tests.lab.listening import listening_addresses
from tests.lab.parts import PartMissing, broker_jars, java_binary


@pytest.mark.parametrize(
    ("family", "bound", "seen"),
    [
        (socket.AF_INET, "127.0.3.4", "127.0.3.4"),
        (socket.AF_INET, "0.0.0.0", "0.0.0.0"),  # noqa: S104 - nobody connects before it closes
        (socket.AF_INET6, "::1", "::1"),
        (socket.AF_INET6, "::ffff:127.0.3.4", "127.0.3.4"),
    ],
)
def test_own_listening_socket_is_found(family: int, bound: str, seen: str) -> None:
    with socket.socket(family) as server:
        try:
            server.bind((bound, 0))
        except OSError as error:
            pytest.skip(f"this system has no {bound}: {error}")
        port = server.getsockname()[1]
        assert (seen, port) not in listening_addresses(os.getpid())
        server.listen()
        assert (seen, port) in listening_addresses(os.getpid())
    assert (seen, port) not in listening_addresses(os.getpid())


@pytest.mark.study
@pytest.mark.broker
@pytest.mark.timeout(300)
def test_standalone_listens_on_loopback(tmp_path) -> None:
    """Its bookie once took a port on all interfaces."""
    try:
        java_binary(), broker_jars()
    except PartMissing as missing:
        pytest.skip(f"no real broker here: {missing}")
    with running_broker(
        "default", scratch_dir=tmp_path, heap_mb=512, direct_mb=768, max_lifetime_s=240
    ) as broker:
        found = listening_addresses(broker.pid)
        assert {urlparse(broker.service_url).port, urlparse(broker.admin_url).port} < {
            port for _, port in found
        }
        assert all(ipaddress.ip_address(host).is_loopback for host, _ in found), found
