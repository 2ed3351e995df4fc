"""Messages of remote read that are right. In: nothing. Out: bytes as the real encoders write them, to be mutated."""

from __future__ import annotations

import random
import struct

import google_crc32c

from tests.lab.wire import length_delimited, varint
from tests.naive.xor import encode_chunk

START_MS = 1_760_000_400_000
STALE_BITS = 0x7FF0000000000002
_LABELS = (
    {"__name__": "up", "instance": "1:8080", "job": "broker"},
    {
        "__name__": "pulsar_subscription_back_log",
        "cluster": "c",
        "namespace": "t/n",
        "topic": "persistent://t/n/x-partition-3",
        "subscription": "s",
    },
    {"__name__": "a", "odd": 'quo"te\n\u00fc'},
    {},
)


def bits_of(value: float) -> int:
    """The bits of a double."""
    return struct.unpack("<Q", struct.pack("<d", value))[0]


def samples_of(rng: random.Random, count: int) -> list[tuple[int, int]]:
    """Times and value bits as scrapes give them: regular with some jitter, counters, constants, noise, markers."""
    kind = rng.randrange(4)
    time, value = START_MS + rng.randrange(1_000), rng.choice((0.0, 1.0, 1e9))
    samples = []
    for _ in range(count):
        if kind == 1:
            value += rng.randrange(90)
        elif kind == 2:
            value = rng.gauss(0, 1)
        elif kind == 3:
            value = rng.choice((0.0, -0.0, float("inf"), float("nan"), 5e-324, -1.0))
        bits = STALE_BITS if rng.random() < 0.1 else bits_of(value)
        samples.append((time, bits))
        time += rng.choice((15_000, 15_000, 15_000, 15_001, 14_500, 60_000, 9_000_000, 2**40, -3))
    return samples


def chunks() -> list[bytes]:
    """Some chunks, of none, one, two and more samples."""
    rng = random.Random(7)  # noqa: S311
    return [encode_chunk(samples_of(rng, count)) for count in (0, 1, 2, 2, 3, 5, 8, 8, 12, 20)]


def label_fields(labels: dict[str, str]) -> bytes:
    """The run of label fields of a series."""
    return b"".join(
        length_delimited(1, length_delimited(1, name.encode()) + length_delimited(2, value.encode()))
        for name, value in sorted(labels.items())
    )


def chunked_message(series: list[tuple[dict[str, str], list[bytes]]], kind: int = 1) -> bytes:
    """A ``ChunkedReadResponse``."""
    return b"".join(
        length_delimited(
            1,
            label_fields(labels)
            + b"".join(
                length_delimited(2, b"\x08\x01\x10\x02\x18" + varint(kind) + length_delimited(4, one))
                for one in some
            ),
        )
        for labels, some in series
    )


def chunked_messages() -> list[bytes]:
    """Some messages of a streamed answer."""
    some = chunks()
    return [
        chunked_message([(_LABELS[0], some[2:4])]),
        chunked_message([(_LABELS[1], some[4:5]), (_LABELS[2], some[5:6])]) + b"\x10\x00",
        chunked_message([(_LABELS[3], []), (_LABELS[0], some[:2]), (_LABELS[0], some[6:7])]),
        b"",
    ]


def plain_messages() -> list[bytes]:
    """Some plain answers (``ReadResponse``)."""
    rng = random.Random(8)  # noqa: S311

    def series(labels: dict[str, str], count: int) -> bytes:
        body = label_fields(labels)
        for time, bits in samples_of(rng, count):
            body += length_delimited(2, b"\x09" + struct.pack("<Q", bits) + b"\x10" + varint(time))
        return length_delimited(1, body)

    return [
        length_delimited(1, series(_LABELS[0], 3)),
        length_delimited(1, series(_LABELS[1], 2) + series(_LABELS[3], 0) + series(_LABELS[2], 1)),
        length_delimited(1, b"") + length_delimited(1, series(_LABELS[0], 5)),
        b"",
    ]


def frame(message: bytes) -> bytes:
    """A message in its frame."""
    return varint(len(message)) + struct.pack(">I", google_crc32c.value(message)) + message
