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


def test_none_lifts_a_limit_and_spaces_do_not_matter():
    assert parse_change([" topic.bytes = none "]).limits == {"topic.bytes": None}
    assert parse_change(["processing_ms=1.5", "consumers=0"]) == Change(consumers=0, processing_ms=1.5)
    assert parse_change([]).words == "nothing"
    assert parse_change(["rate_msg=1234567"]).words == "rate_msg=1234567"


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (["subscription.msg"], "--set: no such setting; got subscription.msg; expected KEY=VALUE with one of broker.msg"),
        (["subscripton.msg=5"], "did you mean subscription.msg?"),
        (["consumer=5"], "did you mean consumers?"),
        (["=5"], "no such setting; got =5"),
        (["broker.period_s=5"], "no such setting"),
        (["topic.msg=5", "topic.msg=6"], "--set: topic.msg is given twice; got topic.msg=6"),
        (["consumers=5", "consumers=5"], "--set: consumers is given twice"),
        (["topic.msg="], "--set topic.msg; got nothing; expected a whole number from 1 to 10000000000"),
        (["topic.msg=0"], "got 0; expected a whole number from 1 to 10000000000. Fix: topic.msg=none lifts the limit"),
        (["topic.msg=-1"], "Fix: topic.msg=none lifts the limit"),
        (["topic.msg=1.5"], "got 1.5; expected a whole number"),
        (["topic.msg=10000000001"], "expected a whole number from 1 to 10000000000"),
        (["topic.msg=many"], "got many; expected a whole number"),
        (["topic.period_s=0"], "--set topic.period_s; got 0; expected a whole number from 1 to 86400"),
        (["topic.period_s=none"], "--set topic.period_s; got none; expected a whole number from 1"),
        (["consumers=1.5"], "--set consumers; got 1.5; expected a whole number from 0 to 10000"),
        (["consumers=-1"], "--set consumers; got -1"),
        (["consumers=10001"], "--set consumers; got 10001"),
        (["processing_ms=-1"], "--set processing_ms; got -1; expected a number from 0 to 86400000"),
        (["processing_ms=nan"], "--set processing_ms; got nan"),
        (["processing_ms=fast"], "--set processing_ms; got fast"),
        (["rate_msg=inf"], "--set rate_msg; got inf; expected a number from 0 to 10000000"),
        (["load=-1"], "--set load; got -1; expected a number from 0 to 1000"),
        (["load=nan"], "--set load; got nan"),
        (["batch_msg=0"], "--set batch_msg; got 0; expected a whole number from 1 to 10000"),
        (["batch_msg=2.5"], "--set batch_msg; got 2.5; expected a whole number"),
        (["load=2", "rate_msg=5"], "rate_msg and load both say what is published; got rate_msg=5 load=2; expected one of them"),
        (["rate_msg=1e12"], "--set rate_msg; got 1e12"),
    ],
)  # fmt: skip
def test_bad_words_are_one_clear_line(settings, words):
    with pytest.raises(InputError) as refused:
        parse_change(settings)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)
