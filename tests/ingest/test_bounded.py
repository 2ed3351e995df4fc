"""Answers come to an end: too many bytes, packed or not, too much time; and what is within the bounds comes whole."""

from __future__ import annotations

import gzip
import time
import tracemalloc

import pytest
import requests

from tests.app.http_server import answering
from tests.ingest.proxy import Reply, proxy
from throttlescope.ingest.sources.access import Access
from throttlescope.ingest.sources.bounded_answer import STREAMED_TIMES, EndlessAnswerError

BODY = bytes(range(256)) * 2000


def through(reply: Reply, ask, **access):
    """What ``ask`` makes of a server that sends this."""
    with (
        answering(lambda *_: (200, "text/plain", b"")) as target,
        proxy(target, lambda path, _: reply) as between,
    ):
        return ask(Access(**access).session(), f"{between.url}/x?token=hidden")


def whole(session, url):
    return session.get(url, timeout=30).content


def in_pieces(session, url):
    with session.get(url, stream=True, timeout=30) as answer:
        return b"".join(iter(lambda: answer.raw.read(10_000, decode_content=True), b""))


@pytest.mark.parametrize("ask", [whole, in_pieces])
@pytest.mark.parametrize("packed", [False, True])
def test_what_is_within_the_bounds_comes_whole(ask, packed):
    body = gzip.compress(BODY) if packed else BODY
    reply = Reply(200, {"Content-Encoding": "gzip"} if packed else {}, body)
    assert through(reply, ask, max_answer_bytes=len(BODY)) == BODY
    with answering(lambda *_: (200, "text/plain", BODY)) as url:
        assert ask(Access(max_answer_bytes=len(BODY)).session(), url) == BODY


@pytest.mark.parametrize("packed", [False, True])
def test_too_long_body_is_refused(packed):
    body = gzip.compress(BODY) if packed else BODY
    reply = Reply(200, {"Content-Encoding": "gzip"} if packed else {}, body)
    with pytest.raises(EndlessAnswerError) as caught:
        through(reply, whole, max_answer_bytes=len(BODY) - 1)
    text = str(caught.value)
    assert f"at most {len(BODY) - 1:,}" in text
    assert "max_answer_bytes" in text
    assert "hidden" not in text


def test_streamed_body_has_a_larger_limit():
    most = len(BODY) // STREAMED_TIMES + 1
    assert through(Reply(200, {}, BODY), in_pieces, max_answer_bytes=most) == BODY
    with pytest.raises(EndlessAnswerError):
        through(Reply(200, {}, BODY + b"!" * (2 * STREAMED_TIMES)), in_pieces, max_answer_bytes=most)


@pytest.mark.parametrize("ask", [whole, in_pieces])
def test_an_endless_body_ends(ask):
    with pytest.raises(EndlessAnswerError):
        through(Reply(200, {}, BODY, again_s=0.0), ask, max_answer_bytes=3 * len(BODY))


@pytest.mark.long
@pytest.mark.parametrize("ask", [whole, in_pieces])
def test_a_body_that_trickles_ends(ask):
    begun_s = time.monotonic()
    with pytest.raises(EndlessAnswerError, match=r"no end.*within 1 s"):
        through(Reply(200, {}, b"x", again_s=0.05), ask, longest_answer_s=1.0)
    assert time.monotonic() - begun_s < 60


@pytest.mark.long
def test_compression_bomb_is_not_unpacked_whole():
    bomb = gzip.compress(bytes(400_000_000), compresslevel=1)
    assert len(bomb) < 4_000_000
    tracemalloc.start()
    try:
        with pytest.raises(EndlessAnswerError):
            through(Reply(200, {"Content-Encoding": "gzip"}, bomb), whole, max_answer_bytes=10_000_000)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 60_000_000


def test_truncated_answer_is_detected():
    for ask in (whole, in_pieces):
        with pytest.raises((requests.exceptions.ChunkedEncodingError, Exception)) as caught:
            through(Reply(200, {}, BODY, cut=1000), ask)
        assert not isinstance(caught.value, EndlessAnswerError)
