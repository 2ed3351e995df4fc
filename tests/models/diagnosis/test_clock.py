"""A broker whose clock is off: what shows it, and what is not concluded from its ages."""

from __future__ import annotations

import pytest

from tests.models.diagnosis.scenes import scene
from throttlescope.models.diagnosis.clock import clock_off_s
from throttlescope.models.diagnosis.verdict import diagnose

GROWING = [50_000.0 + 6000 * i for i in range(5)]
HUNG = {
    "backlog": GROWING, "out_rate": 0.0, "ack_rate": 0.0, "unacked": 1000.0, "permits": None, "starved": None,
    "kind": None,
}  # fmt: skip


def hung(off_s):
    """Consumers that requested and acknowledged 15 minutes ago for the last time, at a broker whose clock is so far ahead."""
    ages_s = [900.0 - off_s + 60 * i for i in range(5)]
    return scene(**HUNG, flow_age_s=ages_s, ack_age_s=ages_s, mark_delete_age_s=ages_s)


def slow(off_s):
    """Consumers that do half of what is published and ask all the time."""
    age_s = 5.0 - off_s
    return scene(
        backlog=GROWING, out_rate=50.0, ack_rate=50.0, flow_age_s=age_s, ack_age_s=age_s, mark_delete_age_s=age_s,
        permits=None, starved=None, limits={"subscription.msg": {"limit": 1000, "rho": 0.05}},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("window", "off_s"),
    [
        (slow(0), None),
        (slow(30), None),
        (slow(300), 295),
        (slow(86_400), 86_395),
        # A minute is said for each of scrape, gauge and acknowledgement: this much less is certain.
        (slow(-300), -125),
        (slow(-100), None),
        (hung(0), None),
        (hung(1200), 300),
    ],
)
def test_what_shows_that_a_clock_is_off(window, off_s):
    assert clock_off_s(window) == off_s


@pytest.mark.parametrize("off_s", [-86_400, -600, -120, 0, 120, 600, 1200, 86_400])
def test_wrong_clock_keeps_the_side(off_s):
    for window in (hung(off_s), slow(off_s)):
        verdict = diagnose(window)
        assert verdict.side in ("consumer_capacity", "unknown"), verdict.why


def test_verdict_mentions_wrong_clock():
    verdict = diagnose(hung(1200))
    assert (verdict.cause, verdict.confidence) == ("unknown", 0.0)
    (said,) = [one.what for one in verdict.missing_evidence if "clock" in one.what]
    assert "5 min ahead" in said
    assert "-" not in verdict.symptoms.by_name["flow_stopped"].text
    assert not [one for one in diagnose(hung(0)).missing_evidence if "clock" in one.what]
