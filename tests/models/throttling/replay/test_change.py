"""Words after ``--set``: what they mean, and bad ones as one clear line."""

import pytest

from throttlescope.ingest.core.errors import InputError
from throttlescope.models.throttling.replay import KEYS, Change, parse_change


def test_every_key_is_understood():
    others = {"consumers", "processing_ms", "rate_msg", "load", "batch_msg"}
    for published in ("rate_msg", "load"):
        settings = [f"{key}=7" for key in KEYS if key not in {"rate_msg", "load"} - {published}]
        change = parse_change(settings)
        assert set(change.limits) | others == set(KEYS)
        assert (change.consumers, change.processing_ms, change.batch_msg) == (7, 7.0, 7)
        assert (change.rate_msg, change.load) == ((7.0, None) if published == "rate_msg" else (None, 7.0))
        assert change.words.split() == settings


def test_none_lifts_limit_despite_spaces():
    assert parse_change([" topic.bytes = none "]).limits == {"topic.bytes": None}
    assert parse_change(["processing_ms=1.5", "consumers=0"]) == Change(consumers=0, processing_ms=1.5)
    assert parse_change([]).words == "nothing"
    assert parse_change(["rate_msg=1234567"]).words == "rate_msg=1234567"


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (["subscription.msg"], "Unknown setting; got subscription.msg; expected KEY=VALUE with one of broker.msg"),
        (["subscripton.msg=5"], "did you mean subscription.msg?"),
        (["consumer=5"], "did you mean consumers?"),
        (["=5"], "Unknown setting; got =5"),
        (["broker.period_s=5"], "Unknown setting"),
        (["topic.msg=5", "topic.msg=6"], "topic.msg is set twice; got topic.msg=6"),
        (["consumers=5", "consumers=5"], "consumers is set twice"),
        (["topic.msg="], "topic.msg: invalid value; got nothing; expected a whole number from 1 to 10000000000"),
        (["topic.msg=0"], "got 0; expected a whole number from 1 to 10000000000. Fix: topic.msg=none lifts the limit"),
        (["topic.msg=-1"], "Fix: topic.msg=none lifts the limit"),
        (["topic.msg=1.5"], "got 1.5; expected a whole number"),
        (["topic.msg=10000000001"], "expected a whole number from 1 to 10000000000"),
        (["topic.msg=many"], "got many; expected a whole number"),
        (["topic.period_s=0"], "topic.period_s: invalid value; got 0; expected a whole number from 1 to 86400"),
        (["topic.period_s=none"], "topic.period_s: invalid value; got none; expected a whole number from 1"),
        (["consumers=1.5"], "consumers: invalid value; got 1.5; expected a whole number from 0 to 10000"),
        (["consumers=-1"], "consumers: invalid value; got -1"),
        (["consumers=10001"], "consumers: invalid value; got 10001"),
        (["processing_ms=-1"], "processing_ms: invalid value; got -1; expected a number from 0 to 86400000"),
        (["processing_ms=nan"], "processing_ms: invalid value; got nan"),
        (["processing_ms=fast"], "processing_ms: invalid value; got fast"),
        (["rate_msg=inf"], "rate_msg: invalid value; got inf; expected a number from 0 to 10000000"),
        (["load=-1"], "load: invalid value; got -1; expected a number from 0 to 1000"),
        (["load=nan"], "load: invalid value; got nan"),
        (["batch_msg=0"], "batch_msg: invalid value; got 0; expected a whole number from 1 to 10000"),
        (["batch_msg=2.5"], "batch_msg: invalid value; got 2.5; expected a whole number"),
        (["load=2", "rate_msg=5"], "rate_msg and load exclude each other: both set the publish rate; got rate_msg=5 load=2; expected one of them"),
        (["rate_msg=1e12"], "rate_msg: invalid value; got 1e12"),
    ],
)  # fmt: skip
def test_bad_words_are_one_clear_line(settings, words):
    with pytest.raises(InputError) as refused:
        parse_change(settings)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)
