"""The open backlog: when it started, how large it is, its causes over time, and what would have drained it according to a replay."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest

from tests.app.web.components import find
from tests.app.web.sample_lake import END_MS, START_MS
from tests.app.web.test_pages import address, read
from throttlescope.app.presentation.episodes import gain_text, lever_text
from throttlescope.app.presentation.links.subscription import SubscriptionAddress
from throttlescope.app.web.data.outlook import StoredOutlook
from throttlescope.app.web.pages.subscription.content import read_view
from throttlescope.app.web.pages.subscription.episode import counterfactual, this_backlog
from throttlescope.ingest.core.times import MINUTE_MS


def lever_result(lever, limiter, low, likely, high) -> dict:
    gains = {"gain_low_entries": low, "gain_likely_entries": likely, "gain_high_entries": high}
    return {"lever": lever, "limiter": limiter, "effect": "sooner", "held_by": "consumers"} | gains


ANSWER = {
    "at_ms": END_MS,
    "primary": "limiter",
    "limiter": "subscription.msg",
    "agrees": True,
    "horizon_s": 1800,
    "window_s": 1800,
    "error_share": 0.012,
    "failed": None,
    "notes": [],
    "tried": [
        lever_result("limiter", "subscription.msg", 90_000.0, 98_000.0, 99_000.0),
        lever_result("consumers", None, 0.0, 0.0, 0.0),
        lever_result("together", None, None, None, None),
    ],
} | {
    f"gain_{which}_entries": value
    for which, value in (("low", 90_000.0), ("likely", 98_000.0), ("high", 99_000.0))
}


@pytest.mark.long
def test_backlog_shows_start_size_and_causes(reader):
    view = read_view(reader, address("billing"))
    (part,) = this_backlog(view.outlook, view.address)
    said = read(part)
    assert "This backlog Since 2026-11-20 01:" in said
    assert "so far." in said
    assert "214 k entries at 03:00:00 UTC, not drained." in said
    assert "▲ Throttled subscription.msg" in said
    stretches = [SubscriptionAddress.parse(urlsplit(link.href).query).at_ms for link in find(part, "Link")]
    assert stretches == sorted(stretches)
    assert stretches[-1] == END_MS


@pytest.mark.long
def test_window_without_backlog_has_no_section(reader):
    view = read_view(reader, address("billing", at_ms=START_MS + 20 * MINUTE_MS))
    assert this_backlog(view.outlook, view.address) == []


@pytest.mark.long
def test_missing_episodes_are_explained(reader):
    view = read_view(reader, address("billing"))
    assert "throttlescope episodes --store" in read(this_backlog(StoredOutlook(), view.address))


def test_counterfactual_shows_effect_of_each_lever():
    said = read(counterfactual(ANSWER))
    assert "A limiter is the limiting factor: lifting it drains most." in said
    assert (
        "Without the subscription message limit: the backlog would be 98 k (90 k to 99 k) entries smaller 30 m later."
        in said
    )
    assert (
        "Without the processing time of the consumers: the backlog would not be smaller 30 m later." in said
    )
    assert "Without all limits and the processing time of the consumers: effect unknown 30 m later." in said
    assert "A replay of the 30 m up to 2026-11-20 03:00:00 UTC, off by 1 % of its largest backlog." in said
    assert "The verdict names another cause." in read(counterfactual(ANSWER | {"agrees": False}))


def test_failed_counterfactual_is_explained():
    """Without a replay there is no section."""
    assert read(counterfactual({"failed": "A replay would take too long"})) == (
        "Counterfactual No answer: A replay would take too long"
    )
    assert counterfactual(None) == []


def test_command_line_shows_same_figures():
    assert gain_text(ANSWER) == "98,000 (90,000 to 99,000)"
    assert lever_text(ANSWER) == "limiter subscription.msg -98,000 (90,000 to 99,000)"
