"""XOR chunks of Prometheus. In: chunk bytes inside a buffer. Out: timestamps, value bits and staleness markers.

A chunk is a 16-bit count, then samples: times as delta of delta in 1, 14, 17, 20 or 64 bits, values as XOR with the
value before in a window of leading and trailing zeros (prometheus ``tsdb/chunkenc/xor.go``). The slow, obvious twin
of everything here is ``tests/naive/xor.py``.
"""

from __future__ import annotations

import numpy as np

from throttlescope.ingest.core.compilation import compiled, compiled_part

#: Bytes that must follow the last chunk in a buffer: reading looks ahead without asking.
PADDING = 32

OK, TRUNCATED, BAD_VARINT = 0, 1, 2

_STALE_BITS = np.uint64(0x7FF0000000000002)


@compiled_part(inline="always")
def _peek(buffer, bit):
    """The 64 bits from position ``bit`` on, the first one highest."""
    at = bit >> 3
    shift = np.uint64(bit & 7)
    word = (
        np.uint64(buffer[at]) << np.uint64(56)
        | np.uint64(buffer[at + 1]) << np.uint64(48)
        | np.uint64(buffer[at + 2]) << np.uint64(40)
        | np.uint64(buffer[at + 3]) << np.uint64(32)
        | np.uint64(buffer[at + 4]) << np.uint64(24)
        | np.uint64(buffer[at + 5]) << np.uint64(16)
        | np.uint64(buffer[at + 6]) << np.uint64(8)
        | np.uint64(buffer[at + 7])
    )
    return (word << shift) | (np.uint64(buffer[at + 8]) >> (np.uint64(8) - shift))


@compiled_part(inline="always")
def _varint(buffer, bit):
    """An unsigned varint that begins at any bit: value and bits used, 0 bits where it does not fit into 64."""
    value = np.uint64(0)
    for i in range(10):
        byte = _peek(buffer, bit + 8 * i) >> np.uint64(56)
        value |= (byte & np.uint64(0x7F)) << np.uint64(7 * i)
        if i == 9 and byte > 1:
            return value, 0
        if byte < 0x80:
            return value, 8 * (i + 1)
    return value, 0


@compiled()
def count_samples(buffer, chunk_at, chunk_size):
    """The bound of what :func:`decode` writes, markers included: what chunks say they hold, or what fits into their bytes."""
    total = 0
    for i in range(len(chunk_at)):
        if chunk_size[i] >= 2:
            said = np.int64(buffer[chunk_at[i]]) << 8 | np.int64(buffer[chunk_at[i] + 1])
            # A sample takes two bits or more: four bytes cannot contain 65,535 samples, whatever they say.
            total += min(said, 4 * (chunk_size[i] - 2))
    return total


@compiled()
def decode(
    buffer,
    chunk_at,
    chunk_size,
    chunk_series,
    start_ms,
    end_ms,
    times,
    bits,
    offsets,
    stale_times,
    stale_offsets,
):
    """Decode chunks in order and keep what lies in [start_ms, end_ms).

    Parameters
    ----------
    buffer : uint8 array
        With at least :data:`PADDING` bytes behind the last chunk.
    chunk_at, chunk_size, chunk_series : int64 arrays
        Offset and length of each chunk, and the number of its series; series numbers do not fall.
    times, bits, stale_times : int64, uint64, int64 arrays
        Written; as long as :func:`count_samples` says.
    offsets, stale_offsets : int64 arrays
        Written; one longer than the number of series.

    Returns
    -------
    status, chunk : int
        ``OK``, or what is wrong and with which chunk.
    """
    written = 0
    stale_written = 0
    series = 0
    offsets[0] = 0
    stale_offsets[0] = 0
    for chunk in range(len(chunk_at)):
        while series < chunk_series[chunk]:
            series += 1
            offsets[series] = written
            stale_offsets[series] = stale_written
        if chunk_size[chunk] < 2:
            return TRUNCATED, chunk
        at = chunk_at[chunk]
        count = np.int64(buffer[at]) << 8 | np.int64(buffer[at + 1])
        bit = (at + 2) * 8
        end = (at + chunk_size[chunk]) * 8
        time = np.int64(0)
        delta = np.int64(0)
        value = np.uint64(0)
        leading = np.uint64(0)
        trailing = np.uint64(0)
        for i in range(count):
            # A sample takes two bits or more: this bound also keeps every look ahead inside the padding.
            if bit >= end:
                return TRUNCATED, chunk
            if i == 0:
                zigzag, used = _varint(buffer, bit)
                if used == 0:
                    return BAD_VARINT, chunk
                time = np.int64(zigzag >> np.uint64(1)) ^ -np.int64(zigzag & np.uint64(1))
                bit += used
                if bit > end:
                    return TRUNCATED, chunk
                value = _peek(buffer, bit)
                bit += 64
            else:
                if i == 1:
                    first_delta, used = _varint(buffer, bit)
                    if used == 0:
                        return BAD_VARINT, chunk
                    delta = np.int64(first_delta)
                    bit += used
                else:
                    word = _peek(buffer, bit)
                    if word >> np.uint64(63) == 0:
                        bit += 1
                    else:
                        if word >> np.uint64(62) == 0b10:
                            prefix, width = 2, 14
                        elif word >> np.uint64(61) == 0b110:
                            prefix, width = 3, 17
                        elif word >> np.uint64(60) == 0b1110:
                            prefix, width = 4, 20
                        else:
                            prefix, width = 4, 64
                        if width == 64:
                            if bit + 4 > end:
                                return TRUNCATED, chunk
                            delta += np.int64(_peek(buffer, bit + 4))
                        else:
                            raw = np.int64((word << np.uint64(prefix)) >> np.uint64(64 - width))
                            # The range is not symmetric: 1 << (width - 1) itself is positive.
                            if raw > (1 << (width - 1)):
                                raw -= 1 << width
                            delta += raw
                        bit += prefix + width
                time += delta
                if bit > end:
                    return TRUNCATED, chunk
                word = _peek(buffer, bit)
                if word >> np.uint64(63) == 0:
                    bit += 1
                else:
                    if word >> np.uint64(62) == 0b10:
                        bit += 2
                    else:
                        leading = (word >> np.uint64(57)) & np.uint64(31)
                        wide = (word >> np.uint64(51)) & np.uint64(63)
                        # 0 means 64, which does not fit into six bits.
                        if wide == 0:
                            wide = np.uint64(64)
                        if leading + wide > 64:
                            return TRUNCATED, chunk
                        trailing = np.uint64(64) - leading - wide
                        bit += 13
                    if bit > end:
                        return TRUNCATED, chunk
                    wide = np.uint64(64) - leading - trailing
                    value ^= (_peek(buffer, bit) >> (np.uint64(64) - wide)) << trailing
                    bit += np.int64(wide)
            if bit > end:
                return TRUNCATED, chunk
            if start_ms <= time < end_ms:
                if value == _STALE_BITS:
                    stale_times[stale_written] = time
                    stale_written += 1
                else:
                    times[written] = time
                    bits[written] = value
                    written += 1
    while series < len(offsets) - 1:
        series += 1
        offsets[series] = written
        stale_offsets[series] = stale_written
    return OK, 0
