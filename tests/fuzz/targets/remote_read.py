"""Remote read: frames of a stream, XOR chunks, protobuf messages, snappy blocks.

Each is held against a twin: Google's protobuf reader, the naive chunks, the naive snappy.
"""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa

from tests.fuzz.mutate import mutated_bytes
from tests.fuzz.target import BYTE_PARSER_EXECUTIONS, Target, UnlikeTwinError
from tests.fuzz.targets import messages
from tests.fuzz.targets.answers import RawAnswer, RawSession
from tests.naive import remote_read as naive
from tests.naive.snappy import unpacked
from tests.naive.xor import decode_chunk
from throttlescope.ingest.core.errors import SourceError
from throttlescope.ingest.core.selector import metric_selector
from throttlescope.ingest.core.series import STALE_BITS, Meter
from throttlescope.ingest.sources import xor
from throttlescope.ingest.sources.remote_read import RemoteRead, load_decoder

STREAMED = "application/x-streamed-protobuf; proto=prometheus.ChunkedReadResponse"
PLAIN = "application/x-protobuf"
LOW_MS, HIGH_MS = messages.START_MS, messages.START_MS + 3_600_000
_CHUNKS, _CHUNKED, _PLAIN = messages.chunks(), messages.chunked_messages(), messages.plain_messages()
_UP = metric_selector("up")


def read(body: bytes, kind: str) -> list[naive.Series]:
    """What our reader makes of an answer: series in their order, as the twins give them."""
    source = RemoteRead("http://fuzz:9090")
    source._session = RawSession(RawAnswer(body, kind))
    found = []
    for batch in source.read(_UP, LOW_MS, HIGH_MS, Meter()):
        for one in batch:
            labels = tuple(
                (name.encode(errors="surrogateescape"), value.encode(errors="surrogateescape"))
                for name, value in one.labels
            )
            bits = np.asarray(one.values, np.float64).view(np.uint64).tolist()
            samples = list(zip(one.timestamps_ms.tolist(), bits, strict=True))
            found.append((tuple(sorted(labels)), samples, one.stale_ms.tolist()))
    return found


def _compare(ours: list, twin: list[naive.Series]) -> None:
    expected = []
    for labels, samples in twin:
        inside = [(time, bits) for time, bits in samples if LOW_MS <= time < HIGH_MS]
        values = [one for one in inside if one[1] != STALE_BITS]
        expected.append((labels, values, [time for time, bits in inside if bits == STALE_BITS]))
    if ours != expected:
        raise UnlikeTwinError(f"ours {str(ours)[:400]}, twin {str(expected)[:400]}")


# -- frames ----------------------------------------------------------------------------------


def _stream(rng: random.Random) -> bytes:
    kind = rng.random()
    if kind < 0.2:
        whole = b"".join(map(messages.frame, rng.choices(_CHUNKED, k=rng.randrange(1, 4))))
        return mutated_bytes(rng, [whole])
    if kind < 0.4:
        chunk = mutated_bytes(rng, _CHUNKS)
        return messages.frame(messages.chunked_message([({"__name__": "up"}, [chunk])]))
    # A right checksum, so that what lies behind it is reached.
    return b"".join(messages.frame(mutated_bytes(rng, _CHUNKED)) for _ in range(rng.choice((1, 1, 2))))


def _read_stream(body: bytes) -> None:
    ours = read(body, STREAMED)
    try:
        twin = [series for message in naive.messages_of(body) for series in naive.chunked_series(message)]
    except ValueError:
        # Protobuf has rules that we need not keep: no field 0, tags of 32 bits, whole groups.
        return
    _compare(ours, twin)


# -- chunks ----------------------------------------------------------------------------------


def decoded(chunk: bytes, low_ms: int = -(2**63), high_ms: int = 2**63 - 1) -> list[tuple[int, int]] | None:
    """Our decoder on one chunk: times and value bits, markers in their place; None where it is no chunk."""
    buffer = np.zeros(len(chunk) + xor.PADDING, np.uint8)
    buffer[: len(chunk)] = np.frombuffer(chunk, np.uint8)
    at, sizes, owners = (np.array([value], np.int64) for value in (0, len(chunk), 0))
    bound = xor.count_samples(buffer, at, sizes)
    times, bits, stale = np.empty(bound, np.int64), np.empty(bound, np.uint64), np.empty(bound, np.int64)
    offsets, stale_offsets = np.empty(2, np.int64), np.empty(2, np.int64)
    status, _ = xor.decode(
        buffer, at, sizes, owners, low_ms, high_ms, times, bits, offsets, stale, stale_offsets
    )
    if status != xor.OK:
        return None
    return sorted(
        [*zip(times[: offsets[1]].tolist(), bits[: offsets[1]].tolist(), strict=True)]
        + [(time, STALE_BITS) for time in stale[: stale_offsets[1]].tolist()]
    )


def _read_chunk(chunk: bytes) -> None:
    ours = decoded(chunk)
    try:
        twin = sorted(one for one in decode_chunk(chunk) if one[0] < 2**63 - 1)
    except ValueError:
        twin = None
    if ours != twin:
        raise UnlikeTwinError(f"ours {str(ours)[:300]}, twin {str(twin)[:300]}")
    if ours is None:
        raise RefusedChunkError("no chunk")


class RefusedChunkError(ValueError):
    """Both say that it is no chunk."""


# -- plain answers -----------------------------------------------------------------------------


def _packed(rng: random.Random) -> bytes:
    return pa.compress(mutated_bytes(rng, _PLAIN), codec="snappy", asbytes=True)


def _read_message(block: bytes) -> None:
    ours = read(block, PLAIN)
    try:
        twin = naive.plain_series(unpacked(block))
    except ValueError:
        return
    _compare(ours, twin)


_BLOCKS = [
    pa.compress(content, codec="snappy", asbytes=True)
    for content in (*_PLAIN, b"a" * 300, bytes(range(256)) * 3, b"ab" * 40 + bytes(70))
]


def _read_block(block: bytes) -> None:
    """What is in it is of no interest here: whether it is one is asked of the twin."""
    try:
        content = unpacked(block)
    except ValueError:
        content = None
    try:
        read(block, PLAIN)
    except SourceError as error:
        taken = "damaged stream" in str(error)
        if taken != (content is not None):
            raise UnlikeTwinError(f"{error}; twin {content!r:.200}") from error
        raise
    if content is None:
        raise UnlikeTwinError("ours takes it, the twin does not")


TARGETS = (
    Target(
        "frames",
        "a streamed answer of remote read",
        _stream,
        _read_stream,
        (SourceError,),
        BYTE_PARSER_EXECUTIONS,
        from_bytes=messages.frame,
        seeds=_CHUNKED,
        warm=load_decoder,
    ),
    Target(
        "chunks",
        "XOR chunks",
        lambda rng: mutated_bytes(rng, _CHUNKS, most=600),
        _read_chunk,
        (RefusedChunkError,),
        BYTE_PARSER_EXECUTIONS,
        from_bytes=bytes,
        seeds=_CHUNKS,
        warm=load_decoder,
    ),
    Target(
        "messages",
        "a plain answer of remote read",
        _packed,
        _read_message,
        (SourceError,),
        BYTE_PARSER_EXECUTIONS,
        from_bytes=lambda content: pa.compress(content, codec="snappy", asbytes=True),
        seeds=_PLAIN,
    ),
    Target(
        "snappy",
        "snappy blocks",
        lambda rng: mutated_bytes(rng, _BLOCKS),
        _read_block,
        (SourceError,),
        BYTE_PARSER_EXECUTIONS,
        from_bytes=bytes,
        seeds=_BLOCKS,
    ),
)
