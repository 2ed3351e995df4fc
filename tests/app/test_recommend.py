"""``throttlescope recommend`` on the command line: which window is replayed, and ``--keep-p99-age``."""

from __future__ import annotations

import json
import math

import pytest

from tests.app.commands import throttlescope
from tests.models.episodes.scenes import fill
from tests.models.episodes.scenes import minutes as rows_of
from tests.models.throttling.replay.samples import SELECTOR, START_MS, key, scenario, simulated_lake
from throttlescope.app.presentation.advice import primary_text
from throttlescope.app.services.slo import AgeObjective
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.times import MINUTE_MS, format_time
from throttlescope.models.diagnosis.window import SubscriptionKey
from throttlescope.models.messages.catalogue import sentence

WINDOW_S = 600
AT_MS = START_MS + WINDOW_S * 1000


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    """A throttled subscription, and ten hours of its minutes: a busy one, and one that is not there."""
    lake = simulated_lake(tmp_path_factory.mktemp("keep") / "lake", scenario(duration_s=WINDOW_S), WINDOW_S)
    count = 600
    per_minute = [60.0 * (600 if 200 <= at < 260 else 300) for at in range(count)]
    rows = rows_of(
        [50.0 if at != 100 else None for at in range(count)], key=SubscriptionKey(**key()), start_ms=AT_MS - count * MINUTE_MS,
        in_msg_delta=dict(enumerate(per_minute)), backlog_age_s=7.0,
    )  # fmt: skip
    fill(lake, "signals", rows, "minute_ms")
    return lake


def recommend(lake, *more):
    return throttlescope(
        "recommend", SELECTOR, "--lake", lake.root, "--at", format_time(AT_MS), "--window", "10m", *more
    )


@pytest.mark.long
def test_table_shows_advice_commands_and_gaps(lake):
    done = recommend(lake, "--keep-p99-age", "5m", "--over", "10h")
    assert done.code == 0, done.err
    assert "Raise the subscription message limit from 500 msg/s to" in done.out
    assert "run: pulsar-admin topicPolicies set-subscription-dispatch-rate" in done.out
    assert "undo: pulsar-admin topicPolicies set-subscription-dispatch-rate" in done.out
    assert "Nothing was executed." in done.out
    assert "0.2 % of the minutes are missing" in done.out


@pytest.mark.parametrize("percent", [100.0, 49.0, math.nan])
def test_share_outside_its_range_is_refused(percent):
    with pytest.raises(InputError, match=r"--share: out of range.*such as 99\.9"):
        AgeObjective.of("5m", "14d", percent)


def test_objective_has_its_share():
    objective = AgeObjective.of("5m", "14d", 99.9)
    assert (objective.age_s, objective.over_ms) == (300.0, 14 * 86_400_000)
    assert objective.share == pytest.approx(0.999)


@pytest.mark.long
def test_json_has_the_same_advice(lake):
    done = recommend(lake, "--keep-p99-age", "5m", "--over", "10h", "--format", "json")
    document = json.loads(done.out)
    assert (document["minutes"], document["minutes_known"], document["executed"]) == (600, 599, False)
    assert document["as_is_p99_age_s"] > 300
    assert document["measured_p99_age_s"] == 7.0
    keep = document["keeps"][0]
    assert (keep["lever"], keep["now"]) == ("limit", 500)
    assert keep["p99_age_s"] <= 300 < document["as_is_p99_age_s"]
    # The largest backlog has no samples; the window asked for has.
    assert any("cannot be replayed" in note for note in document["notes"])
    assert document["check"]["fluid_error_share"] < 0.05


@pytest.mark.long
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--keep-p99-age", "soon"], "--keep-p99-age: not a duration"),
        (["--keep-p99-age", "10s"], "resolution of one minute"),
        (["--keep-p99-age", "5m", "--over", "1m"], "--over"),
        (["--keep-p99-age", "5m", "--over", "90d"], "from 1h to 31d"),
    ],
)
def test_invalid_options_are_refused(lake, options, message):
    done = recommend(lake, *options)
    assert (done.code, done.out) == (2, "")
    assert message in done.line


@pytest.mark.long
def test_lake_without_signals_suggests_a_run(tmp_path):
    bare = simulated_lake(tmp_path / "lake", scenario(duration_s=WINDOW_S), WINDOW_S)
    done = recommend(bare, "--keep-p99-age", "5m", "--quiet")
    assert done.code == 2
    assert "throttlescope run" in done.line


# -- which window is replayed --------------------------------------------------------------------


@pytest.fixture(scope="module")
def changed(tmp_path_factory):
    """Consumers that were slow for 25 minutes and have been fast, under a limit, for ten."""
    played = scenario(
        duration_s=1_500,
        then_s=600,
        interventions=[{"action": "set_consumers", "subscription": "billing", "processing_ms": 2}],
        subscriptions=[{"name": "billing", "topic": "orders", "type": "Shared", "consumers": 4, "processing_ms": 20}],
    )  # fmt: skip
    return simulated_lake(tmp_path_factory.mktemp("changed") / "lake", played, 2_100)


def drain(lake, *more):
    done = throttlescope("recommend", SELECTOR, "--lake", lake.root, "--format", "json", *more)
    assert done.code == 0, done.err
    return json.loads(done.out)


@pytest.mark.long
def test_window_in_which_the_cause_changed_is_shortened(changed):
    known = drain(changed)
    assert known["at_ms"] - known["window_start_ms"] < 30 * MINUTE_MS
    assert known["replay_error_share"] < 0.2
    assert not known["is_far_off"]
    assert "subscription message limit from 500 msg/s" in known["recommendations"][0]["words"]


@pytest.mark.long
def test_nothing_is_recommended_from_a_replay_that_is_far_off(changed):
    known = drain(changed, "--window", "30m")
    assert known["replay_error_share"] > 0.2
    assert known["is_far_off"]
    assert (known["recommendations"], known["counterfactuals"], known["primary"]) == ([], [], None)
    text = throttlescope("recommend", SELECTOR, "--lake", changed.root, "--window", "30m").out
    assert "No change is recommended, because the replay is too far from what was recorded." in text


def test_small_gains_are_not_called_none():
    """A recommendation under a sentence that says no lever changes anything would contradict it."""
    known = {"not_modelled": None, "is_far_off": False, "primary": None, "recommendations": []}
    assert primary_text(known) == sentence("advice.primary.none")
    assert primary_text(known | {"recommendations": [{}]}) == sentence("advice.primary.small")
