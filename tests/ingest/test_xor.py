"""The compiled XOR decoder against its slow twin: any samples, any trimming, any damage."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.naive.xor import decode_chunk, encode_chunk
from throttlescope.ingest.core.series import STALE_BITS
from throttlescope.ingest.sources import xor


def bits_of(value: float) -> int:
    return int.from_bytes(struct.pack("<d", value), "little")


def decode(chunks: list[bytes], series: list[int], start_ms: int = -(2**62), end_ms: int = 2**62):
    """(times, bits, markers) of each series, by the compiled decoder."""
    content = b"".join(chunks) + bytes(xor.PADDING)
    sizes = np.array([len(c) for c in chunks], np.int64)
    at = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
    buffer = np.frombuffer(content, np.uint8)
    bound = xor.count_samples(buffer, at, sizes)
    times, bits, stale = np.empty(bound, np.int64), np.empty(bound, np.uint64), np.empty(bound, np.int64)
    offsets, stale_offsets = np.empty(max(series) + 2, np.int64), np.empty(max(series) + 2, np.int64)
    status, chunk = xor.decode(
        buffer,
        at,
        sizes,
        np.array(series, np.int64),
        start_ms,
        end_ms,
        times,
        bits,
        offsets,
        stale,
        stale_offsets,
    )
    if status != xor.OK:
        return status, chunk
    return [
        (
            times[offsets[i] : offsets[i + 1]].tolist(),
            bits[offsets[i] : offsets[i + 1]].tolist(),
            stale[stale_offsets[i] : stale_offsets[i + 1]].tolist(),
        )
        for i in range(max(series) + 1)
    ]


def expected(samples: list[tuple[int, int]], start_ms: int = -(2**62), end_ms: int = 2**62):
    inside = [(t, v) for t, v in samples if start_ms <= t < end_ms]
    return (
        [t for t, v in inside if v != STALE_BITS],
        [v for t, v in inside if v != STALE_BITS],
        [t for t, v in inside if v == STALE_BITS],
    )


NAN, ODD_NAN = 0x7FF8000000000001, 0x7FF8000000000ABC
value_bits = st.one_of(
    st.sampled_from(
        [0, STALE_BITS, NAN, ODD_NAN, bits_of(float("inf")), bits_of(-0.0), bits_of(1.0), 2**64 - 1]
    ),
    st.integers(0, 2**64 - 1),
    st.floats(allow_nan=False, width=32).map(bits_of),
    st.integers(-5, 5).map(float).map(bits_of),
)
steps_ms = st.one_of(
    st.just(15_000),
    st.integers(14_990, 15_010),
    st.integers(0, 2**40),
    # Both ends of each width of the delta of delta.
    st.sampled_from([8192 - 1, 8192, 8193, 2**16, 2**16 + 1, 2**19, 2**19 + 1]).map(lambda d: 15_000 + d),
)


@st.composite
def sample_lists(draw, max_size=60):
    time = draw(st.integers(-(2**42), 2**42))
    samples = []
    for _ in range(draw(st.integers(1, max_size))):
        samples.append((time, draw(value_bits)))
        time += draw(steps_ms)
    return samples


@pytest.mark.long
@given(sample_lists())
def test_the_twin_reads_what_it_writes(samples) -> None:
    assert decode_chunk(encode_chunk(samples)) == samples


@pytest.mark.study
@given(st.lists(sample_lists(), min_size=1, max_size=4), st.data())
def test_equals_the_twin(series, data) -> None:
    start_ms = data.draw(st.sampled_from([-(2**62), series[0][0][0], series[0][-1][0], series[-1][0][0] + 1]))
    end_ms = data.draw(st.sampled_from([2**62, series[0][-1][0], series[-1][-1][0] + 1]))
    chunks, owners = [], []
    for number, samples in enumerate(series):
        cut = data.draw(st.integers(1, len(samples)))
        for piece in (samples[:cut], samples[cut:]):
            if piece:
                chunks.append(encode_chunk(piece))
                owners.append(number)
    assert decode(chunks, owners, start_ms, end_ms) == [expected(s, start_ms, end_ms) for s in series]


@pytest.mark.parametrize("width", [14, 17, 20])
@pytest.mark.parametrize("off", [-1, 0, 1])
@pytest.mark.parametrize("sign", [-1, 1])
def test_ends_of_each_width(width: int, off: int, sign: int) -> None:
    base = 10_000_000
    dod = sign * (1 << (width - 1)) + off
    samples = [(0, 0), (base, 1), (2 * base + dod, 2)]
    assert decode([encode_chunk(samples)], [0]) == [expected(samples)]


def test_empty_and_tiny_chunks() -> None:
    assert decode([b"\0\0"], [0]) == [([], [], [])]
    assert decode([b"\0"], [0])[0] == xor.TRUNCATED
    assert decode([b""], [0])[0] == xor.TRUNCATED
    # A series without chunks between two others.
    one = encode_chunk([(1, 2)])
    assert decode([one, one], [0, 2]) == [([1], [2], []), ([], [], []), ([1], [2], [])]


@given(sample_lists(max_size=30), st.data())
@example([(0, 1), (1, 2), (2, 2**64 - 1)], None)
def test_a_chunk_cut_short_is_found(samples, data) -> None:
    whole = encode_chunk(samples)
    sizes = range(2, len(whole)) if data is None else [data.draw(st.integers(0, len(whole) - 1))]
    for size in sizes:
        found = decode([whole[:size], bytes(2)], [0, 0])
        assert found == (xor.TRUNCATED, 0), (size, found)


@given(st.binary(min_size=2, max_size=400))
def test_any_bytes_are_survived(content: bytes) -> None:
    """Damage that a checksum missed: an error or the twin's samples, never a read outside."""
    found = decode([content], [0])
    try:
        twin = decode_chunk(content)
    except ValueError:
        assert isinstance(found, tuple)
        return
    if isinstance(found, list):
        assert found == [expected(twin, -(2**63), 2**63)] or any(abs(t) >= 2**62 for t, _ in twin)
