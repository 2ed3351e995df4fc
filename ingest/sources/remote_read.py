"""Prometheus' remote read. In: a selector and a range. Out: decoded samples with their staleness markers.

``POST /api/v1/read``: the request is a protobuf compressed by snappy; the answer is a stream of frames (length,
CRC-32C, message), each with XOR chunks of one series or more. A server that does not stream, or stores chunks that we
cannot read, sends plain samples instead. Frames are decoded as they come: memory does not grow with the answer.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import google_crc32c
import numpy as np
import pyarrow as pa
import requests

from throttlescope.ingest.core.errors import SourceError
from throttlescope.ingest.core.labels import Labels
from throttlescope.ingest.core.selector import Selector, metric_selector
from throttlescope.ingest.core.series import Meter, SampleBatch, offsets_of
from throttlescope.ingest.sources import remote_read_messages, xor
from throttlescope.ingest.sources.access import (
    TRANSPORT_ERRORS,
    Access,
    BrokenStreamError,
    check_answer,
    explain,
    is_html,
    overloaded,
    public_url,
    refuse_html,
    too_many_series,
)
from throttlescope.ingest.sources.bounded_answer import EndlessAnswerError

_WHAT = "Prometheus' remote read"
_READ_BYTES = 1 << 20
#: How many frames are decoded at once: enough to keep the compiled code busy, few enough to stay small.
_FRAMES_AT_ONCE = 4096
_STREAMED = "application/x-streamed-protobuf"
#: Snappy's tightest: three bytes that copy 64. What says more of itself is something else.
_SNAPPY_RATIO = 22


class RemoteReadMissing(SourceError):  # noqa: N818
    """The server offers no remote read; its JSON API may still work."""


class UnsupportedChunksError(SourceError):
    """The server stores chunks of a kind that we cannot decode; plain samples can be requested instead."""


@dataclass
class RemoteRead:
    """A Prometheus that is read through ``/api/v1/read``. Pickled into tasks; connects where it is used.

    Attributes
    ----------
    url : str
        Address without ``/api/v1``.
    response_types : tuple of int
        Response types to request, best first.
    """

    url: str
    access: Access = field(default_factory=Access)
    response_types: tuple[int, ...] = (remote_read_messages.STREAMED_XOR_CHUNKS, remote_read_messages.SAMPLES)

    name = "prometheus_remote_read"
    stale_is_inferred = False

    @property
    def address(self) -> str:
        return public_url(self.url)

    def __getstate__(self) -> dict:
        return {key: value for key, value in self.__dict__.items() if key != "_session"}

    def probe(self) -> None:
        """Send an empty request, to see whether remote read is there.

        Raises
        ------
        RemoteReadMissing
            404, 405, 501, a web page, or an answer that is no remote read.
        SourceError
            Unreachable or unauthorised.
        """
        now_ms = round(time.time() * 1000)
        try:
            for _ in self.read(metric_selector("up"), now_ms, now_ms + 1, Meter()):
                pass
        except UnsupportedChunksError:
            return

    def read(self, selector: Selector, start_ms: int, end_ms: int, meter: Meter) -> Iterator[SampleBatch]:
        """See :class:`throttlescope.ingest.core.series.SampleSource`."""
        question = remote_read_messages.read_request(selector, start_ms, end_ms, self.response_types)
        with self.access.hiding():
            try:
                with self._ask(question, meter) as answer:
                    if answer.headers.get("Content-Type", "").startswith(_STREAMED):
                        yield from self._streamed(answer, start_ms, end_ms, meter)
                    else:
                        yield from self._plain(answer, start_ms, end_ms, meter)
            except TRANSPORT_ERRORS as error:
                raise explain(error, _WHAT, self.url, self.access) from error

    def with_plain_samples(self) -> RemoteRead:
        """The same source, requesting samples instead of chunks."""
        return RemoteRead(self.url, self.access, (remote_read_messages.SAMPLES,))

    # -- one request -----------------------------------------------------------------------

    def _ask(self, question: bytes, meter: Meter) -> requests.Response:
        if "_session" not in self.__dict__:
            self._session = self.access.session()
        meter.requests += 1
        answer = self._session.post(
            f"{self.url}/api/v1/read",
            data=pa.compress(question, codec="snappy", asbytes=True),
            headers={
                "Content-Type": "application/x-protobuf",
                "Content-Encoding": "snappy",
                "X-Prometheus-Remote-Read-Version": "0.1.0",
            },
            stream=True,
            timeout=self.access.timeout,
        )
        if answer.status_code == 200 and not is_html(answer):
            return answer
        with answer:
            check_answer(answer, _WHAT)
            if answer.status_code == 503:
                raise overloaded(answer, _WHAT)
            words = _words(answer.raw.read(2000, decode_content=True))
            if answer.status_code in (404, 405, 415, 501) or (is_html(answer) and answer.status_code < 500):
                raise RemoteReadMissing(
                    f"{_WHAT} is not offered at {self.address}",
                    got=f"{answer.status_code} {answer.reason}",
                    fix='set reader = "api", or give the address of the Prometheus itself',
                )
            refuse_html(answer, _WHAT)
            raise SourceError(
                f"{_WHAT} at {self.address} failed",
                got=f"{answer.status_code} {words or answer.reason}",
                fix="request a shorter range or fewer series, or check the server's log",
            )

    # -- streamed chunks -------------------------------------------------------------------

    def _streamed(
        self, answer: requests.Response, start_ms: int, end_ms: int, meter: Meter
    ) -> Iterator[SampleBatch]:
        names = self._names()
        frames = np.empty((_FRAMES_AT_ONCE, 3), np.int64)
        rest = b""
        while piece := answer.raw.read(_READ_BYTES, decode_content=True):
            meter.bytes += len(piece)
            content = rest + piece
            # Padded, because decoding looks ahead.
            buffer = np.zeros(len(content) + xor.PADDING, np.uint8)
            buffer[: len(content)] = np.frombuffer(content, np.uint8)
            behind = 0
            while True:
                status, found, used = remote_read_messages.scan_frames(
                    buffer[behind:], len(content) - behind, frames
                )
                if status == remote_read_messages.TOO_LARGE:
                    raise self._broken("a frame of an impossible length", content[behind + used :])
                if found:
                    whole = frames[:found].copy()
                    whole[:, :2] += behind
                    self._check_sums(content, whole)
                    yield self._decode_frames(buffer, whole, names, start_ms, end_ms)
                behind += used
                if status != remote_read_messages.FULL:
                    break
            rest = content[behind:]
        if rest:
            raise self._broken(f"{len(rest)} bytes of an unfinished frame at the end", rest)

    def _check_sums(self, content: bytes, frames: np.ndarray) -> None:
        for start, end, expected in frames.tolist():
            found = google_crc32c.value(content[start:end])
            if found != expected:
                raise self._broken(
                    f"a frame with checksum {found:08x} instead of {expected:08x}", content[start:]
                )

    def _decode_frames(
        self, buffer: np.ndarray, frames: np.ndarray, names: _LabelCache, start_ms: int, end_ms: int
    ) -> SampleBatch:
        size = int((frames[:, 1] - frames[:, 0]).sum())
        # No message takes less than two bytes. What is never written costs no memory.
        series = np.empty((size // 2 + 1, 2), np.int64)
        chunks = np.empty((size // 2 + 1, 4), np.int64)
        status, n_series, n_chunks = remote_read_messages.scan_chunked_series(buffer, frames, series, chunks)
        if status != remote_read_messages.OK:
            raise self._broken("a frame that is no series of chunks", b"")
        chunks = chunks[:n_chunks]
        kinds = chunks[:, 3]
        if (kinds != remote_read_messages.XOR_CHUNK).any():
            other = int(kinds[kinds != remote_read_messages.XOR_CHUNK][0])
            raise UnsupportedChunksError(
                f"{_WHAT} at {self.address} sent chunks that cannot be decoded",
                got=f"chunk encoding {other}",
                expected="XOR (1)",
                fix='set reader = "api"',
            )
        owners, at, sizes = (np.ascontiguousarray(chunks[:, i]) for i in range(3))
        bound = xor.count_samples(buffer, at, sizes)
        times, bits, stale = np.empty(bound, np.int64), np.empty(bound, np.uint64), np.empty(bound, np.int64)
        offsets, stale_offsets = np.empty(n_series + 1, np.int64), np.empty(n_series + 1, np.int64)
        status, chunk = xor.decode(
            buffer, at, sizes, owners, start_ms, end_ms, times, bits, offsets, stale, stale_offsets
        )
        if status != xor.OK:
            raise self._broken(f"a chunk that ends too early (the {chunk + 1}. of its frame)", b"")
        raw = [buffer[low:high].tobytes() for low, high in series[:n_series].tolist()]
        return SampleBatch(
            self._labels(names, raw),
            offsets,
            times[: offsets[-1]],
            bits[: offsets[-1]].view(np.float64),
            stale_offsets,
            stale[: stale_offsets[-1]],
        )

    def _names(self) -> _LabelCache:
        return _LabelCache(self.access.max_series, self.address)

    def _labels(self, names: _LabelCache, raw: list[bytes]) -> list[Labels]:
        try:
            return [names[one] for one in raw]
        except remote_read_messages.BadLabelsError as error:
            raise self._broken(f"a series with {error}", b"") from None

    # -- plain samples ---------------------------------------------------------------------

    def _plain(
        self, answer: requests.Response, start_ms: int, end_ms: int, meter: Meter
    ) -> Iterator[SampleBatch]:
        content = answer.raw.read(decode_content=True)
        meter.bytes += len(content)
        try:
            size, begin = remote_read_messages.snappy_size(content)
            if size > _SNAPPY_RATIO * len(content) or (size == 0 and begin < len(content)):
                raise pa.ArrowInvalid("no snappy block")
            # No more is unpacked than may come unpacked.
            if size > self.access.max_answer_bytes:
                raise self._too_long(size)
            body = (
                pa.decompress(content, decompressed_size=size, codec="snappy", asbytes=True) if size else b""
            )
        except (ValueError, OSError):  # ArrowInvalid is a ValueError
            raise RemoteReadMissing(
                f"{_WHAT} at {self.address} answers with something else",
                got=_words(content[:200]) or f"{len(content)} bytes",
                expected="a snappy block",
                fix='set reader = "api", or give the address of the Prometheus itself',
            ) from None
        buffer = np.frombuffer(body, np.uint8)
        # No message takes less than two bytes. What is never written costs no memory.
        bound = size // 2 + 1
        series, counts = np.empty((bound, 2), np.int64), np.empty((bound, 3), np.int64)
        times, bits, stale = np.empty(bound, np.int64), np.empty(bound, np.uint64), np.empty(bound, np.int64)
        status, n_series = remote_read_messages.scan_samples(
            buffer, size, start_ms, end_ms, series, counts, times, bits, stale
        )
        if status != remote_read_messages.OK:
            raise self._broken("a message that is no list of series", b"")
        counts = counts[:n_series]
        meter.repairs["native_histogram_samples_left_out"] += int(counts[:, 2].sum())
        offsets, stale_offsets = offsets_of(counts[:, 0]), offsets_of(counts[:, 1])
        raw = [body[low:high] for low, high in series[:n_series].tolist()]
        yield SampleBatch(
            self._labels(self._names(), raw),
            offsets,
            times[: offsets[-1]],
            bits[: offsets[-1]].view(np.float64),
            stale_offsets,
            stale[: stale_offsets[-1]],
        )

    def _too_long(self, size: int) -> SourceError:
        return EndlessAnswerError(
            f"An answer of {self.address} is too long",
            got=f"a block of {size:,} bytes",
            expected=f"at most {self.access.max_answer_bytes:,}",
            fix="request fewer series (--match) or a shorter range; or raise max_answer_bytes of the source",
        )

    def _broken(self, got: str, content: bytes) -> SourceError:
        words = _words(content[:300])
        return BrokenStreamError(
            f"{_WHAT} at {self.address} sent a damaged stream",
            got=got + (f" ({words})" if words else ""),
            expected="whole frames with matching CRC-32C checksums",
            fix="run the command again; if it stays, look for a proxy that changes or cuts answers",
        )


#: What reading calls of compiled functions; :func:`load_decoder` loads them.
DECODER = (
    remote_read_messages.scan_frames,
    remote_read_messages.scan_chunked_series,
    remote_read_messages.scan_samples,
    xor.count_samples,
    xor.decode,
)


def load_decoder() -> None:
    """Load compiled code into this process, from its cache where it was compiled before."""
    empty = np.zeros(xor.PADDING, np.uint8)
    frames = np.empty((1, 3), np.int64)
    remote_read_messages.scan_frames(empty, 0, frames)
    source = RemoteRead("")
    source._decode_frames(empty, frames[:0], source._names(), 0, 1)
    numbers, times = np.empty((1, 3), np.int64), np.empty(1, np.int64)
    body = np.frombuffer(bytes(1), np.uint8)
    remote_read_messages.scan_samples(
        body, 0, 0, 1, numbers[:, :2].copy(), numbers, times, np.empty(1, np.uint64), times
    )


class _LabelCache(dict[bytes, Labels]):
    """Label sets by their raw bytes: a series that spans messages is read once. There are no more than so many."""

    def __init__(self, most: int, where: str) -> None:
        super().__init__()
        self._most, self._where = most, where

    def __missing__(self, raw: bytes) -> Labels:
        if len(self) >= self._most:
            raise too_many_series(self._where, self._most)
        self[raw] = labels = remote_read_messages.read_labels(raw)
        return labels


def _words(content: bytes) -> str:
    """What a server wrote in words, where bytes are words."""
    try:
        text = content.decode().strip()
    except UnicodeDecodeError:
        return ""
    return text if text and all(char.isprintable() or char.isspace() for char in text) else ""
