"""The What-if lab without a browser: what it shows of a window whose truth is known, and of addresses that make no sense."""

import json
from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest

from tests.app.web.components import find, text_of, walk
from tests.app.web.lab_lake import ADDRESS, BILLING, END_MS, write_lab_lake
from throttlescope.app.presentation.figures.what_if import bounds, corners
from throttlescope.app.presentation.whatif import main
from throttlescope.app.services.whatif import warm
from throttlescope.app.services.whatif.scales import scales
from throttlescope.app.web.address.what_if import WhatIfAddress
from throttlescope.app.web.data.reader import LakeReader
from throttlescope.app.web.data.what_if import Windows
from throttlescope.app.web.pages.what_if import page, run_text
from throttlescope.app.web.pages.what_if import subscription_search as search_box
from throttlescope.app.web.pages.what_if.command import commands_of
from throttlescope.app.web.pages.what_if.controls import STEPS, position
from throttlescope.app.web.pages.what_if.curves import figure, with_gaps
from throttlescope.app.web.pages.what_if.replayed_runs import read_view
from throttlescope.models.throttling.replay import parse_change, replay

pytestmark = pytest.mark.long

HELPED = replace(ADDRESS, runs=("subscription.msg=1200 processing_ms=2", "consumers=8"))


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    warm.now()
    return write_lab_lake(tmp_path_factory.mktemp("lab") / "lake").root


@pytest.fixture(scope="module")
def windows(lake):
    return Windows(lake)


def query(address: WhatIfAddress) -> str:
    return urlsplit(address.href()).query


def plain(tree) -> str:
    return " ".join(
        text_of(tree).replace("\N{NO-BREAK SPACE}", " ").replace("\N{NARROW NO-BREAK SPACE}", " ").split()
    )


def run_parts(windows, address) -> list:
    """Figure, bar, error, table, command, how sure."""
    return page._runs(windows, query(address))


# What is shown


def test_runs_are_compared_with_their_limiting_factors(windows):
    view = read_view(windows, HELPED)
    as_is, helped, more = (
        main(answer.changed) for answer in (view.as_is, view.runs[0].answer, view.runs[1].answer)
    )
    assert (as_is.drain_s, as_is.held_by) == (None, "subscription.msg")
    assert helped.drain_s is not None
    assert more.drain_s is None
    said = plain(run_parts(windows, HELPED)[3])
    assert "subscription.msg is 1 200 msg per 1 s instead of 500 msg per 1 s" in said
    assert "8 consumers are connected instead of 4" in said
    assert "the subscription message limit of 500 msg per 1 s" in said
    assert "not within 1 h, grows by" in said


def test_run_matches_the_simulator(windows):
    view = read_view(windows, HELPED)
    exact = replay(
        view.window.ground.observed, view.runs[0].change, ground=view.window.ground, horizon_s=3600,
        drained_below_entries=view.window.drained_below_entries,
    )  # fmt: skip
    assert view.runs[0].answer.changed.fitted.drain_s == pytest.approx(
        exact.changed.fitted.drain_s, rel=0.05, abs=5
    )


def test_figure_has_recording_replay_and_bands(windows):
    drawn = figure(read_view(windows, HELPED))
    names = [trace.name for trace in drawn.data]
    assert [name for name in names if name] == [
        "as it is", "A", "B", "recorded", "replayed as it was", "A",
    ]  # fmt: skip
    recorded = next(trace for trace in drawn.data if trace.name == "recorded")
    observed = windows.of(HELPED).ground.observed
    assert recorded.y[-1] == observed.backlog_entries[-1]
    assert {mark.text for mark in drawn.layout.annotations} >= {"<b>as it is</b>", "<b>A</b>", "<b>B</b>"}
    assert len(json.dumps(drawn.to_plotly_json(), default=str)) < 150_000
    past = figure(read_view(windows, replace(HELPED, when="start")))
    assert past.layout.xaxis.range[1] == observed.times_ms[-1]


def test_replay_error_is_shown(windows):
    _, bar, error, _, _, sure = run_parts(windows, HELPED)
    assert "The replay misses the recorded backlog of this window by" in plain(error)
    assert "data up to 2026-11-20 08:15:00 UTC" in plain(bar)
    assert "consumers were never observed at their limit" in plain(
        run_parts(windows, replace(HELPED, chosen=1))[5]
    )
    assert "--" not in plain(sure)


def test_replay_can_start_with_the_window(windows):
    said = plain(run_parts(windows, replace(HELPED, when="start"))[3])
    assert "what would have happened in the window" in said
    assert "Gone after" in said


def test_command_repeats_whole_limit_with_rollback(windows):
    command = run_parts(windows, HELPED)[4]
    said = plain(command)
    assert "not executed" in said
    assert "-md 1200 -bd -1 -dt 1" in said
    copied = [button.value for button in find(command, "CopyButton")]
    assert copied == [
        one
        for line in commands_of(windows.of(HELPED).ground.observed, parse_change(["subscription.msg=1200"]))
        for one in (line.do, line.undo)
    ]
    assert "no command of Pulsar does that" in plain(run_parts(windows, replace(HELPED, chosen=1))[4])
    assert "This run has no change yet" in plain(run_parts(windows, ADDRESS)[4])


def test_links_carry_runs_and_absolute_times(windows):
    _, bar, _, table, *_ = run_parts(windows, HELPED)
    links = [link.href for part in (bar, table) for link in find(part, "Link")]
    assert len(links) > 8
    for href in links:
        found = WhatIfAddress.parse(urlsplit(href).query)
        assert found.subscription == BILLING
        assert None not in (found.start_ms, found.end_ms)
        assert "subscription.msg=1200 processing_ms=2" in found.runs or "consumers=8" in found.runs
    assert len(find(table, "Link", className="what-if-add")) == 1
    full = replace(ADDRESS, runs=("load=1", "load=2", "load=3", "load=4"))
    assert find(run_parts(windows, full)[3], "Link", className="what-if-add") == []


def test_address_without_times_shows_newest_half_hour(windows):
    place, absolute, is_done = page._place(windows, query(WhatIfAddress(BILLING)))
    found = WhatIfAddress.parse(urlsplit(absolute).query)
    assert (found.start_ms, found.end_ms) == (END_MS - 1_800_000, END_MS)
    assert is_done
    assert "Simulated: nothing is executed." in plain(place)
    assert page._place(windows, query(ADDRESS))[1] is page.no_update


def test_controls_show_the_runs_values(windows):
    place, *_ = page._place(windows, query(HELPED))
    fields = {part.id["key"]: part.value for part in walk(place) if type(part).__name__ == "TextInput"}
    assert fields["subscription.msg"] == "1200"
    assert fields["consumers"] == ""
    assert set(fields) == set(run_text.lever_labels())
    known = scales(windows.of(HELPED).ground)
    sliders = {part.id["key"]: part.value for part in walk(place) if type(part).__name__ == "Slider"}
    assert sliders["subscription.msg"] == position(known["subscription.msg"], 1200)
    assert sliders["consumers"] == position(known["consumers"], 4)
    assert sliders["topic.msg"] == STEPS + 1, "no limit is the slider's end"
    assert all(part.thumbLabel for part in walk(place) if type(part).__name__ == "Slider")


def test_window_is_read_once(lake, monkeypatch):
    """Few windows are cached."""
    few, counted = Windows(lake, most=2), []
    read = few._read
    monkeypatch.setattr(few, "_read", lambda address: counted.append(1) or read(address))
    others = [replace(ADDRESS, start_ms=ADDRESS.start_ms + 1000 * number) for number in range(3)]
    assert few.of(others[0]) is few.of(others[0])
    assert len(counted) == 1
    for address in others:
        few.of(address)
    assert len(few._cached) == 2


# What makes no sense


@pytest.mark.parametrize(
    ("run", "accepted"),
    [
        ("subscription.msg=-5", "a whole number from 1 to 10000000000"),
        ("subscription.msg=abc", "a whole number"),
        ("subscription.msg=1e30", "a whole number"),
        ("load=nan", "a number from 0 to 1000"),
        ("consumers=2.5", "a whole number from 0 to 10000"),
        ("<script>alert(1)</script>=1", "KEY=VALUE with one of"),
        ("topic.period_s=10", "Next: set topic.msg=N or topic.bytes=N too"),
        ("load=2 rate_msg=5", "one of them"),
    ],
)
def test_invalid_run_is_explained_others_run(windows, run, accepted):
    view = replace(ADDRESS, runs=(run, "subscription.msg=1200"))
    _, _, _, table, command, _ = run_parts(windows, view)
    said = plain(table)
    assert "Run A was not run." in said
    assert accepted in said
    assert "--set" not in said
    assert "subscription.msg is 1 200 msg per 1 s instead of 500" in said
    assert "This run was not run." in plain(command)


def test_extreme_load_is_replayed(windows):
    said = plain(run_parts(windows, replace(ADDRESS, runs=("load=1000", "rate_msg=10000000")))[3])
    assert "not run" not in said


@pytest.mark.parametrize(
    ("address", "words"),
    [
        (replace(ADDRESS, start_ms=END_MS + 3_600_000, end_ms=END_MS + 7_200_000), "Too few samples"),
        (replace(ADDRESS, subscription=replace(BILLING, subscription="gone")), "No backlog of this subscription is in the lake"),
        (replace(ADDRESS, subscription=replace(BILLING, subscription="biling")), "did you mean persistent://acme/shop/orders#billing?"),
        (replace(ADDRESS, subscription=replace(BILLING, cluster="elsewhere")), "is in no such cluster"),
        (replace(ADDRESS, subscription=replace(BILLING, topic="no topic")), "A subscription cannot be read"),
    ],
    ids=["no data", "gone", "misspelt", "other cluster", "no topic"],
)  # fmt: skip
def test_missing_subscription_or_data_is_explained(windows, address, words):
    place, *_ = page._place(windows, query(address))
    assert words in plain(place)
    assert words in plain(run_parts(windows, address)[3])


def test_too_many_runs_are_explained(windows):
    for part in (
        page._place(windows, "&".join(["run=a"] * 10_000))[0],
        page._runs(windows, "&".join(["run=a"] * 10_000))[3],
    ):
        assert "The address has too many parts" in plain(part)


def test_lake_without_samples_is_explained(sample_lake):
    place, *_ = page._place(Windows(sample_lake), query(ADDRESS))
    said = plain(place)
    assert "There are no samples in this lake" in said
    assert "A replay needs samples as they were scraped" in said
    assert "Show the newest half hour" in said


def test_empty_lake_is_explained(tmp_path):
    assert "No verdicts yet." in plain(search_box.found(LakeReader(tmp_path), ""))


def test_search_box_finds_subscriptions(reader, sample_lake):
    """Names with markup stay text."""
    place, *_ = page._place(Windows(sample_lake), "")
    assert "Which subscription?" in [part.label for part in find(place, "TextInput")]
    found = search_box.found(reader, "onerror")
    links = find(found, "Link")
    assert len(links) == 1
    target = parse_qs(urlsplit(links[0].href).query)
    assert "<img" in target["subscription"][0]
    assert "<" not in links[0].href
    assert "No subscription has these words." in plain(search_box.found(reader, "nobody is called so"))


def test_loading_simulator_is_reported(windows, monkeypatch):
    monkeypatch.setattr(warm, "is_warm", lambda: False)
    monkeypatch.setattr(warm, "begin", lambda: None)
    place, _, is_done = page._place(windows, query(ADDRESS))
    assert not is_done
    assert "Warming up" in plain(place)


# Fewer points


def test_reduced_band_contains_the_original():
    random = np.random.default_rng(3)
    low = random.normal(0, 1, 5_000)
    high = low + random.random(5_000)
    times, least, most = bounds(np.arange(5_000), low, high, 100)
    assert len(times) == 100
    for at, (first, last) in enumerate(zip(range(0, 5_000, 50), range(50, 5_050, 50), strict=True)):
        assert least[at] == low[first:last].min()
        assert most[at] == high[first:last].max()


def test_straight_curve_is_reduced_to_corners():
    """A spike is a corner."""
    times = np.arange(0, 1_000_000, 1_000)
    values = np.maximum(0.0, 50_000 - 100.0 * np.arange(1000))
    values[900] = 700.0
    at = corners(times, values)
    assert at[0] == 0
    assert at[-1] == 999
    assert {500, 900} <= set(at.tolist())
    assert len(at) < 12
    assert np.abs(np.interp(times, times[at], values[at]) - values).max() <= 0.0005 * 50_000
    assert corners(times, np.random.default_rng(1).random(1000)) is None


def test_scrape_gap_breaks_the_line(windows):
    observed = windows.of(ADDRESS).ground.observed
    begins, ends = (int(observed.times_ms[at]) for at in (10, 11))
    times, values = with_gaps(replace(observed, gaps=[(begins, ends)]))
    assert len(times) == len(observed.times_ms) + 1
    assert np.flatnonzero(np.isnan(values)).tolist() == [11]
    assert (times[10], times[11], times[12]) == (begins, begins + 1, ends)
    assert len(with_gaps(observed)[0]) == len(observed.times_ms)
