"""Which addresses a process listens on: in, a process id; out, pairs of address and port from the system's own tables."""

from __future__ import annotations

import contextlib
import ipaddress
import os
from pathlib import Path

_LISTEN = "0A"


def listening_addresses(pid: int) -> set[tuple[str, int]]:
    """Return all pairs of IP address and TCP port that a process listens on.

    An IPv4 address that is mapped into IPv6 is given as IPv4; ``0.0.0.0`` and ``::`` mean all interfaces.
    """
    own = _socket_inodes(pid)
    found = set()
    for table in ("tcp", "tcp6"):
        lines = Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]
        for line in lines:
            columns = line.split()
            if columns[3] == _LISTEN and columns[9] in own:
                address, port = columns[1].split(":")
                found.add((_decoded(address), int(port, 16)))
    return found


def _socket_inodes(pid: int) -> set[str]:
    inodes = set()
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        # A descriptor may be closed between the listing and the look.
        with contextlib.suppress(OSError):
            target = os.readlink(entry)
            if target.startswith("socket:["):
                inodes.add(target.removeprefix("socket:[").removesuffix("]"))
    return inodes


def _decoded(address: str) -> str:
    # The kernel prints each group of four bytes as a number in the machine's own byte order.
    words = (bytes.fromhex(address[start : start + 8])[::-1] for start in range(0, len(address), 8))
    decoded = ipaddress.ip_address(b"".join(words))
    mapped = getattr(decoded, "ipv4_mapped", None)
    return str(mapped or decoded)
