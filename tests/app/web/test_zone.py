"""Times in the reader's zone: what is printed moves, what is stored and linked does not."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from flask import Flask

from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation import time_zone
from throttlescope.app.presentation.figures.chart import chart, time_title
from throttlescope.ingest.core.times import parse_time

WINTER_MS = parse_time("2026-01-20T02:58:30Z", now_ms=0)
SUMMER_MS = parse_time("2026-07-20T23:30:00Z", now_ms=0)


@pytest.fixture
def request_in_zone():
    """A request of a browser that chose a zone."""
    app = Flask(__name__, root_path="/")

    def context(name: str):
        # A cookie's value is written as the browser's script writes it.
        return app.test_request_context(headers={"Cookie": f"{time_zone.COOKIE}={quote(name, safe='')}"})

    return context


def test_default_zone_is_utc(request_in_zone):
    assert fmt.moment(WINTER_MS) == "2026-01-20 02:58:30 UTC"
    with request_in_zone(""):
        assert fmt.moment(WINTER_MS) == "2026-01-20 02:58:30 UTC"
        assert time_zone.name() == "UTC"


@pytest.mark.parametrize(
    ("name", "winter", "summer"),
    [
        ("Europe/Berlin", "2026-01-20 03:58:30 UTC+01:00", "2026-07-21 01:30:00 UTC+02:00"),
        ("Asia/Kolkata", "2026-01-20 08:28:30 UTC+05:30", "2026-07-21 05:00:00 UTC+05:30"),
        (
            "America/New_York",
            "2026-01-19 21:58:30 UTC\N{MINUS SIGN}05:00",
            "2026-07-20 19:30:00 UTC\N{MINUS SIGN}04:00",
        ),
    ],
)
def test_zone_shifts_times_and_shows_offset(request_in_zone, name, winter, summer):
    with request_in_zone(name):
        assert (fmt.moment(WINTER_MS), fmt.moment(SUMMER_MS)) == (winter, summer)
        assert fmt.clock(WINTER_MS) == winter.split(" ", 1)[1]
        with time_zone.utc():
            assert fmt.moment(WINTER_MS) == "2026-01-20 02:58:30 UTC"
        assert fmt.moment(WINTER_MS) == winter


@pytest.mark.parametrize(
    "name", ["Nowhere/Land", "../../etc/passwd", "/etc", "Europe", "a" * 500, "%00", "<b>"]
)
def test_unknown_zone_falls_back_to_utc(request_in_zone, name):
    with request_in_zone(name):
        assert fmt.moment(WINTER_MS) == "2026-01-20 02:58:30 UTC"


def test_range_shows_its_zone_once(request_in_zone):
    """The day of its end is shown only where it differs."""
    later = WINTER_MS + 3_600_000
    assert fmt.between(WINTER_MS, later) == "2026-01-20 02:58:30 to 03:58:30 UTC"
    assert fmt.between(WINTER_MS, later, day=False) == "02:58:30 to 03:58:30 UTC"
    with request_in_zone("America/New_York"):
        assert fmt.between(SUMMER_MS, SUMMER_MS + 6 * 3_600_000) == (
            "2026-07-20 19:30:00 to 2026-07-21 01:30:00 UTC\N{MINUS SIGN}04:00"
        )


def test_chart_shifts_completely_with_zone(request_in_zone):
    import plotly.graph_objects as go

    def drawn():
        line = {"type": "line", "x0": SUMMER_MS - 30_000, "x1": SUMMER_MS - 30_000, "y0": 0, "y1": 1}
        bars = go.Bar(orientation="h", y=["a"], base=[SUMMER_MS - 60_000], x=[60_000])
        trace = go.Scatter(x=[SUMMER_MS - 60_000, SUMMER_MS], y=[1.0, 2.0])
        return chart(
            [trace, bars], y_title="", start_ms=SUMMER_MS - 60_000, end_ms=SUMMER_MS, more={"shapes": [line]}
        )

    plain = drawn()
    with request_in_zone("Europe/Berlin"):
        moved = drawn()
        assert time_title(SUMMER_MS - 60_000, SUMMER_MS) == "UTC+02:00, 2026-07-21"
    two_hours = 2 * 3_600_000
    assert moved.layout.meta["zone_offset_ms"] == two_hours
    assert plain.layout.meta["zone_offset_ms"] == 0
    assert [a - b for a, b in zip(moved.data[0].x, plain.data[0].x, strict=True)] == [two_hours] * 2
    assert moved.data[1].x == plain.data[1].x
    assert moved.data[1].base[0] - plain.data[1].base[0] == two_hours
    assert moved.layout.shapes[0].x0 - plain.layout.shapes[0].x0 == two_hours
    assert moved.layout.xaxis.range[1] - plain.layout.xaxis.range[1] == two_hours
