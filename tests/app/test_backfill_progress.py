"""What a backfill says while it works: what each chunk brought, and how long the others will take."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.app.incremental import hour, request
from throttlescope.app.cli.tables.backfill import print_chunked
from throttlescope.app.pipeline.backfill import run_chunks as chunked
from throttlescope.app.pipeline.backfill.chunks import chunks_of
from throttlescope.app.pipeline.backfill.run_chunks import chunk_words
from throttlescope.app.pipeline.results import RunResult
from throttlescope.app.pipeline.sources.source import Ingested
from throttlescope.app.presentation.progress import TerminalProgress
from throttlescope.ingest.core.times import BLOCK_MS


def result(start_ms: int = 0, samples: int = 1_234_567, **more) -> RunResult:
    done = replace(Ingested("http://p", ("prod",), ()), samples=samples, samples_written=samples)
    known = {"verdicts": {"caught_up": 40, "consumers_slow": 2}, "sources": [done], "clusters": ("prod",)}
    return RunResult("id", "backfill", "lake", "done", start_ms, start_ms + 1, **(known | more))


@pytest.mark.parametrize(
    ("found", "chunk_s", "left", "expected"),
    [
        (result(), [10.0], 3, "1,234,567 samples, 42 verdicts, about 30 s left"),
        # By the median: one chunk that waited for something does not count for all the others.
        (result(), [10.0, 10.0, 600.0], 6, "1,234,567 samples, 42 verdicts, about 1 min left"),
        # The first one takes several times as long as the others: it starts what they find running.
        (result(), [1500.0, 1200.0], 4, "1,234,567 samples, 42 verdicts, about 1 h 20 min left"),
        (result(), [10.0], 0, "1,234,567 samples, 42 verdicts"),
        (result(idle=True, verdicts=None), [2.0], 5, "no samples, about 10 s left"),
        # After `ingest` there are no verdicts to count.
        (result(verdicts=None), [2.0], 1, "1,234,567 samples, about 2 s left"),
        (result(verdicts={}), [2.0], 0, "1,234,567 samples, 0 verdicts"),
    ],
)
def test_chunk_line_shows_the_time_left(found, chunk_s, left, expected):
    assert chunk_words(found, chunk_s, left) == expected


def test_backfill_prints_progress_per_chunk(tmp_path, monkeypatch, capsys):
    backfill_request = request(tmp_path / "lake", "http://p", 0, 4, command="backfill")
    chunks = chunks_of(hour(0), hour(4), BLOCK_MS)[1:]
    clock_s, calls = iter(range(0, 10_000, 20)), []

    def run_pipeline(part, **_):
        calls.append(part)
        return result(part.start_ms, warnings=1, idle=len(calls) == 2)

    monkeypatch.setattr(chunked, "run_pipeline", run_pipeline)
    monkeypatch.setattr(chunked.time, "monotonic", lambda: float(next(clock_s)))
    found = chunked.run_chunks(
        backfill_request, chunks, before=1, session=object(), progress=TerminalProgress()
    )
    lines = capsys.readouterr().err.splitlines()
    assert [line.rpartition(" (")[0] for line in lines] == [
        "[1/5] Planning the chunks: 1 chunk was done before",
        f"[2/5] {range_text(chunks[0])}: 1,234,567 samples, 42 verdicts, about 40 s left",
        f"[3/5] {range_text(chunks[1])}: no samples, 42 verdicts, about 20 s left",
        f"[4/5] {range_text(chunks[2])}: 1,234,567 samples, 42 verdicts",
        "[5/5] Episodes and anomalies of the whole range",
    ]
    # Oldest first, and what looks at days once and last.
    assert [(one.command, one.start_ms, one.part_of_many) for one in calls] == [
        *(("backfill", chunk.start_ms, True) for chunk in chunks),
        ("diagnose", backfill_request.start_ms, False),
    ]
    # Those that did the chunk before may not have come to this.
    assert (calls[-1].end_ms, calls[-1].clusters) == (backfill_request.end_ms, ())
    assert (found.chunks, found.chunks_before, found.idle, found.warnings) == (3, 1, 1, 4)
    assert found.chunk_s == [20.0] * 3
    assert found.verdicts == {"caught_up": 120, "consumers_slow": 6}

    # The summary words chunks as the progress did.
    print_chunked(found)
    assert "3 chunks, 1 of them without samples, 1 chunk was done before, in " in capsys.readouterr().out

    chunked.run_chunks(backfill_request, chunks, before=1, session=object())
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("minutes", [None, 120_001])
def test_large_backfill_starts_spark_once(tmp_path, monkeypatch, capsys, minutes):
    """By the minutes of all chunks, or where a source does not say how many there are."""
    chunks, session, given = chunks_of(hour(0), hour(2), BLOCK_MS), object(), []
    monkeypatch.setattr(chunked, "minutes_of", lambda sources: minutes)
    monkeypatch.setattr(
        chunked, "open_sources", lambda wanted: [wanted.start_ms, wanted.end_ms] == [hour(0), hour(2)]
    )
    monkeypatch.setattr("throttlescope.app.pipeline.spark_session.start_spark", lambda *_, **__: session)
    monkeypatch.setattr(
        chunked, "run_pipeline", lambda part, *, session: given.append(session) or result(part.start_ms)
    )
    backfill_request = request(tmp_path / "lake", "http://p", 0, 2, command="backfill")
    chunked.run_chunks(backfill_request, chunks, progress=TerminalProgress())
    assert given == [session] * 3
    assert capsys.readouterr().err.splitlines()[1].startswith("[2/5] Starting Spark")


def range_text(chunk) -> str:
    from throttlescope.models.messages.units import minute_text

    return f"{minute_text(chunk.start_ms)} to {minute_text(chunk.end_ms)}"
