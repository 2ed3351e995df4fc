"""Evidence with its measurement as a picture and its query one click away, and how often such verdicts were right."""

from __future__ import annotations

import base64
import xml.etree.ElementTree as ElementTree
from urllib.parse import urlsplit

import numpy as np
import pytest

from tests.app.web.components import find
from tests.app.web.sample_lake import END_MS, HOSTILE_NAME, START_MS
from tests.app.web.test_limits import minutes as signal_minutes
from tests.app.web.test_pages import address, read
from throttlescope.app.presentation.figures.sparkline import HEIGHT_PX, WIDTH_PX, sparkline
from throttlescope.app.web.address.promql import PromqlAddress
from throttlescope.app.web.pages.subscription.accuracy import accuracy_line
from throttlescope.app.web.pages.subscription.content import COLUMNS, read_view
from throttlescope.app.web.pages.subscription.evidence import evidence
from throttlescope.app.web.pages.subscription.symptom_series import _COLUMNS, series_of
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.times import MINUTE_MS
from throttlescope.models.diagnosis.symptoms import SYMPTOMS
from throttlescope.models.evaluation.measured import measured


def svg(source: str) -> ElementTree.Element:
    return ElementTree.fromstring(base64.b64decode(source.partition(",")[2]))  # noqa: S314 - our own


def picture(values, **more) -> str | None:
    times = np.arange(len(values)) * MINUTE_MS + MINUTE_MS
    options = {"start_ms": 0, "end_ms": len(values) * MINUTE_MS, "window_ms": (0, MINUTE_MS)} | more
    return sparkline(times, np.array(values, dtype=float), **options)


@pytest.mark.long
def test_evidence_row_has_described_sparkline(reader):
    tree = evidence(read_view(reader, address("billing")))
    pictures = {
        part.alt.split(":")[0]: part.alt.replace("\N{NO-BREAK SPACE}", " ") for part in find(tree, "Img")
    }
    assert pictures["permits_min"] == "permits_min: always 400 msg, 400 msg at its end"
    assert {part.width for part in find(tree, "Img")} == {WIDTH_PX}


@pytest.mark.long
def test_query_opens_in_console_over_page_range(reader):
    tree = evidence(read_view(reader, address("billing")))
    opened = PromqlAddress.parse(urlsplit(find(tree, "Link")[0].href).query)
    assert opened.query.startswith("sum by (topic, subscription) (rate(pulsar_out_messages_total{")
    assert (opened.start_ms, opened.end_ms, opened.tab) == (START_MS, END_MS, "graph")


@pytest.mark.long
def test_sparkline_contains_only_paths(reader):
    for part in find(evidence(read_view(reader, address(HOSTILE_NAME))), "Img"):
        root = svg(part.src)
        assert {child.tag.partition("}")[2] for child in root.iter()} == {"svg", "path"}
        assert not any((child.text or "").strip() for child in root.iter())


def test_sparkline_keeps_gaps_and_spikes():
    line = svg(picture([1.0, 2.0, np.nan, 3.0]))[-1].get("d")
    assert line.count("M") == 2
    values = np.ones(5000)
    values[2500] = 50.0
    ys = [
        float(point.split(" ")[1])
        for point in svg(picture(values))[-1].get("d").replace("L", "M").split("M")[1:]
    ]
    assert min(ys) == 2.5, "the spike reaches the top"
    assert len(ys) <= WIDTH_PX + 2
    assert max(ys) <= HEIGHT_PX


def test_sparkline_needs_known_values():
    """Zero is a known value."""
    assert picture([np.nan, np.nan]) is None
    assert picture([0.0, 0.0]) is not None


def test_threshold_is_drawn_where_it_fits():
    """Where it does not flatten the line."""
    assert len(svg(picture([5.0, 9.0], threshold=8.0))) == 3
    assert len(svg(picture([5.0, 9.0], threshold=800.0))) == 2


def test_every_symptom_has_known_column_or_none():
    columns = {column.name for column in TABLES["signals"].columns}
    assert {column for column, _ in _COLUMNS.values()} <= columns
    assert set(_COLUMNS) <= set(SYMPTOMS)


@pytest.mark.parametrize(
    ("rate", "words"),
    [(50, "events of the topic limit, which prove nothing"), (500, "events of the topic limit")],
)
def test_events_say_whether_they_prove_anything(rate, words):
    frame = signal_minutes(
        {"throttled_msg_events_topic_delta": 7.0, "limit_topic_msg": rate, "limit_topic_period_s": 1}
    )
    query = 'increase(pulsar_subscription_dispatch_throttled_msg_events{topic="t",reason="topic"}[5m])'
    values, unit, said = series_of({"symptom": "throttle_events", "promql": query}, frame, None)
    assert (list(values), unit, said) == ([7.0], "events/min", words)


def test_use_follows_the_verdicts_limiter():
    frame = signal_minutes({"rho_topic_msg": 0.4, "rho_subscription_bytes": 0.9})
    row = {"symptom": "limiter_at_limit"}
    assert list(series_of(row, frame, "topic.msg")[0]) == [0.4]
    assert list(series_of(row, frame, None)[0]) == [0.9]


def test_symptom_without_column_has_no_sparkline():
    assert series_of({"symptom": "rule", "unit": None}, signal_minutes({}), None) is None


def test_accuracy_line_shows_measured_figures():
    known = measured()
    right = known["sets"]["kept aside"]["cause_right_when_answered"]
    said = read(accuracy_line({"rules_version": known["rules_version"], "cause": "throttled"}))
    assert f"rules {known['rules_version']} named the right cause in" in said
    assert f"of {right['of']} windows" in said
    throttled = known["sets"]["kept aside"]["causes"]["throttled"]
    assert f"Throttled: F1 {throttled['f1']:.2f} in {throttled['windows']} windows" in said
    other = read(accuracy_line({"rules_version": "0-sample", "cause": "throttled"}))
    assert other.startswith("How often rules 0-sample are right was not measured.")
    rare = read(accuracy_line({"rules_version": known["rules_version"], "cause": "topic_moved"}))
    assert "none of them was Topic moved." in rare


#: Symptoms that no column of the minutes shows by itself: they compare several, or speak of limits, which have charts of their own.
WITHOUT_SERIES = {
    "connection_paused", "dispatch_below_before", "dispatch_contention", "limit_changed", "limit_not_in_force", "limit_observed_later",
    "limiter_at_limit", "limits_far", "limits_old", "parent_segments", "permits_lost", "remote_pauses", "remote_quota_full",
    "replication_markers", "replicator_disconnected", "rule", "sends_nothing", "sends_wait", "served_twice", "storage_faster",
    "successors_read", "throttle_events", "unacked_negative", "unacked_steady", "unanswered",
}  # fmt: skip


def test_every_symptom_has_its_small_chart_or_none_on_purpose():
    assert set(SYMPTOMS) == set(_COLUMNS) | WITHOUT_SERIES
    assert not set(_COLUMNS) & WITHOUT_SERIES
    assert {column for column, _ in _COLUMNS.values()} <= set(COLUMNS)
