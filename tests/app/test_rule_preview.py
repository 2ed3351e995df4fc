"""Firings compared with verdicts: real, not real, undecided, and missed backlogs."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from throttlescope.app.rules_export import alert_rules as a
from throttlescope.app.rules_export.preview.firings import (
    NOT_REAL,
    REAL,
    UNDECIDED,
    VerdictStretch,
    fits,
    judge,
    longest,
    missed,
)
from throttlescope.app.rules_export.preview.kinds import KINDS, kind_of
from throttlescope.app.rules_export.preview.preview_rules import exported, exported_alerts, typed
from throttlescope.ingest.contracts.vocabulary import CAUSES
from throttlescope.ingest.core.errors import InputError
from throttlescope.transforms.rules.preview import Firing
from throttlescope.transforms.rules.rule_file import AlertingRule

KEY = ("c", "ns", "persistent://ns/t", -1, "s")
LABELS = {"cluster": "c", "topic": "persistent://ns/t", "partition": "-1", "subscription": "s"}
OTHER = ("c", "ns", "persistent://ns/t", -1, "other")
SIDES = {
    "throttled": "throttle",
    "slow_consumers": "consumer_capacity",
    "both": "both",
    "healthy": "neither",
    "unknown": "unknown",
    "no_consumers": "consumer_capacity",
}


def stretch(start, end, cause, key=KEY):
    return VerdictStretch(key, start, end, SIDES[cause], cause, None)


def firing(start, end, active=None, labels=None, **rule_labels):
    rule = AlertingRule("A", "m", rule_labels)
    return Firing(
        rule,
        {"alertname": "A", **(LABELS if labels is None else labels)},
        start if active is None else active,
        start,
        end,
    )


def outcome(one, stretches, end_ms=1_000):
    (found,) = judge([one], stretches, kind_of, end_ms=end_ms)
    return found.outcome, found.main_verdict and found.main_verdict.cause


def test_main_cause_decides_the_outcome():
    stretches = [
        stretch(0, 100, "healthy"),
        stretch(100, 180, "throttled"),
        stretch(180, 200, "slow_consumers"),
    ]
    assert outcome(firing(110, 200, cause="throttled"), stretches) == (REAL, "throttled")
    assert outcome(firing(110, 200, cause="slow_consumers"), stretches) == (NOT_REAL, "throttled")
    # From when the condition began, not from when it fired.
    assert outcome(firing(180, 200, active=40, cause="slow_consumers"), stretches) == (NOT_REAL, "throttled")
    assert outcome(firing(180, 200, cause="slow_consumers"), stretches) == (REAL, "slow_consumers")
    # Still firing: up to the range's end.
    assert outcome(firing(185, None, cause="slow_consumers"), stretches, 195) == (REAL, "slow_consumers")


def test_unknown_verdicts_leave_firing_undecided():
    assert outcome(firing(10, 20, cause="throttled"), [stretch(0, 100, "unknown")]) == (UNDECIDED, "unknown")
    assert outcome(firing(10, 20, cause="throttled"), []) == (UNDECIDED, None)
    assert outcome(firing(10, 20, cause="throttled"), [stretch(20, 100, "throttled")]) == (UNDECIDED, None)
    assert outcome(firing(10, 20, cause="unknown"), [stretch(0, 100, "unknown")]) == (REAL, "unknown")
    assert outcome(firing(10, 20), [stretch(0, 100, "healthy")]) == (NOT_REAL, "healthy")


def test_topic_firing_checks_all_matching_subscriptions():
    stretches = [stretch(0, 100, "healthy"), stretch(0, 100, "throttled", OTHER)]
    topic = {"cluster": "c", "topic": "persistent://ns/t"}
    assert outcome(firing(10, 20, labels=topic, cause="throttled"), stretches) == (REAL, "throttled")
    assert outcome(firing(10, 20, labels=topic, cause="no_consumers"), stretches) == (NOT_REAL, "throttled")
    assert outcome(firing(10, 20, cause="throttled"), stretches) == (NOT_REAL, "healthy")
    assert outcome(firing(10, 20, labels={"broker": "b"}, cause="throttled"), stretches) == (None, None)


def test_partition_number_matches_label_text():
    assert fits(KEY, {"partition": "-1"})
    assert not fits(KEY, {"partition": "1"})
    assert fits(KEY, {})


def test_longest_cause_matches_minute_count():
    """The slow way: ask every moment which verdict it has."""
    dice = random.Random(3)  # noqa: S311
    for _ in range(200):
        edges = sorted(dice.sample(range(200), 9))
        stretches = [
            stretch(start, end, dice.choice(list(SIDES)))
            for start, end in pairwise(edges)
            if dice.random() < 0.8
        ]
        start, end = sorted(dice.sample(range(200), 2))
        minutes: dict[str, int] = {}
        for moment in range(start, end):
            for one in stretches:
                if one.start_ms <= moment < one.end_ms:
                    minutes[one.cause] = minutes.get(one.cause, 0) + 1
        found = longest(stretches, start, end)
        if found is None:
            assert not minutes
        else:
            assert minutes[found.cause] == max(minutes.values())


def row(start, end, cause, key=KEY):
    names = ("cluster", "namespace", "topic", "partition", "subscription")
    return {
        **dict(zip(names, key, strict=True)),
        "start_ms": start,
        "end_ms": end,
        "cause": cause,
        "side": SIDES[cause],
        "limiter": None,
    }


def test_backlogs_without_a_firing_are_missed():
    kind = kind_of(AlertingRule("A", "m", {"cause": "throttled"}))
    rows = [
        row(0, 50, "throttled"),  # before the range
        row(100, 200, "throttled"),  # noticed
        row(300, 400, "throttled"),  # missed
        row(300, 400, "healthy"),  # not of the kind
        row(500, None, "throttled"),  # open, noticed at its end
        row(120, 180, "throttled", OTHER),  # another subscription
    ]
    firings = [firing(190, 260, cause="throttled"), firing(900, None, cause="throttled")]
    unnoticed, total = missed(rows, firings, kind, start_ms=60, end_ms=1_000)
    assert total == 4
    assert [(one["subscription"], one["start_ms"]) for one in unnoticed] == [("s", 300), ("other", 120)]
    # One that names only the topic notices both subscriptions.
    topic = firing(100, 500, labels={"topic": KEY[2]})
    assert missed(rows, [topic], kind, start_ms=60, end_ms=450)[0] == []


# -- which rule is for what


@pytest.mark.long
def test_exported_alerts_have_known_kinds():
    for one in exported_alerts():
        previewed = exported(one.name)
        assert {rule.name for rule in previewed.alerts} == {one.name}
        for rule in previewed.alerts:
            kind = kind_of(rule)
            assert (kind is None) == (
                one.name
                in (a.PUBLISH_THROTTLED, a.QUOTA_STOPS, a.REPLICATION_GROWS, a.LIMITS_MISSING, a.LIMITS_OLD)
            )
            if kind is not None:
                assert not kind.fits("neither", "healthy")
                assert any(kind.fits(SIDES.get(cause, "unknown"), cause) for cause in CAUSES)
    (throttled,) = exported(a.THROTTLED).alerts
    assert kind_of(throttled).fits("throttle", "micro_burst_throttled")
    assert not kind_of(throttled).fits("consumer_capacity", "slow_consumers")
    assert kind_of(throttled, "any").fits("consumer_capacity", "slow_consumers")
    (redelivering,) = exported(a.REDELIVERY).alerts
    assert not kind_of(redelivering).fits("consumer_capacity", "slow_consumers")


def test_any_rule_accepts_a_selected_kind():
    for kind in KINDS:
        assert kind_of(AlertingRule(a.LIMITS_OLD, "m"), kind) is not None


def test_exported_alert_is_previewed_unchanged():
    previewed = exported(a.THROTTLED)
    again = typed(previewed.text)
    assert again.alerts[0].expr == previewed.alerts[0].expr
    assert again.alerts[0].for_ms == previewed.alerts[0].for_ms
    assert {rule.name for rule in previewed.library.rules} >= {
        "throttlescope:rho",
        "throttlescope:limiter_binds_rho",
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x", "line 1"),
        ("groups: [{name: g, rules: [{record: r, expr: m}]}]", "no alerting rule"),
        ("groups: [{name: g, rules: [{alert: A, expr: 'rate(x)'}]}]", "wrong kind of value"),
        ("groups: [{name: g, rules: [{alert: A, expr: m, fro: 5m}]}]", "not known"),
        ("&a [*a]", "alias"),
    ],
)
def test_invalid_typed_rule_is_refused(text, message):
    with pytest.raises(InputError, match=message):
        typed(text)
