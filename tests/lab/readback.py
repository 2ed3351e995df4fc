"""Reads samples back out of Prometheus: in, matchers and a range; out, series with staleness markers kept apart.

Remote read with the plain SAMPLES answer, decoded by hand: slow and simple, and independent of the reader that the
product uses.
"""

from __future__ import annotations

import re
import struct
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import pyarrow as pa
import requests

from tests.lab.prometheus import STALE_BITS
from tests.lab.wire import fields, length_delimited, read_varint, varint
from throttlescope.ingest.core.metrics import METRICS

EQUAL, REGEX = 0, 2
Matcher = tuple[int, str, str]


@dataclass
class Series:
    """One series: ordinary samples and the times of its staleness markers."""

    labels: dict[str, str]
    timestamps_ms: list[int] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    stale_ms: list[int] = field(default_factory=list)


def read_series(
    url: str, matchers: list[Matcher], start_ms: int, end_ms: int, timeout_s: float = 300
) -> Iterator[Series]:
    """Yield every series that fits the matchers, with its samples in ``[start_ms, end_ms)``."""
    query = b"\x08" + varint(start_ms) + b"\x10" + varint(end_ms - 1)
    for kind, name, value in matchers:
        query += length_delimited(
            3,
            b"\x08" + varint(kind) + length_delimited(2, name.encode()) + length_delimited(3, value.encode()),
        )
    answer = requests.post(
        f"{url}/api/v1/read",
        data=pa.compress(length_delimited(1, query), codec="snappy", asbytes=True),
        headers={
            "Content-Encoding": "snappy",
            "Content-Type": "application/x-protobuf",
            "X-Prometheus-Remote-Read-Version": "0.1.0",
        },
        timeout=timeout_s,
    )
    answer.raise_for_status()
    size, _ = read_varint(answer.content, 0)
    body = (
        pa.decompress(answer.content, decompressed_size=size, codec="snappy", asbytes=True) if size else b""
    )
    for _, result in fields(body):
        for _, series in fields(result):
            yield _decode_series(series)


def read_metrics(url: str, start_ms: int, end_ms: int, *more: str) -> Iterator[Series]:
    """Yield every series of a metric that a pull takes, and of those whose names match ``more``, once the last scrape is in."""
    names = "|".join([*(re.escape(name) for name in METRICS), *more])
    time.sleep(1)
    return read_series(url, [(REGEX, "__name__", names)], start_ms, end_ms)


def without_sums(series: Series) -> bool:
    """Not a sum over a namespace: a recording of the same brokers without topic metrics would have those."""
    return "topic" in series.labels or "namespace" not in series.labels


def _decode_series(body: bytes) -> Series:
    series = Series({})
    for number, payload in fields(body):
        if number == 1:
            parts = dict(fields(payload))
            series.labels[parts[1].decode()] = parts.get(2, b"").decode()
        elif number == 2:
            bits, time_ms = _decode_sample(payload)
            if bits == STALE_BITS:
                series.stale_ms.append(time_ms)
            else:
                series.timestamps_ms.append(time_ms)
                series.values.append(struct.unpack("<d", bits.to_bytes(8, "little"))[0])
    return series


def _decode_sample(body: bytes) -> tuple[int, int]:
    # A value of 0.0 or a time of 0 is left out of the message.
    bits = time_ms = position = 0
    while position < len(body):
        tag, position = read_varint(body, position)
        if tag == 0x09:
            bits = int.from_bytes(body[position : position + 8], "little")
            position += 8
        elif tag == 0x10:
            time_ms, position = read_varint(body, position)
        else:
            raise ValueError(f"unexpected field {tag >> 3} in a sample")
    return bits, time_ms
