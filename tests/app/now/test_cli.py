"""``throttlescope now`` as it is typed: what it prints, where it finds its sources, and how it refuses."""

from __future__ import annotations

import json

import pytest

from tests.app.commands import throttlescope
from tests.app.http_server import answering, html
from tests.app.now.recorded import Recorded
from throttlescope.models.diagnosis.verdict import RULES_VERSION

NAME = "slow-one-of-three"


@pytest.fixture
def recorded(monkeypatch) -> Recorded:
    found = Recorded(NAME)
    found.take_the_place_of_the_sources(monkeypatch, found.said(found.state("first")[1]))
    return found


def run_now(recorded: Recorded, *more: object):
    return throttlescope(
        "now",
        "--topic",
        recorded.topic,
        "--end",
        recorded.state("first")[1] / 1000,
        "--deadline",
        "300s",
        *more,
    )


SOURCES = ("--prometheus", "http://127.0.0.1:9", "--pulsar-admin", "http://127.0.0.1:9")


@pytest.mark.long
def test_page_shows_cause_evidence_and_slow_consumer(recorded):
    outcome = run_now(recorded, *SOURCES)
    assert (outcome.code, outcome.err) == (0, "")
    for words in (
        f"lab/{NAME}/orders#billing: slow_consumers",
        "why ",
        "for ",
        "1 of 3 consumers is slow",
        "Times are UTC",
    ):
        assert words in outcome.out


@pytest.mark.long
def test_json_is_one_document(recorded):
    answer = json.loads(run_now(recorded, *SOURCES, "--format", "json").out)
    (row,) = answer["verdicts"]
    assert (row["cause"], row["rules_version"]) == ("slow_consumers", RULES_VERSION)
    (slow,) = answer["slowest"]
    assert (slow["slow"], slow["of"]) == (1, 3)
    assert answer["partitions"][0]["worst_partition"] == -1
    assert answer["samples"] > 0
    assert {row["set_by"] for row in answer["limits"] if row["level"] == "subscription"} == {
        "subscription_policy"
    }


@pytest.mark.long
def test_cluster_is_selected_from_configuration(recorded, tmp_path):
    file = tmp_path / "throttlescope.toml"
    file.write_text(
        '[clusters.a.prometheus]\nurl = "http://127.0.0.1:9"\n[clusters.b.prometheus]\nurl = "http://127.0.0.1:9"\n'
    )
    both = run_now(recorded, "--config", file)
    assert (both.code, "One cluster is diagnosed at a time" in both.line) == (2, True)
    one = run_now(recorded, "--config", file, "--cluster", "b")
    assert one.code == 0
    assert "Note: Limits are unknown: no admin API was named" in one.out
    unknown = run_now(recorded, "--config", file, "--cluster", "c")
    assert (unknown.code, "names no cluster" in unknown.line) == (2, True)


@pytest.mark.long
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "One topic is diagnosed at a time"),
        (
            ("--topic", "persistent://a/b/c", "--subscription", "persistent://a/b/c#s"),
            "One topic is diagnosed at a time",
        ),
        (("--topic", "orders", *SOURCES), "A topic cannot be read"),
        (("--subscription", "orders", *SOURCES), "A subscription cannot be read"),
        (("--topic", "persistent://a/b/c", "--for", "1m", *SOURCES), "too short or too long"),
        (("--topic", "persistent://a/b/c", "--deadline", "soon", *SOURCES), "A duration cannot be read"),
        (("--topic", "persistent://a/b/c"), "no Prometheus to read"),
    ],
)
def test_invalid_arguments_are_refused(arguments, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    outcome = throttlescope("now", *arguments)
    assert (outcome.code, words in outcome.line) == (2, True)


@pytest.mark.long
def test_non_prometheus_source_is_unreachable():
    with answering(html) as url:
        outcome = throttlescope("now", "--topic", "persistent://a/b/c", "--prometheus", url)
    assert outcome.code == 4
    gone = throttlescope("now", "--topic", "persistent://a/b/c", "--prometheus", url)
    assert gone.code == 4
