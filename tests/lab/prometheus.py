"""A real Prometheus 3.5: in, options and scrape targets; out, a server on a free loopback port and its address.

``write_series`` puts samples, staleness markers included, into such a server through its remote-write endpoint.
"""

from __future__ import annotations

import contextlib
import math
import os
import signal
import struct
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import requests
import yaml

from tests.lab.parts import prometheus_binary
from tests.lab.processes import free_port, running_process, wait_until_ready
from tests.lab.wire import length_delimited, varint

STALE_BITS = 0x7FF0000000000002
NAN_BITS = 0x7FF8000000000001
_SAMPLES_PER_REQUEST = 100_000
#: Prometheus' own default: a broker that hangs for longer has missed the scrape.
_SCRAPE_TIMEOUT_S = 10


class Stale:
    """The type of :data:`STALE`."""

    def __repr__(self) -> str:
        return "STALE"


#: Use in place of a value: writes Prometheus' staleness marker. An object, because the marker is a signalling NaN
#: whose bits do not survive every float operation.
STALE = Stale()

Value = float | Stale
Samples = Sequence[tuple[int, Value]]


@dataclass(frozen=True)
class Prometheus:
    """A running server."""

    url: str
    port: int
    pid: int
    data_dir: Path
    config_file: Path
    log_file: Path

    def pause(self) -> None:
        """Miss all scrapes until :meth:`resume`; no staleness markers are written for them."""
        os.kill(self.pid, signal.SIGSTOP)

    def resume(self) -> None:
        """Go on after :meth:`pause`."""
        os.kill(self.pid, signal.SIGCONT)

    def query(self, promql: str, time_s: float | None = None) -> list[dict[str, Any]]:
        """Return the result list of an instant query."""
        params: dict[str, Any] = {"query": promql}
        if time_s is not None:
            params["time"] = f"{time_s:.3f}"
        answer = requests.post(f"{self.url}/api/v1/query", data=params, timeout=60)
        answer.raise_for_status()
        return answer.json()["data"]["result"]


@contextlib.contextmanager
def running_prometheus(
    scrape_configs: Sequence[Mapping[str, Any]] = (),
    *,
    scratch_dir: Path | None = None,
    port: int | None = None,
    scrape_interval_s: float = 15,
    retention: str = "100y",
    out_of_order_window: str | None = "100y",
    lookback: str | None = None,
    remote_write: bool = True,
    rule_files: Sequence[Path] = (),
    extra_flags: Sequence[str] = (),
    startup_timeout_s: float = 60,
    max_lifetime_s: float = 3600,
    priority: int = 0,
) -> Iterator[Prometheus]:
    """Run a Prometheus server for the length of the context.

    Parameters
    ----------
    scrape_configs
        Entries of ``scrape_configs``, as in Prometheus' own configuration file;
        :class:`tests.lab.targets.ScrapeTargets` makes one whose targets can change.
    scratch_dir
        Folder for configuration, log and data; kept. Without it a temporary folder that is removed at the end.
    port
        Loopback port; a free one by default.
    scrape_interval_s
        Global interval; an entry of ``scrape_configs`` may override it. A scrape may take this long, 10 s at most.
    retention, out_of_order_window, lookback
        In Prometheus' duration words. The defaults accept data of any age in any order; ``lookback=None`` keeps the
        server's five minutes, ``out_of_order_window=None`` refuses samples out of order.
    remote_write
        Whether the remote-write receiver is on. Remote read (``/api/v1/read``) always is.
    rule_files
        Files of rules that it loads and evaluates.
    extra_flags
        More command-line flags.
    startup_timeout_s, max_lifetime_s
        Bounds of the wait for ``/-/ready`` and of the server's life.
    priority
        Niceness; 0 keeps the caller's.
    """
    binary = prometheus_binary()
    with contextlib.ExitStack() as stack:
        if scratch_dir is None:
            scratch_dir = Path(
                stack.enter_context(tempfile.TemporaryDirectory(prefix="throttlescope-prometheus-"))
            )
        scratch_dir.mkdir(parents=True, exist_ok=True)
        port = port or free_port()
        interval = f"{round(scrape_interval_s * 1000)}ms"
        timeout = f"{round(min(scrape_interval_s, _SCRAPE_TIMEOUT_S) * 1000)}ms"
        config: dict[str, Any] = {
            "global": {"scrape_interval": interval, "scrape_timeout": timeout},
            "scrape_configs": [dict(entry) for entry in scrape_configs],
            "rule_files": [str(path.resolve()) for path in rule_files],
        }
        if out_of_order_window:
            config["storage"] = {"tsdb": {"out_of_order_time_window": out_of_order_window}}
        config_file, log_file, data_dir = (
            scratch_dir / n for n in ("prometheus.yml", "prometheus.log", "data")
        )
        config_file.write_text(yaml.safe_dump(config, sort_keys=False))
        command = [
            str(binary),
            f"--config.file={config_file}",
            f"--storage.tsdb.path={data_dir}",
            f"--storage.tsdb.retention.time={retention}",
            f"--web.listen-address=127.0.0.1:{port}",
            "--query.max-samples=500000000",
            "--log.level=warn",
        ]
        if remote_write:
            command.append("--web.enable-remote-write-receiver")
        if lookback:
            command.append(f"--query.lookback-delta={lookback}")
        command.extend(extra_flags)
        process = stack.enter_context(
            running_process(command, log_file, max_lifetime_s=max_lifetime_s, priority=priority)
        )
        server = Prometheus(f"http://127.0.0.1:{port}", port, process.pid, data_dir, config_file, log_file)
        wait_until_ready(
            process, lambda: _ready(server.url), "prometheus", log_file, startup_timeout_s, poll_s=0.05
        )
        yield server


def write_series(url: str, series: Iterable[tuple[Mapping[str, str], Samples]], timeout_s: float = 60) -> int:
    """Write samples through the remote-write endpoint and return their number.

    Parameters
    ----------
    url
        Address of the server, without path.
    series
        Pairs of labels (with ``__name__``) and samples, each a pair of epoch milliseconds and a value. :data:`STALE`
        as value writes a staleness marker, a NaN the ordinary NaN.
    timeout_s
        Per request.
    """
    return write_arrays(url, (_as_arrays(labels, samples) for labels, samples in series), timeout_s)


def write_arrays(
    url: str, series: Iterable[tuple[Mapping[str, str], np.ndarray, np.ndarray]], timeout_s: float = 60
) -> int:
    """Write samples given as arrays: labels, int64 milliseconds, and values as float64 or as uint64 bit patterns."""
    body, pending, written = bytearray(), 0, 0
    with requests.Session() as session:
        for labels, timestamps_ms, values in series:
            for start in range(0, len(timestamps_ms), _SAMPLES_PER_REQUEST):
                part = slice(start, start + _SAMPLES_PER_REQUEST)
                body += _time_series(labels, timestamps_ms[part], values[part])
                pending += len(timestamps_ms[part])
                if pending >= _SAMPLES_PER_REQUEST:
                    _post(session, url, bytes(body), timeout_s)
                    written, pending, body = written + pending, 0, bytearray()
        if pending:
            _post(session, url, bytes(body), timeout_s)
    return written + pending


def write_recording(url: str, folder: Path) -> int:
    """Write all samples of a recording, staleness markers included."""
    rows = pq.read_table(folder / "samples.parquet").to_pylist()
    return write_arrays(url, ((dict(row["labels"]), *_of_row(row)) for row in rows))


def _of_row(row: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    values = np.array(row["values"], np.float64)
    bits = np.where(np.isnan(values), np.uint64(NAN_BITS), values.view(np.uint64))
    times = np.concatenate([row["timestamps_ms"], row["stale_ms"]]).astype(np.int64)
    bits = np.concatenate([bits, np.full(len(row["stale_ms"]), STALE_BITS, np.uint64)])
    order = np.argsort(times, kind="stable")
    return times[order], bits[order]


def _as_arrays(
    labels: Mapping[str, str], samples: Samples
) -> tuple[Mapping[str, str], np.ndarray, np.ndarray]:
    times = np.fromiter((ms for ms, _ in samples), np.int64, len(samples))
    bits = np.fromiter((_bits(value) for _, value in samples), np.uint64, len(samples))
    return labels, times, bits


def _bits(value: Value) -> int:
    if isinstance(value, Stale):
        return STALE_BITS
    if math.isnan(value):
        return NAN_BITS
    return int.from_bytes(struct.pack("<d", value), "little")


def _time_series(labels: Mapping[str, str], timestamps_ms: np.ndarray, values: np.ndarray) -> bytes:
    if not labels.get("__name__"):
        # The server would drop the series without a word.
        raise ValueError(f"a series needs a __name__, got {dict(labels)}")
    out = bytearray()
    for name in sorted(labels):
        label = length_delimited(1, name.encode()) + length_delimited(2, labels[name].encode())
        out += length_delimited(1, label)
    out += _samples(np.asarray(timestamps_ms, np.int64), np.ascontiguousarray(values).view(np.uint64))
    return length_delimited(1, bytes(out))


def _samples(timestamps_ms: np.ndarray, bits: np.ndarray) -> bytes:
    if len(timestamps_ms) and timestamps_ms.min() >= 1 << 35 and timestamps_ms.max() < 1 << 42:
        # Every time between 1971 and 2109 is a varint of six bytes: one record layout for all samples.
        records = np.zeros((len(timestamps_ms), 18), np.uint8)
        records[:, :3] = (0x12, 16, 0x09)
        records[:, 3:11] = bits.astype("<u8").view(np.uint8).reshape(-1, 8)
        records[:, 11] = 0x10
        for index in range(6):
            more = 0x80 if index < 5 else 0
            records[:, 12 + index] = ((timestamps_ms >> (7 * index)) & 0x7F) | more
        return records.tobytes()
    out = bytearray()
    for time_ms, value in zip(timestamps_ms.tolist(), bits.tolist(), strict=True):
        out += length_delimited(
            2, b"\x09" + value.to_bytes(8, "little") + b"\x10" + varint(time_ms & (1 << 64) - 1)
        )
    return bytes(out)


def _post(session: requests.Session, url: str, body: bytes, timeout_s: float) -> None:
    answer = session.post(
        f"{url}/api/v1/write",
        data=pa.compress(body, codec="snappy", asbytes=True),
        headers={
            "Content-Encoding": "snappy",
            "Content-Type": "application/x-protobuf",
            "X-Prometheus-Remote-Write-Version": "0.1.0",
        },
        timeout=timeout_s,
    )
    if answer.status_code >= 300:
        raise RuntimeError(f"remote write refused ({answer.status_code}): {answer.text.strip()[:500]}")


def _ready(url: str) -> bool:
    try:
        return requests.get(f"{url}/-/ready", timeout=2).status_code == 200
    except requests.RequestException:
        return False
