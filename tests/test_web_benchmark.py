"""The made lake of the web app's benchmark says what its targets ask for, and its people ask for what a browser asked."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from benchmarks import web
from benchmarks.web_load import lake as web_lake
from benchmarks.web_load import load, session
from benchmarks.web_load.rows import DAYS, END_MS, WINDOW_MS, Subscriptions, hours_of_verdicts
from tests.naive import latest as naive
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.times import DAY_MS


@pytest.fixture(scope="module")
def fleet():
    return Subscriptions(400, 20)


def test_generated_windows_cover_the_last_day(fleet):
    starts_ms = np.concatenate(hours_of_verdicts())
    assert (np.diff(starts_ms) == WINDOW_MS).all()
    assert starts_ms[-1] + WINDOW_MS == END_MS
    assert END_MS - DAY_MS - starts_ms[0] >= WINDOW_MS, "what a day before is compared with"
    quiet, others = fleet.verdicts(hours_of_verdicts()[-1], slice(0, 400))
    assert quiet.num_rows + others.num_rows == 400 * 12
    assert others.num_rows > 0


def test_only_unhealthy_windows_carry_evidence(fleet):
    """Rows keep the contract."""
    for starts_ms in hours_of_verdicts()[12::4]:
        for rows, has_evidence in zip(fleet.verdicts(starts_ms, slice(0, 400)), (False, True), strict=True):
            if not rows.num_rows:
                continue
            TABLES["verdicts"].conform(rows)
            counts = set(pc.list_value_length(rows["evidence"]).to_pylist())
            assert counts == ({5} if has_evidence else {0})
            assert (set(rows["cause"].to_pylist()) == {"healthy"}) != has_evidence


def test_minutes_and_verdicts_share_subscriptions(fleet):
    minutes = fleet.watched.hour(DAYS * 24 - 1)
    TABLES["signals"].conform(minutes)
    assert minutes.num_rows == 20 * 60
    names = ["cluster", "namespace", "topic", "partition", "subscription"]
    keys = minutes.group_by(names).aggregate([])
    judged = pa.concat_tables(fleet.verdicts(hours_of_verdicts()[-1], slice(0, 400)))
    assert keys.num_rows == 20
    assert keys.join(judged.group_by(names).aggregate([]), names, join_type="inner").num_rows == 20


@pytest.mark.long
def test_interrupted_lake_creation_continues(tmp_path, monkeypatch):
    """It is made once."""
    monkeypatch.setattr(web_lake, "FOLDER", tmp_path)
    monkeypatch.setattr(web_lake, "DAYS", 0)
    write, written = web_lake.write_data_file, []

    def counted(root, table, rows):
        if len(written) == 5:
            raise KeyboardInterrupt
        written.append(table)
        return write(root, table, rows)

    monkeypatch.setattr(web_lake, "write_data_file", counted)
    with pytest.raises(KeyboardInterrupt):
        web_lake.lake_of(40, 4)
    before = len(written)
    monkeypatch.setattr(web_lake, "write_data_file", lambda *given: written.append(given[1]) or write(*given))
    lake, made = web_lake.lake_of(40, 4)
    files = len(lake.files("verdicts"))
    assert files - before <= len(written) - before < files
    assert made["verdicts"]["rows"] == 40 * sum(len(starts_ms) for starts_ms in hours_of_verdicts())
    columns = [column.name for column in TABLES["verdict_latest"].columns]
    assert lake.read("verdict_latest", columns=columns).to_pylist() == naive.latest(
        lake.read("verdicts").to_pylist()
    )
    count = len(written)
    assert web_lake.lake_of(40, 4)[1] == json.loads(json.dumps(made))
    assert len(written) == count


def test_request_is_repeated_per_subscription(monkeypatch):
    mine, other = (
        {"cluster": "prod", "topic": f"persistent://a/b/t-{i}", "partition": i, "subscription": "s"}
        for i in (1, 2)
    )
    asked, answers = (
        [],
        iter(
            [
                SimpleNamespace(status_code=200, content=b"{}"),
                SimpleNamespace(status_code=500, content=b""),
                SimpleNamespace(status_code=200, content=b"This page could not be built."),
            ]
        ),
    )
    connection = SimpleNamespace(request=lambda *given, **more: asked.append((given, more)) or next(answers))
    work = {"mine": session.encodings(mine), "address": "http://here"}
    body = json.dumps({"search": "?" + web.href(mine).partition("?")[2], "q": "persistent://a/b/t-1 s"})
    request = {"method": "POST", "path": "/x?q=persistent%3A%2F%2Fa%2Fb%2Ft-1+s", "body": body}
    found = [load._ask(connection, work, request, session.encodings(other)) for _ in range(3)]
    assert found == [None, "status 500", "a page could not be built"]
    (method, url), more = asked[0]
    assert (method, url) == ("POST", "http://here/x?q=persistent%3A%2F%2Fa%2Fb%2Ft-2+s")
    assert "t-1" not in more["data"].decode()
    assert web.href(other).partition("?")[2] in more["data"].decode()


def test_a_missed_target_is_marked():
    cold = [{"shell_s": 0.5, "content_s": 3.5, "drawn_s": 4.5, "data_bytes": 100_000, "all_bytes": 1}]
    answers = [{"ms": 10.0, "wrong": None, "is_callback": True}] * 9 + [
        {"ms": 2000.0, "wrong": "status 500", "is_callback": True}
    ]
    rows = web.table(
        {
            "cold_overview": cold,
            "cold_subscription": cold,
            "inside": [{"overview": 0.4}],
            "callbacks": [{"step": "sort", "ms": 100.0}, {"step": "open", "ms": 300.0}],
            "load": {"users": 2, "seconds": 9, "answers": answers,
                "server_cpu_s": 1.0, "memory_mb": [(i, 100.0 + 10 * i) for i in range(9)]},
        }
    )  # fmt: skip
    missed = {row[0] for row in rows if row[4].startswith("missed")}
    assert missed == {
        "overview, cold browser: content", "subscription, cold browser: content",
        "subscription, cold browser: its last chart", "callbacks of a session, one person",
        "- open", "2 people, all answers (10)", "2 people, callbacks (10)", "- errors", "- memory of the server",
    }  # fmt: skip
