"""``whatif``: its answer as a table, JSON and a plot, and bad input as one clear line."""

import json
import re

import numpy as np
import pytest

from tests.app.commands import throttlescope
from tests.app.web.browser import needs_chromium
from tests.models.throttling.replay.samples import (
    SELECTOR,
    START_MS,
    TOPIC,
    scenario,
    simulated_lake,
    subscription_limit,
    subscription_series,
    topic_series,
)
from tests.transforms.lakes import lake_of
from throttlescope.app.services.simulate import scenario as scenarios
from throttlescope.models.throttling.replay import KEYS

pytestmark = pytest.mark.long

SECONDS = 900
OUTLOOK = {
    "drain_s", "held_by", "growth_entries_per_s", "out_msg_per_s", "horizon_s", "every_s", "backlog_entries"
}  # fmt: skip


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    """600 msg/s under a limit of 500: a growing backlog, and consumers that nobody saw at their limit."""
    return simulated_lake(tmp_path_factory.mktemp("throttled"), scenario(duration_s=SECONDS), SECONDS).root


@pytest.fixture(scope="module")
def saturated(tmp_path_factory):
    """300 msg/s for consumers that manage 200."""
    slow = {"name": "billing", "topic": "orders", "type": "Shared", "consumers": 2, "processing_ms": 10}
    played = scenario(
        duration_s=SECONDS, limits=[subscription_limit(5000)], subscriptions=[slow],
        producers=[{"topic": "orders", "rate_msg": 300, "size_bytes": 1024}],
    )  # fmt: skip
    return simulated_lake(tmp_path_factory.mktemp("saturated") / "lake", played, SECONDS).root


@pytest.fixture
def nothing_runs(monkeypatch, tmp_path):
    """Bad input is refused before anything runs; the working directory is empty."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        "throttlescope.app.services.whatif.replay.replay", lambda *_, **__: pytest.fail("it was simulated")
    )


def run_whatif(lake, *options, subscription=SELECTOR):
    outcome = throttlescope("whatif", "--lake", lake, "--subscription", subscription, "--quiet", *options)
    assert (outcome.code, outcome.err) == (0, "")
    return outcome.out


def answer(lake, *options, **more):
    return json.loads(run_whatif(lake, *options, "--format", "json", **more))


# Answers


def test_json_has_change_forecast_and_basis(lake):
    found = answer(lake, "--set", "subscription.msg=1200", "--set", "processing_ms=2")
    assert (found["cluster"], found["topic"], found["subscription"], found["partition"]) == (
        "prod",
        TOPIC,
        "billing",
        None,
    )
    assert (found["at"], found["at_ms"]) == ("2026-11-20T08:15:00.001Z", START_MS + 1000 * SECONDS + 1)
    assert found["change"] == {
        "limits": {"subscription.msg": 1200}, "consumers": None, "processing_ms": 2.0, "rate_msg_per_s": None, "load": None,
        "batch_msg": None,
        "words": "subscription.msg is 1,200 msg/s instead of 500 msg/s and a consumer needs 2 ms for a message",
    }  # fmt: skip
    before, after = found["as_is"], found["changed"]
    assert (before["fitted"]["drain_s"], before["fitted"]["held_by"]) == (None, "subscription.msg")
    assert 100 < before["fitted"]["growth_entries_per_s"] < 200
    assert after["earliest_s"] <= after["fitted"]["drain_s"] <= after["latest_s"]
    for forecast in (before, after):
        for name in ("fitted", "best", "worst"):
            assert set(forecast[name]) == OUTLOOK
            assert (
                len(forecast[name]["backlog_entries"])
                == forecast[name]["horizon_s"] // forecast[name]["every_s"]
            )
    assert found["effect"] == "sooner"
    assert found["effect_words"].startswith(
        f"It helps: drained after {after['drained']}. As it is: not within 24 h"
    )
    assert found["backlog_entries"] == found["window"]["backlog_entries"][-1] > 50_000
    assert found["horizon_s"] == 86_400
    assert found["drained_below_entries"] >= 1200
    assert found["arrivals"]["msg_per_s"] == pytest.approx(600, rel=0.01)
    assert found["arrivals"]["lower_bound"] is None
    assert (found["capacity"]["seen"], found["capacity"]["msg_per_s"]) == ("given", 2000)
    assert (found["consumers"], found["limits"][0]["msg"]) == (4, 500)
    window = found["window"]
    assert len(window["times_ms"]) == len(window["backlog_entries"]) == SECONDS // 5 + 1
    assert len(window["replayed_backlog_entries"]) == SECONDS
    assert window["error_share"] < 0.02
    assert any("publish limit" in note and "lower bound" in note for note in found["notes"])


def test_table_orders_question_answer_and_basis(lake):
    out = run_whatif(lake, "--set", "subscription.msg=1200", "--set", "processing_ms=2", "--window", "10m")
    words = [
        f"{SELECTOR} on prod, from 2026-11-20 08:15:00 UTC on",
        "What if subscription.msg is 1,200 msg/s instead of 500 msg/s and a consumer needs 2 ms for a message?",
        "backlog drained after", "best to worst", "limited by",
        "as it is", "not within 24 h, grows by 1", "the subscription message limit of 500 msg/s",
        "changed", " min ",
        "It helps: drained after ",
        "backlog   ", "entries; counts as drained at ",
        "arrivals  600 msg/s",
        "capacity  2,000 msg/s, as assumed by processing_ms for 4 consumers",
        "replay    misses the recorded backlog by ",
        "window    2026-11-20 08:05:05 UTC to 2026-11-20 08:15:00 UTC",
        "Times are UTC; backlogs count entries",
        "Note: ",
    ]  # fmt: skip
    at = 0
    for part in words:
        at = out.find(part, at)
        assert at >= 0, part
    assert len(out.splitlines()) < 25


def test_no_change_shows_the_plain_forecast(lake):
    out = run_whatif(lake)
    assert "What if nothing changes?" in out
    assert "changed " not in out
    found = answer(lake)
    assert (found["changed"], found["effect"], found["change"]["words"]) == (None, None, None)
    assert found["as_is"]["fitted"] is None
    assert found["as_is"]["drained"].startswith("not within 24 h, grows by ")


def test_more_consumers_change_nothing_under_a_limit(lake):
    out = run_whatif(lake, "--set", "consumers=8")
    assert "What if 8 consumers are connected instead of 4?" in out
    assert "It makes no difference: limited by the subscription message limit of 500 msg/s either way." in out


def test_unobserved_capacity_suggests_processing_ms(lake):
    out = run_whatif(lake, "--set", "subscription.msg=none")
    assert "What if subscription.msg is lifted instead of 500 msg/s?" in out
    assert " at the earliest" in out
    assert "to not within 24 h" in out
    assert "It may help." in out
    assert "set processing_ms" in out
    assert re.search(r"capacity  at least \d+ msg/s; never observed at its limit", out)
    found = answer(lake, "--set", "subscription.msg=none")
    assert (found["effect"], found["changed"]["fitted"], found["changed"]["latest_s"]) == ("open", None, None)
    assert (found["capacity"]["seen"], found["capacity"]["high_msg_per_s"]) == ("at_least", None)


def test_observed_capacity_shows_time_and_age(saturated):
    out = run_whatif(saturated, "--set", "consumers=4")
    assert re.search(
        r"capacity  200 msg/s \(.*\) of 2 consumers, saturated (up to the end|until 2026-11-20 08:1\d UTC, \d+ s before)",
        out,
    )
    assert "It helps: drained after " in out
    found = answer(saturated, "--set", "consumers=4")
    assert (found["capacity"]["seen"], found["as_is"]["fitted"]["held_by"]) == ("saturated", "consumers")
    assert found["capacity"]["age_s"] < 60
    assert found["capacity"]["seen_ms"] == START_MS + 1000 * SECONDS - 1000 * found["capacity"]["age_s"]


def test_insufficient_and_harmful_limits_are_reported(saturated, lake):
    out = run_whatif(lake, "--set", "subscription.msg=550", "--set", "processing_ms=2")
    assert "It is not enough: not within 24 h, grows by " in out
    assert "It makes it worse: not within 24 h, grows by " in run_whatif(
        saturated, "--set", "subscription.msg=100"
    )


def test_time_options_select_the_replayed_range(lake):
    options = (
        "--at",
        "2026-11-20T08:10:00Z",
        "--window",
        "2m",
        "--history",
        "5m",
        "--horizon",
        "2h",
        "--drained-below",
        "7",
    )
    found = answer(lake, *options)
    window = found["window"]
    assert (window["start_ms"], window["end_ms"]) == (START_MS + 480_000, START_MS + 600_000)
    assert (window["times_ms"][0], window["times_ms"][-1]) == (START_MS + 480_000, START_MS + 595_000)
    assert window["history_start_ms"] == START_MS + 300_000
    assert (found["drained_below_entries"], found["horizon_s"]) == (7, 7200)
    assert found["as_is"]["best"]["horizon_s"] == 7200
    assert "not within 2 h, grows by " in run_whatif(lake, *options)


def test_same_question_gives_same_bytes(lake):
    options = ("--set", "subscription.msg=900", "--format", "json")
    assert run_whatif(lake, *options) == run_whatif(lake, *options)


def test_hostile_name_is_escaped_in_output(tmp_path):
    name = "bil\x1b[31mling"
    times = START_MS + 5000 * np.arange(60)
    series = [*topic_series(times, in_msg=0.0), *subscription_series(times, backlog=500.0, subscription=name)]
    lake_of(tmp_path, series)
    out = run_whatif(tmp_path, subscription=f"{TOPIC}#{name}")
    assert "\x1b" not in out
    assert "bil\\x1b[31mling" in out


def test_progress_is_on_stderr(lake, monkeypatch):
    options = ("whatif", "--lake", lake, "--subscription", SELECTOR, "--format", "json", "--horizon", "1h")
    outcome = throttlescope(*options)
    json.loads(outcome.out)
    reading, replaying = outcome.err.splitlines()
    assert reading.startswith(f"[1/2] Reading: 181 scrapes of {SELECTOR} (")
    assert replaying.startswith("[2/2] Replaying: 181 scrapes, then 1h at most (")
    monkeypatch.setattr(scenarios, "is_compiled", lambda: False)
    assert "Replaying: the first run on this machine compiles" in throttlescope(*options).err


def test_the_help_names_every_setting():
    outcome = throttlescope("whatif", "--help")
    assert outcome.code == 0
    text = " ".join(outcome.out.split())
    assert [key for key in KEYS if key not in text] == []


# Plots


def test_plot_shows_recorded_replayed_and_forecasts(lake, tmp_path):
    to = tmp_path / "plot.html"
    run_whatif(lake, "--set", "subscription.msg=1200", "--set", "processing_ms=2", "--plot", to)
    page = to.read_text(encoding="utf-8")
    assert "<script src=" not in page
    drawn = re.sub(r"\\u(\w{4})", lambda code: chr(int(code[1], 16)), page.split("Plotly.newPlot")[-1])
    drawn = drawn.replace("\N{NO-BREAK SPACE}", " ")
    for words in (
        "What if subscription.msg is 1,200 msg/s instead of 500 msg/s",
        f"{SELECTOR} on prod",
        '"recorded"', '"replayed"', '"as it is"', "changed, best to worst", "as it is, best to worst",
        "changed: drained after ",
        "08:15:00 UTC: from here on simulated",
        "UTC, 2026-11-20",
        "backlog, entries",
    ):  # fmt: skip
        assert words in drawn, words
    again = tmp_path / "again.html"
    run_whatif(lake, "--set", "subscription.msg=1200", "--set", "processing_ms=2", "--plot", again)
    assert again.read_bytes() == to.read_bytes()


def test_plot_without_likely_forecast_shows_range(lake, tmp_path):
    to = tmp_path / "plot.html"
    run_whatif(lake, "--set", "subscription.msg=none", "--plot", to)
    drawn = to.read_text(encoding="utf-8").split("Plotly.newPlot")[-1]
    assert "changed, best to worst" in drawn
    assert '"name":"changed"' not in drawn


@pytest.mark.browser
@needs_chromium
def test_png_shows_the_whole_figure(lake, tmp_path):
    to = tmp_path / "plot.png"
    run_whatif(lake, "--set", "subscription.msg=1200", "--plot", to)
    content = to.read_bytes()
    assert content.startswith(b"\x89PNG")
    assert int.from_bytes(content[16:20], "big") > 1000
    assert len(content) > 20_000


# Bad input


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--set", "subscription.msg"), "Unknown setting; got subscription.msg; expected KEY=VALUE"),
        (("--set", "subscription.mgs=5"), "did you mean subscription.msg?"),
        (("--set", "consumers=4", "--set", "consumers=5"), "consumers is set twice"),
        (("--set", "topic.msg=-5"), "topic.msg: invalid value; got -5; expected a whole number from 1"),
        (("--at", "yesterday"), "A time cannot be read; got 'yesterday'"),
        (("--at", "2026-11-20T06:00:00Z"), "Too few samples"),
        (("--window", "soon"), "--window: not a duration; got soon; expected such as 90s, 30m or 24h"),
        (("--window", "0s"), "--window: not a duration; got 0s"),
        (("--history", ""), "--history: not a duration; got nothing"),
        (("--window", "2h", "--history", "1h"), "--history: shorter than the window; got 1h; expected at least 2h"),
        (("--horizon", "32d"), "--horizon; got 32d; expected from 1s to 31d"),
        (("--horizon", "5ms"), "--horizon; got 5ms"),
        (("--window", "5s"), "Too few samples of persistent://acme/shop/orders#billing to replay; got 1 scrapes"),
        (("--drained-below", "-1"), "--drained-below"),
        (("--cluster", "other"), "is in no such cluster; got other; expected prod"),
        (("--plot", "plot.pdf"), "got plot.pdf; expected FILE.html or FILE.png"),
        (("--plot", "nowhere/plot.html"), "the folder is not there; got nowhere"),
        (("--format", "csv"), "--format"),
        (("--config", "nowhere.toml"), "nowhere.toml"),
    ],
)  # fmt: skip
def test_invalid_options_are_refused(lake, nothing_runs, options, words):
    outcome = throttlescope("whatif", "--lake", lake, "--subscription", SELECTOR, *options)
    assert (outcome.code, outcome.out) == (2, "")
    assert words in outcome.line
    assert outcome.line.startswith("throttlescope: ")


@pytest.mark.parametrize(
    ("subscription", "words"),
    [
        ("billing", "A subscription cannot be read; got billing; expected [persistent://]"),
        (f"{TOPIC}#biling", f"No backlog of this subscription is in the lake; got {TOPIC}#biling. Fix: did you mean {SELECTOR}?"),
    ],
)  # fmt: skip
def test_unknown_subscription_is_refused(lake, nothing_runs, subscription, words):
    outcome = throttlescope("whatif", "--lake", lake, "--subscription", subscription)
    assert (outcome.code, outcome.out) == (2, "")
    assert words in outcome.line


def test_empty_lake_or_missing_subscription_is_refused(tmp_path, nothing_runs):
    outcome = throttlescope("whatif", "--lake", tmp_path, "--subscription", SELECTOR)
    assert (outcome.code, outcome.out) == (2, "")
    assert "There are no samples in this lake" in outcome.line
    assert "Missing option '--subscription'" in throttlescope("whatif", "--lake", tmp_path).line


def test_inapplicable_change_is_refused(lake):
    outcome = throttlescope(
        "whatif", "--lake", lake, "--subscription", SELECTOR, "--set", "topic.period_s=5", "--quiet"
    )
    assert (outcome.code, outcome.out) == (2, "")
    assert "topic.period_s: there is no topic limit with a period" in outcome.line
