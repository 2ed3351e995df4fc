"""Diagnosis of one topic in this process: whole recordings of a real broker, notes, errors and the deadline."""

from __future__ import annotations

import time

import pyarrow as pa
import pytest

from tests.app.now.recorded import Recorded, settings
from throttlescope.app.cli.tables.now import print_now
from throttlescope.app.presentation.output import write_json
from throttlescope.app.services.diagnose_now import (
    CancelledError,
    Deadline,
    NowQuestion,
    diagnose,
    diagnose_now,
)
from throttlescope.app.services.diagnose_now.now_document import document
from throttlescope.app.services.diagnose_now.sources import Sources
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.errors import InputError, SourceError
from throttlescope.ingest.core.times import BLOCK_MS, MINUTE_MS
from throttlescope.models.diagnosis.apply import verdicts_of
from throttlescope.models.messages.catalogue import sentence
from throttlescope.transforms.broker_use import signals_of
from throttlescope.transforms.limits import effective_limits
from throttlescope.transforms.minutes import minute_rows
from throttlescope.transforms.promql.source import MemorySource

PATIENT = 300.0

#: Every kind of limit, and causes that are none; two of several partitions.
NAMES = (
    "partition-hot-msg", "partition-hot-bytes", "broker-msg-limit-1-1", "topic-bytes-limit-1-1", "slow-one-of-three", "both-msg",
    "no-consumers-1-1", "unacked-hang", "topic-unload-1-1",
)  # fmt: skip


def verdicts_of_everything(recorded: Recorded, until_ms: int, start_ms: int, end_ms: int) -> list[dict]:
    """The slow twin: every series of the recording goes through, as in a run, and the topic's verdicts are picked out."""
    recording = recorded.recording
    admin_data = recorded.said(until_ms)
    stats = admin_data.topic_stats.to_pylist()
    limits = pa.Table.from_pylist(
        effective_limits(admin_data.policies, stats), schema=TABLES["limits"].loose_schema
    )
    first, last = recording.start_ms, recording.end_ms
    newest = {recording.name: last - 1}
    minutes = minute_rows(
        MemorySource(recorded.series()),
        limits,
        admin_data.topic_stats,
        first - first % BLOCK_MS,
        last + -last % BLOCK_MS,
        newest,
    )
    rows = verdicts_of(signals_of(minutes), start_ms, end_ms).to_pylist()
    return [row for row in rows if row["topic"] == recorded.topic]


def in_order(rows: list[dict]) -> list[str]:
    return sorted(repr(sorted(row.items())) for row in rows)


def question(recorded: Recorded, end_ms: int, **more) -> NowQuestion:
    return NowQuestion.of(**({"topic": recorded.topic} | more), end_ms=end_ms)


@pytest.mark.sampled(3)
@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_verdicts_match_reading_everything(name, monkeypatch):
    recorded = Recorded(name)
    end_ms = recorded.recording.end_ms
    recorded.take_the_place_of_the_sources(monkeypatch, recorded.said(end_ms))
    answer = diagnose_now(question(recorded, end_ms), settings(), deadline=Deadline(PATIENT))
    whole_ms = end_ms - end_ms % MINUTE_MS
    first_ms = max(answer.question.start_ms, recorded.recording.start_ms // MINUTE_MS * MINUTE_MS)
    expected = verdicts_of_everything(recorded, end_ms, first_ms, whole_ms)
    assert len(expected) > 2
    assert in_order(answer.windows.to_pylist()) == in_order(expected)
    # The newest window lies wherever the newest whole minute is: the twin judges it on a grid of minutes.
    newest = answer.verdicts.to_pylist()
    assert newest
    assert {row["topic"] for row in newest} == {recorded.topic}
    assert len({row["window_end_ms"] for row in newest}) == 1


def test_newest_window_ends_at_last_whole_minute(monkeypatch):
    recorded = Recorded("slow-one-of-three")
    _, end_ms = recorded.state("first")
    end_ms += 7_000 - end_ms % MINUTE_MS
    recorded.take_the_place_of_the_sources(monkeypatch, recorded.said(end_ms))
    answer = diagnose_now(question(recorded, end_ms), settings(), deadline=Deadline(PATIENT))
    (row,) = answer.verdicts.to_pylist()
    assert row["window_end_ms"] == end_ms - 7_000
    assert row["cause"] == "slow_consumers"
    (slow,) = answer.slowest.values()
    assert (slow.slow, slow.of) == (1, 3)
    assert slow.consumers[0].address


@pytest.mark.long
def test_selection_narrows_verdicts_but_not_reads(monkeypatch):
    """With one partition or subscription selected, the whole topic is still read."""
    recorded = Recorded("partition-hot-msg")
    _, end_ms = recorded.state("first")
    recorded.take_the_place_of_the_sources(monkeypatch, recorded.said(end_ms))
    every = diagnose_now(question(recorded, end_ms), settings(), deadline=Deadline(PATIENT))
    assert {row["partition"] for row in every.verdicts.to_pylist()} == {0, 1, 2, 3}
    (rolled,) = every.partitions
    assert (rolled.worst["partition"], rolled.worst["limiter"], rolled.sharing) == (
        2,
        "subscription.msg",
        (2,),
    )
    one = diagnose_now(
        question(recorded, end_ms, topic=None, subscription=f"{recorded.topic}-partition-2#billing"),
        settings(),
        deadline=Deadline(PATIENT),
    )
    (row,) = one.verdicts.to_pylist()
    assert row == next(other for other in every.verdicts.to_pylist() if other["partition"] == 2)
    assert one.signals.num_rows == every.signals.num_rows
    # One partition is reported as one of four, too.
    assert one.partitions == every.partitions
    nobody = diagnose_now(
        question(recorded, end_ms, topic=None, subscription=f"{recorded.topic}#audit"),
        settings(),
        deadline=Deadline(PATIENT),
    )
    assert nobody.verdicts.num_rows == 0


@pytest.mark.long
def test_missing_admin_api_leaves_limits_unknown(monkeypatch, capsys):
    recorded = Recorded("partition-hot-msg")
    _, end_ms = recorded.state("first")
    recorded.take_the_place_of_the_sources(monkeypatch)
    answer = diagnose_now(question(recorded, end_ms), settings(admin=False), deadline=Deadline(PATIENT))
    assert answer.limits.num_rows == 0
    assert any("--pulsar-admin" in note for note in answer.notes)
    hot = next(row for row in answer.verdicts.to_pylist() if row["partition"] == 2)
    assert hot["missing_evidence"]
    print_now(answer, now_ms=end_ms)
    assert "Note: Limits are unknown" in capsys.readouterr().out


def test_unreachable_admin_api_is_a_note(monkeypatch):
    recorded = Recorded("slow-one-of-three")
    _, end_ms = recorded.state("first")
    recorded.take_the_place_of_the_sources(monkeypatch)
    monkeypatch.setattr(
        "throttlescope.app.services.diagnose_now.diagnose.read_topic_admin",
        raising(SourceError("Pulsar's admin API cannot be reached")),
    )
    answer = diagnose_now(question(recorded, end_ms), settings(), deadline=Deadline(PATIENT))
    assert answer.verdicts.num_rows == 1
    assert answer.notes == ("Limits are unknown. Pulsar's admin API cannot be reached.",)


def test_limits_of_another_cluster_are_not_used(monkeypatch):
    recorded = Recorded("slow-one-of-three")
    _, end_ms = recorded.state("first")
    admin_data = recorded.said(end_ms)
    for row in admin_data.policies:
        row["body"] = (row["body"] or "").replace(
            f'"clusterName": "{recorded.name}"', '"clusterName": "staging"'
        )
    recorded.take_the_place_of_the_sources(monkeypatch, admin_data)
    answer = diagnose_now(question(recorded, end_ms), settings(), deadline=Deadline(PATIENT))
    assert answer.limits.num_rows == answer.topic_stats.num_rows == 0
    (note,) = answer.notes
    assert "belong to cluster staging" in note
    assert f"--cluster {recorded.name}" in note


def raising(error):
    def fail(*_, **__):
        raise error

    return fail


@pytest.mark.long
def test_broker_limit_use_includes_other_topics(monkeypatch):
    """Where the topics that share the broker's limit cannot be read, its use is unknown."""
    recorded = Recorded("broker-msg-limit-1-1")
    _, end_ms = recorded.state("first")
    recorded.take_the_place_of_the_sources(monkeypatch, recorded.said(end_ms))
    answer = diagnose_now(question(recorded, end_ms), settings(), deadline=Deadline(PATIENT))
    known = [row["rho_broker_msg"] for row in answer.signals.to_pylist() if row["rho_broker_msg"] is not None]
    assert known
    monkeypatch.setattr(
        "throttlescope.app.services.diagnose_now.shared_limits.read_sharing", raising(SourceError("Too much"))
    )
    alone = diagnose_now(question(recorded, end_ms), settings(), deadline=Deadline(PATIENT))
    assert {row["rho_broker_msg"] for row in alone.signals.to_pylist()} == {None}
    assert any("broker's limit is unknown" in note for note in alone.notes)


def test_missing_topic_or_source_is_an_error(monkeypatch):
    recorded = Recorded("slow-one-of-three")
    recorded.take_the_place_of_the_sources(monkeypatch)
    end_ms = recorded.recording.end_ms
    with pytest.raises(InputError, match="no backlog of this topic"):
        diagnose_now(
            question(recorded, end_ms, topic="persistent://lab/slow-one-of-three/order"),
            settings(admin=False),
            deadline=Deadline(PATIENT),
        )
    with pytest.raises(InputError, match="no backlog of this topic"):
        diagnose_now(
            question(recorded, end_ms - 24 * BLOCK_MS), settings(admin=False), deadline=Deadline(PATIENT)
        )
    with pytest.raises(InputError, match="no Prometheus"):
        diagnose_now(
            question(recorded, end_ms), settings(admin=False, clusters={}), deadline=Deadline(PATIENT)
        )
    two = settings(admin=False)
    two = two.model_copy(update={"clusters": {"a": two.clusters["pulsar"], "b": two.clusters["pulsar"]}})
    with pytest.raises(InputError, match="One cluster"):
        diagnose_now(question(recorded, end_ms), two, deadline=Deadline(PATIENT))


def test_hanging_prometheus_ends_at_the_deadline(monkeypatch):
    monkeypatch.setattr(Sources, "prometheus", lambda self, deadline: time.sleep(30))
    started_s = time.monotonic()
    with pytest.raises(SourceError, match="Prometheus was not read in time"):
        diagnose_now(
            NowQuestion.of(topic="persistent://a/b/c", end_ms=10**12),
            settings(admin=False),
            deadline=Deadline(0.5),
        )
    assert time.monotonic() - started_s < 25


def test_cancel_ends_the_wait(monkeypatch):
    monkeypatch.setattr(Sources, "prometheus", lambda self, deadline: time.sleep(30))
    started_s = time.monotonic()
    with pytest.raises(CancelledError):
        diagnose_now(
            NowQuestion.of(topic="persistent://a/b/c", end_ms=10**12), settings(admin=False),
            deadline=Deadline(60, lambda: time.monotonic() - started_s > 0.2),
        )  # fmt: skip
    assert time.monotonic() - started_s < 25


@pytest.mark.long
def test_only_the_page_prints_output(monkeypatch, capsys):
    recorded = Recorded("partition-hot-bytes")
    _, end_ms = recorded.state("first")
    recorded.take_the_place_of_the_sources(monkeypatch, recorded.said(end_ms))
    answer = diagnose_now(question(recorded, end_ms), settings(), deadline=Deadline(PATIENT))
    assert capsys.readouterr() == ("", "")
    print_now(answer, now_ms=end_ms)
    page = capsys.readouterr().out
    for words in (
        "throttled by topic.bytes",
        "Partition 0 is the worst",
        "shared by",
        "why",
        "for ",
        "Healthy: partition ",
    ):
        assert words in page
    write_json(document(answer))
    assert '"rules_version"' in capsys.readouterr().out


def test_compilation_ends_before_deadline_starts(monkeypatch):
    """On a machine where nothing is compiled yet, and which takes longer to compile than the answer may take."""
    recorded = Recorded("slow-one-of-three")
    end_ms = recorded.recording.end_ms
    recorded.take_the_place_of_the_sources(monkeypatch, recorded.said(end_ms))
    monkeypatch.setattr(diagnose, "are_compiled", lambda *functions: False)
    passed = Deadline(PATIENT, started_s=time.monotonic() - 2 * PATIENT)
    notes = []
    answer = diagnose_now(question(recorded, end_ms), settings(), deadline=passed, note=notes.append)
    assert answer.verdicts.num_rows
    assert answer.took_s < PATIENT
    assert notes == [sentence("diagnose_now.compiling")]
