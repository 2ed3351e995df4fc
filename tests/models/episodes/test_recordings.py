"""Episodes of real backlogs: since when, compared with the moment at which the script of the recording began the cause."""

from __future__ import annotations

import json

import pytest

from tests.app.commands import throttlescope
from throttlescope.ingest.core.times import MINUTE_MS
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.sources.recording import list_shipped
from throttlescope.models.episodes import incidents_of
from throttlescope.models.episodes.find import find_episodes

pytestmark = [pytest.mark.spark, pytest.mark.study, pytest.mark.timeout(900)]

#: Signals are minutes: a change within one is seen at its start or its end, and one more is left for the scrape.
WITHIN_MS = 2 * MINUTE_MS
#: A cause that begins in the middle, causes from the first minute on, one shared limiter, an unload, and none at all.
NAMES = (
    "no-consumers-leave", "sub-msg-small", "slow-limit-queue", "topic-greedy-small", "unload-throttled", "healthy-msg-50",
)  # fmt: skip


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    lake = tmp_path_factory.mktemp("recordings") / "lake"
    chosen = [part for name in NAMES for part in ("--recording", name)]
    done = throttlescope("run", *chosen, "--lake", lake, "--quiet")
    assert done.code == 0, done.err
    return find_episodes(Lake(lake))


def begun_ms(name):
    """When the script began what holds the backlog, and what it is."""
    folder = list_shipped()[name]
    truth = json.loads((folder / "truth.json").read_text())["rows"]
    states = json.loads((folder / "recording.json").read_text())["states"]
    cause = min((row for row in truth if row["cause"] != "healthy"), key=lambda row: row["start_ms"])
    state = next(state for state in states if state["end_ms"] >= cause["end_ms"])
    return state["start_ms"], cause["cause"], cause["limiter"]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", NAMES[:-1])
def test_a_backlog_began_with_its_cause(found, name):
    rows = [row for row in found if row["cluster"] == name]
    start_ms, cause, limiter = begun_ms(name)
    assert rows
    for row in rows:
        assert abs(row["since_ms"] - start_ms) <= WITHIN_MS, (row["subscription"], row["since_ms"] - start_ms)
        assert (row["cause"], row["limiter"]) == (cause, limiter)


def test_cause_beginning_midway_is_found(found):
    (row,) = [row for row in found if row["cluster"] == "no-consumers-leave"]
    assert row["since_method"] == "change_point"


def test_healthy_ticking_subscription_has_no_episode(found):
    assert [row for row in found if row["cluster"] == "healthy-msg-50"] == []


def test_unload_marks_but_does_not_end(found):
    (row,) = [row for row in found if row["cluster"] == "unload-throttled"]
    assert "counter_reset" in [mark["kind"] for mark in row["marks"]]


def test_the_topics_limiter_is_a_shared_incident(found):
    (one,) = incidents_of(found)
    assert (one["cluster"], one["kind"], one["limiter"]) == (
        "topic-greedy-small",
        "topic_limiter",
        "topic.msg",
    )
    assert {member["subscription"] for member in one["members"]} == {"greedy", "modest"}
