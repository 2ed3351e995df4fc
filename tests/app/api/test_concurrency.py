"""Some queries run, some wait, the rest are sent away."""

from __future__ import annotations

import threading
import time

import pytest

from throttlescope.app.services.promql.concurrency import ConcurrencyLimit
from throttlescope.app.services.promql.errors import ApiError


def test_place_is_released_after_an_error():
    concurrency = ConcurrencyLimit(1, 0)
    for _ in range(3):
        with pytest.raises(ZeroDivisionError), concurrency.slot(1.0):
            raise ZeroDivisionError
    with concurrency.slot(60.0) as left_s:
        assert 30 < left_s <= 60


def test_query_beyond_the_queue_is_refused_immediately():
    concurrency = ConcurrencyLimit(1, 0)
    with concurrency.slot(1.0):
        begun_s = time.monotonic()
        with pytest.raises(ApiError, match="too many queries") as caught, concurrency.slot(120.0):
            pytest.fail("it was let in")
        assert (caught.value.code, caught.value.kind) == (503, "unavailable")
        assert time.monotonic() - begun_s < 60


def test_waiting_counts_toward_the_timeout():
    concurrency = ConcurrencyLimit(1, 1)
    with concurrency.slot(1.0):
        with pytest.raises(ApiError, match="timed out in query queue") as caught, concurrency.slot(0.05):
            pytest.fail("it was let in")
        assert (caught.value.code, caught.value.kind) == (503, "timeout")


def test_running_queries_never_exceed_the_limit():
    concurrency, lock, at_work, most, done = ConcurrencyLimit(2, 20), threading.Lock(), 0, 0, []

    def query():
        nonlocal at_work, most
        with concurrency.slot(30.0) as left_s:
            with lock:
                at_work += 1
                most = max(most, at_work)
            time.sleep(0.01)
            with lock:
                at_work -= 1
                done.append(left_s)

    threads = [threading.Thread(target=query) for _ in range(15)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (most, len(done)) == (2, 15)
    assert min(done) < max(done)
