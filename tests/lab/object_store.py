"""A real S3 server on loopback. In: a folder. Out: a running server with one bucket, how to reach it, and what it was asked.

The server is S3Proxy on files. Its conditional put makes a hard link, so of two writers of one name exactly one wins, also from two
processes at once; ``tests/storage/`` proves it first.
"""

from __future__ import annotations

import contextlib
import os
import re
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.lab import parts
from tests.lab.processes import free_port, log_tail, running_process

BUCKET = "lakes"
_KEY_ID, _SECRET = "test-key", "test-secret-that-no-log-may-show"
_START_S = 90.0
_LOGBACK = """<configuration>
  <appender name="out" class="ch.qos.logback.core.ConsoleAppender"><encoder><pattern>%d %level %logger %msg%n</pattern></encoder></appender>
  <root level="WARN"><appender-ref ref="out"/></root>
</configuration>
"""
_COUNTER = re.compile(
    r"^http_server_request_duration_seconds_count\{(?P<labels>[^}]*)\} (?P<count>[0-9.e+]+)", re.MULTILINE
)
_OPERATION = re.compile(r's3_operation="([^"]*)"')


@dataclass(frozen=True)
class ObjectStore:
    """A running server.

    Attributes
    ----------
    folder : Path
        Where the bucket's objects lie as files.
    """

    url: str
    metrics_url: str
    folder: Path
    pid: int

    def lake(self, name: str) -> str:
        """The address of a lake in the bucket."""
        return f"s3://{BUCKET}/{name}"

    @property
    def environment(self) -> dict[str, str]:
        """Environment variables that a client needs."""
        return {
            "AWS_ENDPOINT_URL": self.url,
            "AWS_ALLOW_HTTP": "true",
            "AWS_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": _KEY_ID,
            "AWS_SECRET_ACCESS_KEY": _SECRET,
        }

    def requests(self) -> dict[str, int]:
        """Requests so far, by operation."""
        with urllib.request.urlopen(self.metrics_url, timeout=10) as answer:  # noqa: S310
            text = answer.read().decode()
        found: dict[str, int] = {}
        for match in _COUNTER.finditer(text):
            operation = _OPERATION.search(match["labels"])
            name = operation[1] if operation else "other"
            found[name] = found.get(name, 0) + int(float(match["count"]))
        return found


@contextlib.contextmanager
def running_object_store(folder: Path) -> Iterator[ObjectStore]:
    """Start a server whose bucket is in ``folder``, and stop it at the end.

    Raises
    ------
    PartMissing
        The server cannot be had here.
    """
    jars = parts.object_store_jars()
    (folder / "objects" / BUCKET).mkdir(parents=True)
    port, metrics_port = free_port(), free_port()
    (folder / "logback.xml").write_text(_LOGBACK)
    (folder / "server.properties").write_text(
        "\n".join(
            [
                f"s3proxy.endpoint=http://127.0.0.1:{port}",
                "s3proxy.authorization=aws-v2-or-v4",
                f"s3proxy.identity={_KEY_ID}",
                f"s3proxy.credential={_SECRET}",
                "s3proxy.metrics.enabled=true",
                "s3proxy.metrics.host=127.0.0.1",
                f"s3proxy.metrics.port={metrics_port}",
                "jclouds.provider=filesystem-nio2",
                f"jclouds.filesystem.basedir={folder / 'objects'}",
                "jclouds.identity=none",
                "jclouds.credential=none",
                "",
            ]
        )
    )
    command = [
        str(parts.java_binary()), "-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC",
        f"-Dlogback.configurationFile={folder / 'logback.xml'}",
        "-cp", os.pathsep.join(map(str, jars)), "org.gaul.s3proxy.Main", "--properties", str(folder / "server.properties"),
    ]  # fmt: skip
    log = folder / "server.log"
    with running_process(command, log, max_lifetime_s=3600, cwd=folder) as process:
        for one in (port, metrics_port):
            _wait_until_up(process, one, log)
        yield ObjectStore(
            f"http://127.0.0.1:{port}",
            f"http://127.0.0.1:{metrics_port}/metrics",
            folder / "objects" / BUCKET,
            process.pid,
        )


def _wait_until_up(process: subprocess.Popen, port: int, log: Path) -> None:
    end = time.monotonic() + _START_S
    while time.monotonic() < end:
        if process.poll() is not None:
            raise RuntimeError(f"the S3 server ended with {process.returncode}: {log_tail(log)}")
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.1)
    raise RuntimeError(f"the S3 server did not listen within {_START_S:.0f} s: {log_tail(log)}")
