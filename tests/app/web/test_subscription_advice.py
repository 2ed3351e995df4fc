"""The smallest change, worked out when somebody asks: in words with its commands, not executed; or why there is none."""

from __future__ import annotations

import sys
import time

import pytest

from tests.app.web.components import find
from tests.app.web.sample_lake import START_MS
from tests.app.web.test_pages import address, read
from throttlescope.app.incident.advice import AdviceOutcome, within
from throttlescope.app.services.promql.concurrency import ConcurrencyLimit
from throttlescope.app.web.pages.subscription import advice
from throttlescope.app.web.pages.subscription import page as subscription
from throttlescope.app.web.pages.subscription.advice_text import advice as in_words
from throttlescope.app.web.pages.subscription.content import read_view
from throttlescope.app.web.pages.subscription.page_state import PageState, state_of
from throttlescope.ingest.core.times import MINUTE_MS

COMMAND = "pulsar-admin topicPolicies set-subscription-dispatch-rate persistent://shop/checkout/orders -s billing --msg-dispatch-rate 92"
ROLLBACK = COMMAND.replace("92", "50")


def span(low, high, likely=None) -> dict:
    return {"low": low, "likely": likely, "high": high}


def counterfactual(lever, limiter, entries, gain, earliest, latest, held_by) -> dict:
    return {
        "lever": lever,
        "limiter": limiter,
        "entries": entries,
        "gain_entries": gain,
        "earliest_drain_s": earliest,
        "latest_drain_s": latest,
        "held_by": held_by,
        "effect": "sooner",
    }


FOUND = {
    "cluster": "sample-east",
    "subscription": "persistent://shop/checkout/orders#billing",
    "at_ms": START_MS,
    "target_s": 1800,
    "backlog_entries": 214_000,
    "as_is_entries": span(267_000, 269_000),
    "primary": "limiter",
    "window_start_ms": START_MS - 1_800_000,
    "replay_error_share": 0.02,
    "is_far_off": False,
    "not_modelled": None,
    "is_drained": False,
    "counterfactuals": [
        counterfactual("limiter", "subscription.msg", span(0, 0), span(267_000, 269_000), 840, 1140, "consumers"),
        counterfactual("consumers", None, span(267_000, 269_000), span(0, 0), None, None, "subscription.msg"),
    ],
    "recommendations": [
        {
            "lever": "limit",
            "limiter": "subscription.msg",
            "now": 50,
            "value": 92,
            "actions": [
                {
                    "key": "advice.limit.raise",
                    "values": {"limiter": "subscription.msg", "now": [50, 1, "msg"], "value": [92, 1, "msg"]},
                }
            ],
            "change": "subscription.msg=92",
            "earliest_drain_s": 1200,
            "likely_drain_s": 1500,
            "latest_drain_s": 1800,
            "next_limiting_factor": "consumers",
            "apply": COMMAND,
            "roll_back": ROLLBACK,
            "risks": [{"key": "advice.risk.load_on_broker", "values": {"after": 92, "before": 50}}],
            "checks": [
                {
                    "query": 'sum(pulsar_subscription_back_log{subscription="billing"})',
                    "expected": {"key": "advice.check.backlog_falls", "values": {}},
                }
            ],
        }
    ],
    "not_helping": [{"key": "advice.no_help.consumers", "values": {"factor": "subscription.msg"}}],
    "executed": False,
    "notes": [],
}  # fmt: skip


def test_command_and_rollback_are_marked_not_executed():
    tree = in_words(FOUND)
    copied = [button.value for button in find(tree, "CopyButton")]
    assert copied[:2] == [COMMAND, ROLLBACK]
    assert [read(part) for part in find(tree, "Pre")] == [COMMAND, ROLLBACK]
    assert read(tree).count("not executed") == 3


def test_advice_shows_risks_and_checks():
    """And what will not help."""
    said = read(in_words(FOUND))
    assert "1. Raise the subscription message limit from 50 msg/s to 92 msg/s." in said
    assert "Gone in: 25 min (20 min to 30 min) · Then limited by: the consumers" in said
    assert "reads and sends 92 msg/s instead of 50" in said
    assert "How to verify" in said
    assert "What will not help Adding consumers will not help" in said
    assert "Counterfactuals: A limiter is the limiting factor: lifting it drains most." in said
    assert "the subscription message limit 0 267 k to 269 k 14 min to 19 min the consumers" in said
    assert (
        "the processing time of the consumers 267 k to 269 k 0 not by then the subscription message limit"
        in said
    )


def test_advice_without_solution_is_explained():
    assert "drains it within 30 min." in read(in_words(FOUND | {"recommendations": []}))


def test_drained_backlog_needs_no_change():
    nothing = {"recommendations": [], "not_helping": [], "is_drained": True}
    assert "There is no backlog to drain at this moment." in read(in_words(FOUND | nothing))


def test_nothing_is_recommended_from_an_inaccurate_replay():
    nothing = {"recommendations": [], "not_helping": [], "counterfactuals": [], "primary": None}
    said = read(in_words(FOUND | nothing | {"replay_error_share": 0.5, "is_far_off": True}))
    assert "No change is recommended, because the replay is too far from what was recorded." in said
    assert "the replay of the last 30 min misses the recorded backlog by 50.0 % of its peak" in said
    assert "too far" not in read(in_words(FOUND))


def test_command_is_shown_as_text():
    hostile = FOUND["recommendations"][0] | {"apply": "pulsar-admin 'a</code><script>b\u202e'"}
    tree = in_words(FOUND | {"recommendations": [hostile]})
    assert "⟨U+202E⟩" in read(find(tree, "Pre")[0])
    assert find(tree, "CopyButton")[0].value.endswith("\u202e'"), "copied as it is"


@pytest.mark.long
def test_advice_is_shown_for_its_window(reader):
    data = state_of(read_view(reader, address("billing")))
    stored = {"of": PageState.of(data).answer_key, "found": FOUND, "why_not": None}
    assert "The smallest change" in read(advice.advice_of(stored, data))
    other = state_of(read_view(reader, address("billing", at_ms=START_MS + 90 * MINUTE_MS)))
    assert advice.advice_of(stored, other) is None
    assert advice.advice_of(None, data) is None


@pytest.mark.long
def test_timeout_suggests_trying_again(reader):
    data = state_of(read_view(reader, address("billing")))
    why = {
        "of": PageState.of(data).answer_key,
        "found": None,
        "why_not": "it took longer than 45 s",
        "timed_out": True,
    }
    said = read(advice.advice_of(why, data))
    assert "could not be computed: it took longer than 45 s." in said
    assert "try again" in said


@pytest.mark.long
def test_healthy_subscription_has_no_advice_button(reader):
    def labels(name, **parts):
        tree = subscription.page(read_view(reader, address(name, **parts)))
        texts = [button.children for button in find(tree, "Button")]
        # Those of charts have pictures (names of the key) or save one.
        return [text for text in texts if isinstance(text, str) and text not in ("PNG", "SVG")]

    assert labels("billing") == ["Find the smallest change", "Diagnose now", "What is in it"]
    assert labels("audit") == ["Diagnose now", "What is in it"]


@pytest.mark.long
def test_worker_computes_one_advice_at_once(reader, monkeypatch):
    data, concurrency = (
        state_of(read_view(reader, address("billing"))),
        ConcurrencyLimit(running=1, waiting=0),
    )
    requests = []
    monkeypatch.setattr(
        advice, "advice_within", lambda *parts, **_: requests.append(parts) or AdviceOutcome(FOUND, None)
    )
    assert advice.compute_advice(reader, concurrency, data)["found"] is FOUND
    (lake, question, at_ms) = requests[0]
    assert lake == reader.lake_path
    assert question.subscription == "persistent://shop/checkout/orders#billing"
    assert (question.cluster, at_ms) == ("sample-east", data["window_ms"][1])
    with concurrency.slot(1):
        assert "try again in a moment" in advice.compute_advice(reader, concurrency, data)["why_not"]
    assert "does not say" in advice.compute_advice(reader, concurrency, {})["why_not"]


@pytest.mark.long
def test_lake_without_samples_is_explained(reader):
    data, concurrency = (
        state_of(read_view(reader, address("billing"))),
        ConcurrencyLimit(running=1, waiting=0),
    )
    found = advice.compute_advice(reader, concurrency, data)
    assert found["found"] is None
    assert "Traceback" not in found["why_not"]
    assert "could not be computed" in read(advice.advice_of(found, data))


@pytest.mark.long
def test_cancelled_or_late_work_is_ended():
    began = time.monotonic()
    program = [sys.executable, "-c", "import sys, time; sys.stdin.read(); time.sleep(600)"]
    assert within(program, {"a": 1}, most_s=500, cancelled=lambda: True).why_not == "it was cancelled"
    assert within(program, {"a": 1}, most_s=1.0).why_not == "it took longer than 1 s"
    assert time.monotonic() - began < 250


@pytest.mark.long
def test_slow_work_returns_whole_answer():
    program = [
        sys.executable,
        "-c",
        "import sys, json, time; n = len(sys.stdin.read()); time.sleep(1.3); json.dump({'found': {'n': n, 'x': 'y' * 300000}, 'why_not': None}, sys.stdout)",
    ]
    found = within(program, {"a": "b" * 200_000}, most_s=60).found
    assert found["n"] == len('{"a": ""}') + 200_000
    assert len(found["x"]) == 300_000
