"""Prometheus' remote-read messages, by hand: five small messages do not need a protobuf library.

In: a question, or bytes of an answer. Out: the question as bytes; the answer's frames, series and chunks as offsets
into the buffer, found by compiled code (prometheus ``prompb/remote.proto``, ``prompb/types.proto``).
"""

from __future__ import annotations

import numpy as np

from throttlescope.ingest.core.compilation import compiled, compiled_part
from throttlescope.ingest.core.labels import Labels
from throttlescope.ingest.core.selector import EQUAL, NOT_EQUAL, NOT_REGEX, REGEX, Selector

SAMPLES, STREAMED_XOR_CHUNKS = 0, 1
XOR_CHUNK = 1

#: The longest message that is accepted. Servers send up to 1 MiB by default.
MAX_MESSAGE_BYTES = 64 * 1024 * 1024

#: Tags of the fields 1 and 2 that contain bytes.
_FIRST_FIELD, _SECOND_FIELD = 0x0A, 0x12
_LONGEST_SMALL_VARINT = 5

OK, BAD_MESSAGE, TOO_LARGE, FULL = 0, 1, 2, 3

_MATCHER_TYPES = {EQUAL: 0, NOT_EQUAL: 1, REGEX: 2, NOT_REGEX: 3}


def read_request(selector: Selector, start_ms: int, end_ms: int, response_types: tuple[int, ...]) -> bytes:
    """A ``ReadRequest`` for [start_ms, end_ms); the wire's end is inclusive."""
    query = b"\x08" + _varint(start_ms) + b"\x10" + _varint(end_ms - 1)
    for matcher in selector.matchers:
        body = b"\x08" + _varint(_MATCHER_TYPES[matcher.op])
        body += _bytes(2, matcher.name.encode()) + _bytes(3, matcher.value.encode())
        query += _bytes(3, body)
    return _bytes(1, query) + _bytes(2, b"".join(_varint(kind) for kind in response_types))


class BadLabelsError(ValueError):
    """Bytes that are no labels."""


def read_labels(content: bytes) -> Labels:
    """Label pairs of a run of ``Label`` fields (number 1), sorted by name.

    Bytes that are not UTF-8 become lone surrogates, which ingest validation finds and refuses.

    Raises
    ------
    BadLabelsError
        A length that runs past its end, or a field that labels do not have.
    """
    pairs = []
    at = 0
    while at < len(content):
        if content[at] != _FIRST_FIELD:
            raise BadLabelsError(f"field {content[at]:#x} among labels")
        size, at = read_length(content, at + 1, len(content))
        end = at + size
        name = value = b""
        while at < end:
            field = content[at]
            if field & 7 != 2 or field > 0x7F:
                raise BadLabelsError(f"field {field:#x} in a label")
            length, at = read_length(content, at + 1, end)
            if field == _FIRST_FIELD:
                name = content[at : at + length]
            elif field == _SECOND_FIELD:
                value = content[at : at + length]
            at += length
        pairs.append((name.decode(errors="surrogateescape"), value.decode(errors="surrogateescape")))
    return tuple(sorted(pairs))


def read_length(content: bytes, at: int, end: int) -> tuple[int, int]:
    """A length that ends before ``end``, and the offset behind it.

    Raises
    ------
    BadLabelsError
        It is too long a number, or what it measures ends behind ``end``.
    """
    length, after = _small_varint(content, at, end)
    if length > end - after:
        raise BadLabelsError(f"{length} bytes where {end - after} are left")
    return length, after


def snappy_size(block: bytes) -> tuple[int, int]:
    """What a snappy block says that it unpacks to, and where what it unpacks from begins.

    Raises
    ------
    ValueError
        It does not begin with such a number.
    """
    return _small_varint(block, 0, len(block))


def _small_varint(content: bytes, at: int, end: int) -> tuple[int, int]:
    value = 0
    for i in range(_LONGEST_SMALL_VARINT):
        if at + i >= end:
            break
        byte = content[at + i]
        value |= (byte & 0x7F) << (7 * i)
        if byte < 0x80:
            return value, at + i + 1
    raise BadLabelsError("a number that does not end")


def _varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _bytes(number: int, content: bytes) -> bytes:
    return bytes([number << 3 | 2]) + _varint(len(content)) + content


@compiled_part(inline="always")
def _uvarint(buffer, at, end):
    """A varint at ``at``: value and the offset behind it, -1 where it runs past ``end`` or is too long."""
    value = np.uint64(0)
    for i in range(10):
        if at + i >= end:
            return np.int64(0), np.int64(-1)
        byte = np.uint64(buffer[at + i])
        value |= (byte & np.uint64(0x7F)) << np.uint64(7 * i)
        if byte < 0x80:
            return np.int64(value), np.int64(at + i + 1)
    return np.int64(0), np.int64(-2)


@compiled_part(inline="always")
def _field(buffer, at, end):
    """The field at ``at``: number, wire type, start and end of its payload, the offset behind; -1 where broken.

    For a varint field the payload's start is its value.
    """
    tag, at = _uvarint(buffer, at, end)
    if at < 0:
        return 0, 0, 0, 0, np.int64(-1)
    number, kind = tag >> 3, tag & 7
    if kind == 2:
        size, at = _uvarint(buffer, at, end)
        if at < 0 or size < 0 or size > end - at:
            return 0, 0, 0, 0, np.int64(-1)
        return number, kind, at, at + size, at + size
    if kind == 0:
        value, at = _uvarint(buffer, at, end)
        return number, kind, value, value, at if at >= 0 else np.int64(-1)
    size = 8 if kind == 1 else 4
    if kind not in (1, 5) or size > end - at:
        return 0, 0, 0, 0, np.int64(-1)
    return number, kind, at, at + size, at + size


@compiled()
def scan_frames(buffer, size, frames):
    """Find the whole frames in ``buffer[:size]``: start and end of each message, and its checksum, into ``frames``.

    Returns
    -------
    status, found, behind : int
        ``FULL`` when ``frames`` has no more rows; the offset behind the last whole frame.
    """
    at = np.int64(0)
    found = 0
    while at < size:
        length, start = _uvarint(buffer, at, size)
        if start == -1:
            break
        if start < 0 or length < 0 or length > MAX_MESSAGE_BYTES:
            return TOO_LARGE, found, at
        if start + 4 + length > size:
            break
        if found == len(frames):
            return FULL, found, at
        frames[found, 0] = start + 4
        frames[found, 1] = start + 4 + length
        frames[found, 2] = (
            np.int64(buffer[start]) << 24
            | np.int64(buffer[start + 1]) << 16
            | np.int64(buffer[start + 2]) << 8
            | np.int64(buffer[start + 3])
        )
        found += 1
        at = start + 4 + length
    return OK, found, at


@compiled()
def scan_chunked_series(buffer, frames, series, chunks):
    """Take the messages of a streamed answer apart.

    Parameters
    ----------
    series : int64 array (n, 2)
        Written: start and end of the run of label fields.
    chunks : int64 array (m, 4)
        Written: number of its series, start, length, type.

    Returns
    -------
    status, series found, chunks found : int
    """
    n_series = 0
    n_chunks = 0
    for frame in range(len(frames)):
        at = frames[frame, 0]
        end = frames[frame, 1]
        while at < end:
            number, kind, low, high, at = _field(buffer, at, end)
            if at < 0:
                return BAD_MESSAGE, n_series, n_chunks
            if number != 1 or kind != 2:
                continue
            if n_series == len(series):
                return FULL, n_series, n_chunks
            series[n_series, 0] = low
            series[n_series, 1] = low
            inner = low
            while inner < high:
                before = inner
                part, part_kind, part_low, part_high, inner = _field(buffer, inner, high)
                if inner < 0:
                    return BAD_MESSAGE, n_series, n_chunks
                if part_kind != 2:
                    continue
                if part == 1:
                    # The labels are handed on as one run of bytes: they must lie together, at the start.
                    if series[n_series, 1] != before:
                        return BAD_MESSAGE, n_series, n_chunks
                    series[n_series, 1] = inner
                elif part == 2:
                    if n_chunks == len(chunks):
                        return FULL, n_series, n_chunks
                    chunks[n_chunks, 0] = n_series
                    chunks[n_chunks, 1] = part_low
                    chunks[n_chunks, 2] = 0
                    chunks[n_chunks, 3] = 0
                    piece = part_low
                    while piece < part_high:
                        name, name_kind, value_low, value_high, piece = _field(buffer, piece, part_high)
                        if piece < 0:
                            return BAD_MESSAGE, n_series, n_chunks
                        if name == 3 and name_kind == 0:
                            chunks[n_chunks, 3] = value_low
                        elif name == 4 and name_kind == 2:
                            chunks[n_chunks, 1] = value_low
                            chunks[n_chunks, 2] = value_high - value_low
                    n_chunks += 1
            n_series += 1
    return OK, n_series, n_chunks


@compiled()
def scan_samples(buffer, size, start_ms, end_ms, series, counts, times, bits, stale_times):
    """Take a plain ``ReadResponse`` apart, and decode its samples in [start_ms, end_ms).

    Parameters
    ----------
    series : int64 array (n, 2)
        Written: start and end of the run of label fields.
    counts : int64 array (n, 3)
        Written: samples, markers and native histograms of each series.
    times, bits, stale_times : int64, uint64, int64 arrays
        Written: samples of all series one behind the other.

    Returns
    -------
    status, series found : int
    """
    n_series = 0
    written = 0
    stale_written = 0
    at = np.int64(0)
    while at < size:
        number, kind, low, high, at = _field(buffer, at, size)
        if at < 0:
            return BAD_MESSAGE, n_series
        if number != 1 or kind != 2:
            continue
        result = low
        while result < high:
            part, part_kind, inner, inner_end, result = _field(buffer, result, high)
            if result < 0:
                return BAD_MESSAGE, n_series
            if part != 1 or part_kind != 2:
                continue
            if n_series == len(series):
                return FULL, n_series
            series[n_series, 0] = inner
            series[n_series, 1] = inner
            first, first_stale = written, stale_written
            histograms = 0
            while inner < inner_end:
                before = inner
                name, name_kind, value, value_end, inner = _field(buffer, inner, inner_end)
                if inner < 0:
                    return BAD_MESSAGE, n_series
                if name_kind != 2:
                    continue
                if name == 1:
                    if series[n_series, 1] != before:
                        return BAD_MESSAGE, n_series
                    series[n_series, 1] = inner
                elif name == 4:
                    histograms += 1
                elif name == 2:
                    time = np.int64(0)
                    value_bits = np.uint64(0)
                    while value < value_end:
                        item, item_kind, item_low, _, value = _field(buffer, value, value_end)
                        if value < 0:
                            return BAD_MESSAGE, n_series
                        if item == 1 and item_kind == 1:
                            # A field that comes twice: the last one counts.
                            value_bits = np.uint64(0)
                            for i in range(8):
                                value_bits |= np.uint64(buffer[item_low + i]) << np.uint64(8 * i)
                        elif item == 2 and item_kind == 0:
                            time = item_low
                    if start_ms <= time < end_ms:
                        if value_bits == np.uint64(0x7FF0000000000002):
                            stale_times[stale_written] = time
                            stale_written += 1
                        else:
                            times[written] = time
                            bits[written] = value_bits
                            written += 1
            counts[n_series, 0] = written - first
            counts[n_series, 1] = stale_written - first_stale
            counts[n_series, 2] = histograms
            n_series += 1
    return OK, n_series
