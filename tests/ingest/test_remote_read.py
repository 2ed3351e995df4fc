"""Remote read from a real Prometheus, bit by bit against a slow reader; and what a damaged or foreign answer becomes."""

from __future__ import annotations

import struct
import threading
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
import requests
from hypothesis import given
from hypothesis import strategies as st

from tests.app.http_server import answering, html, unauthorised
from tests.ingest.proxy import Reply, proxy
from tests.lab.prometheus import STALE, running_prometheus, write_arrays, write_series
from tests.lab.wire import length_delimited, varint
from tests.naive.xor import crc32c, encode_chunk, read_stream
from throttlescope.ingest.core.errors import SourceError
from throttlescope.ingest.core.selector import Matcher, parse_selector
from throttlescope.ingest.core.series import STALE_BITS, Meter
from throttlescope.ingest.sources import remote_read_messages
from throttlescope.ingest.sources.access import Access, BrokenStreamError
from throttlescope.ingest.sources.remote_read import RemoteRead, RemoteReadMissing, UnsupportedChunksError

pytestmark = pytest.mark.prometheus

START_MS = 1_760_000_400_000
STEP_MS = 15_000
COUNT = 500
ODD = ['quo"te', "new\nline", "../../etc", "back\\slash", "a'b", "💥 ü", "tab\t", "x" * 3000]


def bits(values) -> list[int]:
    return np.asarray(values, np.float64).view(np.uint64).tolist()


@pytest.fixture(scope="module")
def prometheus():
    generator = np.random.default_rng(3)
    times = START_MS + np.arange(COUNT) * STEP_MS + generator.integers(-3, 4, COUNT)
    shapes = {
        "counter": np.cumsum(generator.integers(0, 90, COUNT)).astype(float),
        "constant": np.full(COUNT, 5.0),
        "noise": generator.normal(size=COUNT),
        "bits": generator.integers(0, 2**63, COUNT).astype(np.uint64).view(np.float64),
        "special": np.tile([0.0, -0.0, np.inf, -np.inf, np.nan], COUNT // 5),
    }
    marked = shapes["counter"].view(np.uint64).copy()
    marked[[0, 7, 8, 250, COUNT - 1]] = STALE_BITS
    with running_prometheus() as server:
        write_arrays(
            server.url,
            [({"__name__": "shape", "kind": kind}, times, values) for kind, values in shapes.items()],
        )
        write_arrays(server.url, [({"__name__": "marked"}, times, marked)])
        write_series(server.url, [({"__name__": "odd", "value": value}, [(START_MS, 1.0)]) for value in ODD])
        write_series(server.url, [({"__name__": "gone"}, [(START_MS, 1.0), (START_MS + 15_000, STALE)])])
        yield SimpleNamespace(url=server.url, shapes=shapes, times=times, marked=marked)


def read(source: RemoteRead, text: str, start_ms: int = START_MS - 10, end_ms: int = START_MS + 10**8):
    """Labels to (times, bits, markers), and the meter."""
    meter, found = Meter(), {}
    for batch in source.read(parse_selector(text), start_ms, end_ms, meter):
        for one in batch:
            times, values, stale = found.setdefault(one.labels, ([], [], []))
            times += one.timestamps_ms.tolist()
            values += bits(one.values)
            stale += one.stale_ms.tolist()
    return found, meter


@pytest.fixture(params=["chunks", "samples"])
def source(request, prometheus) -> RemoteRead:
    remote = RemoteRead(prometheus.url)
    return remote if request.param == "chunks" else remote.with_plain_samples()


def test_every_bit_arrives(source, prometheus) -> None:
    found, meter = read(source, "shape")
    assert len(found) == len(prometheus.shapes)
    for labels, (times, values, stale) in found.items():
        assert times == prometheus.times.tolist()
        expected = prometheus.shapes[dict(labels)["kind"]]
        if source.response_types == (remote_read_messages.SAMPLES,):
            # Plain samples lose the sign of zero at the server: protobuf leaves a zero out.
            expected = np.where(expected == 0, 0.0, expected)
        assert values == bits(expected)
        assert stale == []
    assert meter.requests == 1
    assert meter.bytes > 1000


def test_markers_are_kept_apart(source, prometheus) -> None:
    found, _ = read(source, "marked")
    ((times, values, stale),) = found.values()
    marked = prometheus.marked == STALE_BITS
    assert stale == prometheus.times[marked].tolist()
    assert times == prometheus.times[~marked].tolist()
    assert values == prometheus.marked[~marked].tolist()


@pytest.mark.parametrize(("first", "last"), [(0, 3), (119, 121), (7, 9), (480, 499), (3, 3)])
def test_ends_of_the_range(source, prometheus, first: int, last: int) -> None:
    """[start, end): the sample at the start counts, the one at the end does not."""
    low, high = int(prometheus.times[first]), int(prometheus.times[last])
    found, _ = read(source, "marked", low, high + 1)
    ((times, _, stale),) = found.values()
    assert sorted(times + stale) == prometheus.times[first : last + 1].tolist()
    found, _ = read(source, "marked", low, max(high, low + 1))
    ((times, _, stale),) = found.values()
    assert sorted(times + stale) == prometheus.times[first : max(last, first + 1)].tolist()


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ('shape{kind="counter"}', 1),
        ('shape{kind!="counter"}', 4),
        ('shape{kind=~"co.*"}', 2),
        ('shape{kind!~"co.*"}', 3),
        ('{__name__=~"shape|marked",kind=""}', 1),
        ("nothing", 0),
    ],
)
def test_matchers(source, text: str, count: int) -> None:
    assert len(read(source, text)[0]) == count


@pytest.mark.parametrize("value", ODD)
def test_odd_label_values(source, value: str) -> None:
    selector = parse_selector("odd").with_matchers([Matcher("value", "=", value)])
    found, _ = read(source, str(selector))
    assert [dict(labels)["value"] for labels in found] == [value]


def test_equals_the_slow_reader_on_the_wire(prometheus) -> None:
    question = remote_read_messages.read_request(
        parse_selector("{__name__=~'shape|marked'}"), START_MS, START_MS + 10**7, (1,)
    )
    headers = {"Content-Encoding": "snappy", "Content-Type": "application/x-protobuf"}
    answer = requests.post(
        prometheus.url + "/api/v1/read",
        data=pa.compress(question, codec="snappy", asbytes=True),
        headers=headers,
        timeout=30,
    )
    slow: dict = {}
    for labels, samples in read_stream(answer.content, START_MS, START_MS + 10**7):
        slow.setdefault(tuple(sorted(labels.items())), []).extend(samples)
    fast, _ = read(RemoteRead(prometheus.url), "{__name__=~'shape|marked'}", START_MS, START_MS + 10**7)
    assert fast.keys() == slow.keys()
    for labels, samples in slow.items():
        times, values, stale = fast[labels]
        assert list(zip(times, values, strict=True)) == [(t, v) for t, v in samples if v != STALE_BITS]
        assert stale == [t for t, v in samples if v == STALE_BITS]


def test_frames_that_span_reads(prometheus, monkeypatch) -> None:
    """However the bytes are cut on their way, and however few frames are decoded at once."""
    whole, _ = read(RemoteRead(prometheus.url), "shape")
    for size, frames in ((1, 4096), (7, 1), (1000, 2)):
        monkeypatch.setattr("throttlescope.ingest.sources.remote_read._READ_BYTES", size)
        monkeypatch.setattr("throttlescope.ingest.sources.remote_read._FRAMES_AT_ONCE", frames)
        assert read(RemoteRead(prometheus.url), 'shape{kind="counter"}')[0].items() <= whole.items()


# -- answers that are not right ------------------------------------------------------------


def streamed(path: str) -> bool:
    return path.endswith("/read")


def test_truncated_stream_is_always_detected(prometheus) -> None:
    cuts = [0, 1, 3, 4, 5, 500, 1000]

    def spoil(path: str, reply: Reply) -> Reply:
        reply.cut = cuts.pop()
        return reply

    with proxy(prometheus.url, spoil) as between:
        for _ in list(cuts):
            with pytest.raises(BrokenStreamError) as caught:
                read(RemoteRead(between.url), "shape")
            assert "\n" not in str(caught.value)
            assert "again" in str(caught.value)


def test_an_end_inside_a_frame_is_found(prometheus) -> None:
    def spoil(path: str, reply: Reply) -> Reply:
        return Reply(reply.status, reply.headers, reply.body[:-3])

    with proxy(prometheus.url, spoil) as between, pytest.raises(BrokenStreamError, match="unfinished frame"):
        read(RemoteRead(between.url), "shape")


def test_any_flipped_bit_is_found(prometheus) -> None:
    places = [0, 2, 3, 6, 50, 777, 2001, 4999]

    def spoil(path: str, reply: Reply) -> Reply:
        body, at = bytearray(reply.body), places.pop()
        body[at % len(body)] ^= 1 << (at % 8)
        return Reply(reply.status, reply.headers, bytes(body))

    with proxy(prometheus.url, spoil) as between:
        for _ in list(places):
            with pytest.raises(BrokenStreamError, match="damaged stream"):
                read(RemoteRead(between.url), "shape")


def test_late_error_text_is_shown(prometheus) -> None:
    """After the first frame a server has no status left to set: it writes its error behind the frames."""

    def spoil(path: str, reply: Reply) -> Reply:
        return Reply(reply.status, reply.headers, reply.body + b"query timed out in query execution\n")

    with proxy(prometheus.url, spoil) as between, pytest.raises(BrokenStreamError, match="query timed out"):
        read(RemoteRead(between.url), "shape")


def frame(message: bytes) -> bytes:
    return varint(len(message)) + struct.pack(">I", crc32c(message)) + message


def chunked_series(labels: dict[str, str], chunks: list[tuple[int, bytes]]) -> bytes:
    body = b"".join(
        length_delimited(1, length_delimited(1, k.encode()) + length_delimited(2, v.encode()))
        for k, v in labels.items()
    )
    for kind, content in chunks:
        body += length_delimited(2, b"\x08\x01\x10\x02\x18" + varint(kind) + length_delimited(4, content))
    return length_delimited(1, body)


STREAMED = "application/x-streamed-protobuf; proto=prometheus.ChunkedReadResponse"
CHUNK = encode_chunk([(START_MS, 1), (START_MS + 5, 2)])


def reading(body: bytes, kind: str = STREAMED):
    with answering(lambda *_: (200, kind, body)) as url:
        return read(RemoteRead(url), "up")[0]


def test_series_and_messages_need_not_align() -> None:
    """Several series in one message, and one over several."""
    one = chunked_series({"__name__": "a"}, [(1, CHUNK)])
    two = chunked_series({"__name__": "b"}, [(1, CHUNK), (1, encode_chunk([(START_MS + 9, 3)]))])
    found = reading(frame(one + two + b"\x10\x00") + frame(b"") + frame(one))
    assert {dict(k)["__name__"]: v[0] for k, v in found.items()} == {
        "a": [START_MS, START_MS + 5] * 2,
        "b": [START_MS, START_MS + 5, START_MS + 9],
    }


def test_unsupported_chunks_are_refused_by_name() -> None:
    for kind in (0, 2, 3, 4, 5):
        with pytest.raises(UnsupportedChunksError, match=f"chunk encoding {kind}"):
            reading(frame(chunked_series({"__name__": "a"}, [(1, CHUNK), (kind, CHUNK)])))


def test_inconsistent_chunk_is_found() -> None:
    """Behind a correct checksum."""
    lying = CHUNK[:1] + b"\x09" + CHUNK[2:]
    with pytest.raises(BrokenStreamError, match="ends too early"):
        reading(frame(chunked_series({"__name__": "a"}, [(1, lying)])))


def test_an_impossible_length_is_found() -> None:
    with pytest.raises(BrokenStreamError, match="impossible length"):
        reading(varint(2**40) + bytes(100))


@given(st.binary(max_size=60))
def test_any_message_is_survived(body: bytes) -> None:
    buffer = np.zeros(len(body) + 32, np.uint8)
    buffer[: len(body)] = np.frombuffer(body, np.uint8)
    frames = np.array([[0, len(body), 0]], np.int64)
    series, chunks = np.empty((40, 2), np.int64), np.empty((40, 4), np.int64)
    status, n_series, n_chunks = remote_read_messages.scan_chunked_series(buffer, frames, series, chunks)
    assert status in (remote_read_messages.OK, remote_read_messages.BAD_MESSAGE)
    if status == remote_read_messages.OK:
        assert (chunks[:n_chunks, 1] >= 0).all()
        assert (chunks[:n_chunks, 1] + chunks[:n_chunks, 2] <= len(body)).all()
        assert (series[:n_series] <= len(body)).all()


@pytest.mark.parametrize("status", [404, 405, 501])
def test_missing_remote_read(status: int) -> None:
    with (
        answering(lambda *_: (status, "text/plain", b"no")) as url,
        pytest.raises(RemoteReadMissing, match=str(status)),
    ):
        RemoteRead(url).probe()


def test_other_answers_are_no_remote_read() -> None:
    """A web page, for example."""
    with answering(html) as url, pytest.raises(RemoteReadMissing):
        RemoteRead(url).probe()
    for body in (b'{"status":"success"}', b"", b"\xff" * 50, b"\x05hello"):
        with answering(lambda *_, body=body: (200, "application/json", body)) as url:
            if body == b"":
                with pytest.raises(RemoteReadMissing):
                    RemoteRead(url).probe()
            else:
                with pytest.raises((RemoteReadMissing, BrokenStreamError)):
                    RemoteRead(url).probe()


def test_refusals_name_their_fix() -> None:
    with answering(unauthorised) as url, pytest.raises(SourceError, match=r"401.*token"):
        RemoteRead(url).probe()
    with answering(lambda *_: (403, "text/plain", b"no")) as url, pytest.raises(SourceError, match="403"):
        RemoteRead(url).probe()
    with answering(lambda *_: (400, "text/plain", b"exceeded sample limit (5)\n")) as url:
        with pytest.raises(SourceError, match="exceeded sample limit") as caught:
            RemoteRead(url).probe()
        assert not isinstance(caught.value, RemoteReadMissing)
        assert caught.value.exit_code == 4


def test_credentials_are_sent_and_never_shown() -> None:
    seen: list[dict[str, str]] = []

    def answer(method: str, path: str, headers: dict[str, str]):
        seen.append(headers)
        return 401, "text/plain", b"no"

    access = Access(token="s3cret", headers={"X-Scope-OrgID": "t3nant"})  # noqa: S106
    with answering(answer) as url, pytest.raises(SourceError) as caught:
        RemoteRead(url, access).probe()
    assert seen[0]["Authorization"] == "Bearer s3cret"
    assert seen[0]["X-Scope-OrgID"] == "t3nant"
    for text in (str(caught.value), repr(caught.value), repr(access), repr(RemoteRead(url, access))):
        assert "s3cret" not in text
        assert "t3nant" not in text


def test_unreachable_server() -> None:
    with pytest.raises(SourceError, match="cannot be reached") as caught:
        RemoteRead("http://127.0.0.1:1", Access(timeout_s=5)).probe()
    assert "refused" in str(caught.value).lower()


def test_silence_ends_in_time() -> None:
    release = threading.Event()

    def silent(*_: object):
        release.wait(20)
        return 200, "text/plain", b""

    with answering(silent) as url:
        try:
            with pytest.raises(SourceError, match=r"did not answer in time"):
                RemoteRead(url, Access(timeout_s=0.3)).probe()
        finally:
            release.set()
