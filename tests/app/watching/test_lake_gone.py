"""A lake that goes away under a running server: ``/-/ready`` and ``/metrics`` say so, and say when it is back."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import pytest
import requests

from tests.app.api.serving import serving
from tests.app.lake_of_verdicts import HOUR, lake_with, verdict
from tests.app.test_metrics import ROW_KEY, only, parsed
from tests.transforms.lakes import limit_row, table_of
from throttlescope.app.server.app import create_app
from throttlescope.app.server.health.data_files import DataFiles
from throttlescope.app.server.metrics.exposition import Exposition
from throttlescope.ingest.lake.cached_lake import RememberingLake
from throttlescope.ingest.lake.formats import MissingFilesError
from throttlescope.ingest.lake.storage import StoredFile

# The pages' reader looks every second.
_LONGEST_S = 30


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder of a lake with two tables; a scrape is never cached."""
    monkeypatch.setitem(Exposition.__init__.__kwdefaults__, "kept_s", 0.0)
    lake = lake_with(tmp_path / "lake", [verdict(2)])
    lake.upsert(
        "limits",
        table_of("limits", [limit_row("topic", at_ms=HOUR, **ROW_KEY)]),
        run_id="by hand",
    )
    return tmp_path / "lake"


@pytest.fixture
def client(folder):
    client = create_app(folder).server.test_client()
    assert client.get("/-/ready").status_code == 200
    assert set(sources_up(client).values()) == {1.0}
    return client


def sources_up(client) -> dict[tuple, float]:
    # Of the server's own counts some are no gauges.
    lines = [
        line for line in client.get("/metrics").text.splitlines() if line.startswith("throttlescope_metrics_")
    ]
    return parsed("\n".join(lines))["throttlescope_metrics_source_up"]


def up(client, source: str) -> float:
    return only(sources_up(client), source=source)


def wait_for_status(client, code: int) -> str:
    """What ``/-/ready`` says when it has come to answer with this code."""
    deadline_s = time.monotonic() + _LONGEST_S
    while (answer := client.get("/-/ready")).status_code != code:
        assert time.monotonic() < deadline_s, answer.text
        time.sleep(0.1)
    return answer.text


def data_files(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.parquet"))


@pytest.mark.long
def test_renamed_lake_is_not_ready(folder, client, caplog):
    folder.rename(folder.with_name("elsewhere"))
    answer = client.get("/-/ready")
    assert (answer.status_code, answer.text.count("\n")) == (503, 1)
    assert "the lake's files" in answer.text
    assert str(folder) not in answer.text
    assert "Table limits was there and is gone" in caplog.text
    assert {name: up(client, name) for name in ("limits", "verdicts", "lake")} == dict.fromkeys(
        ("limits", "verdicts", "lake"), 0.0
    )
    # This table was never there.
    assert up(client, "runs") == 1
    # No rows would be a wrong answer.
    assert client.get("/api/v1/labels").status_code == 500
    assert client.get("/-/healthy").status_code == 200
    folder.with_name("elsewhere").rename(folder)
    wait_for_status(client, 200)
    assert set(sources_up(client).values()) == {1.0}


@pytest.mark.long
@pytest.mark.parametrize("folders_stay", [False, True])
def test_emptied_lake_is_not_ready(folder, client, folders_stay):
    if folders_stay:
        for file in [path for path in folder.rglob("*") if path.is_file()]:
            file.unlink()
    else:
        for path in folder.iterdir():
            shutil.rmtree(path)
    assert client.get("/-/ready").status_code == 503
    assert up(client, "limits") == up(client, "verdicts") == up(client, "lake") == 0


@pytest.mark.long
def test_one_missing_table_is_not_ready(folder, client):
    shutil.rmtree(folder / "verdicts")
    assert client.get("/-/ready").status_code == 503
    assert (up(client, "verdicts"), up(client, "limits")) == (0, 1)


@pytest.mark.long
@pytest.mark.parametrize("table", ["verdicts", "limits"])
@pytest.mark.parametrize("cut", [None, 0, 100])
def test_missing_or_truncated_files_are_reported(folder, client, table, cut, caplog):
    whole = {file: file.read_bytes() for file in data_files(folder / table)}
    assert whole
    for file, content in whole.items():
        file.unlink() if cut is None else file.write_bytes(content[:cut])
    answer = client.get("/-/ready")
    assert (answer.status_code, answer.text) == (503, "Service Unavailable: the lake's files\n")
    assert f"Files of table {table} are {'missing' if cut is None else 'damaged'}" in caplog.text
    assert up(client, "lake") == 0
    for file, content in whole.items():
        file.write_bytes(content)
    assert client.get("/-/ready").status_code == 200
    assert up(client, "lake") == 1


@pytest.mark.long
def test_sample_files_are_checked_too(tmp_path):
    from tests.app.api.samples import series
    from tests.transforms.lakes import lake_of

    lake_of(tmp_path / "lake", series())
    client = create_app(tmp_path / "lake").server.test_client()
    assert client.get("/-/ready").status_code == 200
    for file in data_files(tmp_path / "lake" / "samples"):
        file.write_bytes(b"")
    assert client.get("/-/ready").text == "Service Unavailable: the lake's files\n"


@pytest.mark.long
def test_replaced_file_is_not_a_fault(folder, client):
    """Between a commit with its vacuum and the next look of the pages' reader, the snapshot names a file that is gone."""
    old = data_files(folder / "verdicts")
    lake = RememberingLake(folder)
    lake.upsert("verdicts", table_of("verdicts", [verdict(2, confidence=0.5)]), run_id="later")
    for file in old:
        file.unlink()
    assert client.get("/-/ready").status_code == 200


@pytest.mark.long
def test_worker_started_after_lake_vanished_is_unready(folder):
    """The process that makes the workers saw what was there when the server began."""
    folder.rename(folder.with_name("elsewhere"))
    late = create_app(folder, tables=("verdicts",)).server.test_client()
    assert "the pages" in wait_for_status(late, 503)
    assert up(late, "verdicts") == 0
    folder.with_name("elsewhere").rename(folder)
    wait_for_status(late, 200)


@pytest.mark.long
def test_lake_written_later_becomes_visible(tmp_path):
    client = create_app(tmp_path / "lake").server.test_client()
    assert client.get("/-/ready").status_code == 200
    lake_with(tmp_path / "lake", [verdict(2)])
    assert up(client, "verdicts") == 1
    assert client.get("/-/ready").status_code == 200


@pytest.mark.study
@pytest.mark.long
def test_serve_logs_why_it_is_unready(folder, tmp_path):
    """As an operator has it: the answer names the part, and the log says why."""
    with serving(folder, tmp_path / "serve.log") as server:
        folder.rename(folder.with_name("elsewhere"))
        deadline_s = time.monotonic() + _LONGEST_S
        reason = ""
        # On a busy machine the pages' reader may be in the middle of a look: its fault is logged first, this one by a later request.
        while "was there and is gone" not in reason:
            assert time.monotonic() < deadline_s, reason
            assert requests.get(f"{server.url}/-/ready", timeout=30).status_code == 503
            reason = server.log_file.read_text()


class Store:
    """A storage that counts its requests."""

    is_remote = True

    def __init__(self):
        self.there, self.looks = True, 0

    def look(self, relative_path):
        self.looks += 1
        return StoredFile(relative_path, 10, 0) if self.there else None


class LakeInStore:
    def __init__(self):
        self.storage = Store()

    def newest_file(self, table):
        return StoredFile(f"{table}/data/aa/b.parquet", 10, 0)


def test_store_check_is_cached_one_minute():
    clock, lake = [0.0], LakeInStore()
    files = DataFiles(lake, lambda: {"verdicts": lake.newest_file("verdicts")}, now_s=lambda: clock[0])
    for _ in range(5):
        files.check()
    # Of each table one: verdicts and samples.
    assert lake.storage.looks == 2
    lake.storage.there = False
    clock[0] = 59.0
    files.check()
    clock[0] = 60.0
    for _ in range(3):
        with pytest.raises(MissingFilesError, match="samples"):
            files.check()
    assert lake.storage.looks == 4
    lake.storage.there = True
    clock[0] = 120.0
    files.check()
