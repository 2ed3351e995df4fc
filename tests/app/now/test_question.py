"""What is diagnosed: names as users write them, ranges, and what is refused."""

from __future__ import annotations

import pytest

from throttlescope.app.services.diagnose_now import NowQuestion
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.times import BLOCK_MS, MINUTE_MS

END_MS = 1_700_000_000_000


def test_subscription_topic_and_partition_are_parsed():
    topic = "persistent://acme/shop/orders"
    one = NowQuestion.of(subscription=f"{topic}-partition-3#billing", end_ms=END_MS)
    assert (one.topic, one.partition, one.subscription) == (topic, 3, "billing")
    assert (one.means(3, "billing"), one.means(2, "billing"), one.means(3, "audit")) == (True, False, False)
    whole = NowQuestion.of(topic=topic, end_ms=END_MS)
    assert (whole.topic, whole.partition, whole.subscription) == (topic, None, None)
    assert whole.means(0, "audit")
    part = NowQuestion.of(topic=f"{topic}-partition-0", end_ms=END_MS)
    assert (part.topic, part.partition) == (topic, 0)
    assert part.namespace == "acme/shop"


def test_read_range_covers_whole_hours():
    question = NowQuestion.of(topic="persistent://a/b/c", end_ms=END_MS, history_ms=BLOCK_MS)
    start_ms, end_ms = question.read_range(END_MS + 5)
    assert start_ms % BLOCK_MS == 0
    assert start_ms <= END_MS - 30 * MINUTE_MS - BLOCK_MS
    assert end_ms == END_MS + 5
    assert question.read_range(END_MS + 10 * BLOCK_MS)[1] % BLOCK_MS == 0


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"topic": "persistent://a/b/c", "subscription": "persistent://a/b/c#s"},
        {"topic": ""},
        {"topic": "orders"},
        {"topic": "persistent://a/b/c#s"},
        {"subscription": "persistent://a/b/c"},
        {"topic": "persistent://a/b/c", "for_ms": 4 * MINUTE_MS},
        {"topic": "persistent://a/b/c", "for_ms": 7 * BLOCK_MS},
        {"topic": "persistent://a/b/c", "history_ms": -1},
        {"topic": "persistent://a/b/c", "history_ms": 25 * BLOCK_MS},
    ],
)
def test_invalid_questions_are_refused(more):
    with pytest.raises(InputError):
        NowQuestion.of(end_ms=END_MS, **more)
