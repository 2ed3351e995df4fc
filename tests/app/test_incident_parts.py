"""The parts of an incident bundle alone: answers of the admin API, the time that advice may take, texts, and plots in one figure."""

from __future__ import annotations

import json
import sys
import time

import pytest

from throttlescope.app.incident.admin_answers import answers_of
from throttlescope.app.incident.advice import AdviceOutcome, within
from throttlescope.app.incident.markdown import fenced, inline, span
from throttlescope.app.incident.plots import stacked
from throttlescope.app.incident.remedies import deadline_text, forecast_text, nearest_loss
from throttlescope.app.incident.timeline import _policy
from throttlescope.app.presentation.blocks import Name, text
from throttlescope.app.presentation.figures.chart import chart, line
from throttlescope.models.recommendation.recommendation import gone_in

HOUR_MS = 3_600_000
TOPIC = "persistent://acme/shop/orders"


def answer(scope: str, observed_ms: int, body: object, key: str = TOPIC) -> dict:
    return {
        "scope": scope,
        "key": key,
        "broker": "b:8080",
        "observed_ms": observed_ms,
        "body": json.dumps(body),
    }


# -- answers of the admin API -------------------------------------------------------------------


def test_only_changed_answers_are_kept():
    rows = [answer("topic_dispatch_rate", i * 60_000, {"msg": 50 if i < 5 else 80}) for i in range(10)]
    found = answers_of(rows, 2 * 60_000, 9 * 60_000 + 1, brokers=())
    # The one known when the range began, the other one, and the newest.
    assert [(one.observed_ms // 60_000, one.body["msg"]) for one in found.stored] == [
        (2, 50),
        (5, 80),
        (9, 80),
    ]
    (change,) = found.changes
    assert (change.before_ms, change.at_ms, change.fields) == (240_000, 300_000, (("msg", 50, 80),))


def test_policy_set_and_removed_has_both_values():
    rows = [answer("topic_dispatch_rate", 0, None), answer("topic_dispatch_rate", 60_000, {"msg": 50})]
    (change,) = answers_of(rows, 0, HOUR_MS, brokers=()).changes
    words = inline(_policy(change).words)
    assert "before `not set`" in words
    assert 'after `{"msg": 50}`' in words
    assert "between 00:00:00 UTC and 00:01:00 UTC" in words


def test_large_change_counts_omitted_fields():
    before, after = ({f"setting{i}": value for i in range(10)} for value in (1, 2))
    rows = [
        answer("broker_configuration_runtime", i, body, "b:8080") for i, body in enumerate((before, after))
    ]
    (change,) = answers_of(rows, 0, HOUR_MS, brokers=("b:8080",)).changes
    assert (len(change.fields), change.left_out) == (6, 4)


def test_secrets_are_removed_from_answers():
    body = {
        "brokerClientAuthenticationParameters": "x", "bookkeeperMetadataServiceUri": "zk://user:hunter2@host/ledgers",
        "tlsKeyStorePassword": "hunter2", "inner": [{"secretKey": "hunter2"}], "maxUnackedMessagesPerConsumer": 50_000,
    }  # fmt: skip
    rows = [
        answer("broker_configuration_runtime", 0, body, "b:8080"),
        answer("namespace", 0, {"password": "hunter2"}),
    ]
    rows.append({**answer("namespace", 1, None), "body": '{"password": "hunter2"'})
    found = answers_of(rows, 0, HOUR_MS, brokers=("b:8080",))
    assert "hunter2" not in repr(found)
    assert found.stored[0].body["maxUnackedMessagesPerConsumer"] == 50_000


def test_many_unselected_brokers_are_left_out():
    rows = [answer("broker_version", 0, "4.1.0", f"b{i}:8080") for i in range(5)]
    assert answers_of(rows, 0, HOUR_MS, brokers=()).stored == []
    assert len(answers_of(rows[:2], 0, HOUR_MS, brokers=()).stored) == 2


# -- advice within a time -----------------------------------------------------------------------


def run(code: str, most_s: float = 60.0) -> AdviceOutcome:
    return within([sys.executable, "-c", code], {"question": 1}, most_s=most_s)


def test_time_limit_ends_the_process():
    began_s = time.monotonic()
    found = run("import time; time.sleep(600)", most_s=1)
    assert found == AdviceOutcome(None, "it took longer than 1 s", timed_out=True)
    assert time.monotonic() - began_s < 300


def test_broken_process_has_a_reason():
    assert run("raise SystemExit(3)") == AdviceOutcome(None, "its process ended with code 3")
    assert run("print('no JSON')").found is None


def test_process_result_is_returned():
    code = "import json, sys; json.dump({'found': json.load(sys.stdin), 'why_not': None}, sys.stdout)"
    assert run(code) == AdviceOutcome({"question": 1}, None)


# -- words --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("snake_case_name stays", "snake_case_name stays"),
        ("*bold* _it_ [l](u)", "\\*bold\\* \\_it\\_ \\[l\\](u)"),
        ("a -> b", "a -> b"),
        ("<b>&amp;", "\\<b>\\&amp;"),
        ("see http://evil.example", "see http:\\//evil.example"),
        ("1\N{NARROW NO-BREAK SPACE}000\N{NO-BREAK SPACE}msg", "1,000 msg"),
        ("line\nend", "line⟨U+000A⟩end"),
    ],
)
def test_markdown_text_is_escaped(words, shown):
    assert inline(text(words)) == shown


def test_backticks_do_not_end_code_spans():
    assert span("a`b") == "``a`b``"
    assert span("`") == "`` ` ``"
    assert fenced("```\nx").startswith("````")


def test_names_in_text_become_code():
    assert inline(text("topic ", Name("a*b"), ", next")) == "topic `a*b`, next"


FORECAST = {
    "kind": "ttl", "state": "expected", "made_at_ms": 0, "predicted_ms": HOUR_MS, "low_ms": HOUR_MS // 2, "high_ms": None,
}  # fmt: skip


def test_forecasts_have_intervals():
    expected = "Message TTL drops messages in 1 h, at 1970-01-01 01:00:00 UTC (90 % interval: 1970-01-01 00:30:00 to open)."
    assert forecast_text(FORECAST) == expected
    never = {**FORECAST, "kind": "drain", "state": "never", "low_ms": None}
    assert forecast_text(never) == "At the current rate the backlog will not drain."


def test_nearest_loss_is_an_expected_deadline():
    later = {**FORECAST, "kind": "quota_size", "predicted_ms": 2 * HOUR_MS}
    drain = {**FORECAST, "kind": "drain", "predicted_ms": 1}
    never = {**FORECAST, "kind": "quota_age", "state": "never", "predicted_ms": None}
    assert nearest_loss([drain, later, never, FORECAST]) is FORECAST
    assert nearest_loss([drain, never]) is None


def test_unread_deadlines_are_not_reported_as_unset():
    assert "is not known" in deadline_text(None)


@pytest.mark.parametrize(
    ("times", "words"),
    [
        ((None, None, None), None),
        ((60.0, None, None), "60 s at the earliest, if the consumers can take it"),
        ((1.0, None, None), "a time that depends on the consumers: their speed was not observed"),
        ((60.0, 70.0, None), "70 s (60 s at the earliest)"),
        ((60.0, 70.0, 80.0), "70 s (60 s to 80 s)"),
        ((60.0, 60.0, 60.0), "60 s"),
    ],
)
def test_drain_time_text_shows_its_range(times, words):
    found = gone_in(*times)
    assert (found and found.text) == words


# -- plots --------------------------------------------------------------------------------------


def plot(title: str, height_px: int, **more):
    import pandas as pd

    minutes = pd.DataFrame({"minute_ms": [0, 60_000]})
    traces = [line(minutes, pd.Series([1.0, 2.0]), f"{title} {i}", "#000", unit="x") for i in range(2)]
    return chart(traces, y_title=title, start_ms=0, end_ms=120_000, height_px=height_px, more=more or None)


def test_stacked_plots_share_only_time():
    note = {"text": "n", "x": 0.5, "xref": "paper", "y": 1.0, "yref": "y"}
    shape = {"type": "rect", "x0": 0, "x1": 1, "y0": 0, "y1": 1, "yref": "paper"}
    whole = stacked([plot("first", 210), plot("second", 270, annotations=[note], shapes=[shape])])
    assert [trace.yaxis for trace in whole.data] == ["y", "y", "y2", "y2"]
    assert [trace.name for trace in whole.data] == ["first 0", "first 1", "second 0", "second 1"]
    assert whole.layout.xaxis2.matches == "x"
    assert (whole.layout.yaxis.title.text, whole.layout.yaxis2.title.text) == ("first", "second")
    (upper, lower) = whole.layout.yaxis.domain, whole.layout.yaxis2.domain
    assert upper[0] > lower[1]
    assert 0 <= lower[0] < lower[1]
    assert upper[1] == 1
    (placed,), (drawn,) = whole.layout.annotations, whole.layout.shapes
    assert (placed.xref, placed.yref) == ("x2 domain", "y2")
    assert (drawn.xref, drawn.yref) == ("x2", "y2 domain")
    # Each keeps the height that it has alone.
    alone = plot("first", 210)
    inside = alone.layout.height - alone.layout.margin.t - alone.layout.margin.b
    drawn_px = whole.layout.height - whole.layout.margin.t - whole.layout.margin.b
    assert (upper[1] - upper[0]) * drawn_px == pytest.approx(inside)
