"""A network before a server: in, the address of a broker or a bookie; out, an address that forwards to it with a delay and a bound on bandwidth.

A process of its own, so that its timing does not depend on the lab's other threads. Commands are lines of JSON on standard input:
``{"delay_ms": 0, "bytes_per_s": null}``. The delay is added in each direction; the bound is on what flows to the broker, over all
connections together.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.lab.processes import free_port, running_process, wait_until_ready

REPOSITORY = Path(__file__).resolve().parents[2]
_CHUNK_BYTES = 16_384
#: What may be on its way in one direction of one connection before the sender has to wait.
_WINDOW_CHUNKS = 256


@dataclass
class Network:
    """The driver's end of a running network."""

    service_url: str
    pid: int
    _process: subprocess.Popen[bytes] = field(repr=False)

    def shape(self, delay_ms: float = 0, bytes_per_s: float | None = None) -> None:
        """Change delay and bandwidth for everything that arrives from now on."""
        line = json.dumps({"delay_ms": delay_ms, "bytes_per_s": bytes_per_s}) + "\n"
        assert self._process.stdin is not None
        self._process.stdin.write(line.encode())
        self._process.stdin.flush()


@contextlib.contextmanager
def running_network(
    host: str,
    port: int,
    scratch_dir: Path,
    *,
    max_lifetime_s: float,
    priority: int = 0,
    own_port: int | None = None,
) -> Iterator[Network]:
    """Run a network to ``host:port`` for the length of the context; it forwards at full speed until it is shaped."""
    own_port, log_file = own_port or free_port(host), scratch_dir / "network.log"
    command = [sys.executable, "-m", "tests.lab.network", host, str(own_port), host, str(port)]
    with running_process(
        command,
        log_file,
        max_lifetime_s=max_lifetime_s,
        priority=priority,
        cwd=REPOSITORY,
        pipes=True,
        stop_timeout_s=5,
    ) as process:
        assert process.stdout is not None
        wait_until_ready(process, lambda: _says_ready(process), "network", log_file, 30)
        yield Network(f"pulsar://{host}:{own_port}", process.pid, process)


def _says_ready(process: subprocess.Popen[bytes]) -> bool:
    assert process.stdout is not None
    return process.stdout.readline().strip() == b"ready"


class Link:
    """Delay and bandwidth that all connections share."""

    def __init__(self) -> None:
        self.delay_s, self.bytes_per_s = 0.0, None
        self._free_at = 0.0

    def shape(self, delay_ms: float, bytes_per_s: float | None) -> None:
        """Change what later data meets."""
        self.delay_s, self.bytes_per_s = delay_ms / 1000, bytes_per_s
        self._free_at = 0.0

    def arrives_at(self, size: int, *, bounded: bool) -> float:
        """When data that is sent now has arrived, by the monotonic clock."""
        now = time.monotonic()
        if not bounded or not self.bytes_per_s:
            return now + self.delay_s
        self._free_at = max(now, self._free_at) + size / self.bytes_per_s
        return self._free_at + self.delay_s


async def _forward(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, link: Link, *, bounded: bool
) -> None:
    """Copy one direction of a connection."""
    on_its_way: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue(_WINDOW_CHUNKS)

    async def deliver() -> None:
        while True:
            at_s, data = await on_its_way.get()
            if (wait_s := at_s - time.monotonic()) > 0:
                await asyncio.sleep(wait_s)
            if not data:
                return
            writer.write(data)
            await writer.drain()

    delivery = asyncio.create_task(deliver())
    try:
        while not delivery.done():
            data = await reader.read(_CHUNK_BYTES)
            arrives_at = link.arrives_at(len(data), bounded=bounded)
            await on_its_way.put((arrives_at, data))
            if not data:
                break
            if bounded and link.bytes_per_s and (wait_s := arrives_at - link.delay_s - time.monotonic()) > 0:
                # The line is busy for so long: what is sent meanwhile waits at the sender.
                await asyncio.sleep(wait_s)
        await delivery
    except (ConnectionError, OSError):
        pass
    finally:
        delivery.cancel()
        writer.close()


async def _serve(host: str, port: int, target_host: str, target_port: int) -> None:
    link = Link()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            far_reader, far_writer = await asyncio.open_connection(target_host, target_port)
        except OSError:
            # The broker is away, and so is this connection.
            writer.close()
            return
        await asyncio.gather(
            _forward(reader, far_writer, link, bounded=True),
            _forward(far_reader, writer, link, bounded=False),
        )

    server = await asyncio.start_server(connected, host, port)
    commands = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(commands), sys.stdin)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    async with server:
        while line := await commands.readline():
            link.shape(**json.loads(line))


if __name__ == "__main__":
    asyncio.run(_serve(sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4])))
