"""What ``throttlescope serve`` does about its lake before it opens a port: waits for an empty one, refuses one of another format."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from dataclasses import replace

import pytest

from tests.app.api.serving import serving
from tests.app.lake_of_verdicts import lake_with, verdict
from tests.lab.processes import free_port
from throttlescope.app.cli.served_lake import begin_look, finish_look
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.lake import Lake

pytestmark = [pytest.mark.long, pytest.mark.timeout(180)]


def _look_at(lake):
    with begin_look(str(lake)) as look:
        return finish_look(look)


def serve(lake, *options):
    """``serve`` until it ends by itself."""
    command = [
        sys.executable,
        "-m",
        "throttlescope.app.cli",
        "serve",
        "--lake",
        str(lake),
        "--port",
        str(free_port()),
    ]
    return subprocess.run([*command, *options], capture_output=True, text=True, timeout=120, check=False)


def content(folder):
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_lake_of_another_format_is_refused(tmp_path, monkeypatch):
    with monkeypatch.context() as later:
        later.setitem(TABLES, "verdicts", replace(TABLES["verdicts"], format_version=2))
        lake_with(tmp_path / "lake", [verdict(0)])
    before = content(tmp_path)
    done = serve(tmp_path / "lake")
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert (
        "Table verdicts of this lake was written by a newer version; got format 2; expected format 1" in line
    )
    assert "Fix: upgrade throttlescope" in line
    assert content(tmp_path) == before


@pytest.mark.study
def test_lake_is_looked_at_from_process_with_threads(tmp_path, monkeypatch):
    """Threads of ours, some of them in the middle of a read, and those that Delta's library started: a fork would inherit its locks."""
    lake_with(tmp_path / "lake", [verdict(0)])
    with monkeypatch.context() as later:
        later.setitem(TABLES, "verdicts", replace(TABLES["verdicts"], format_version=2))
        lake_with(tmp_path / "newer", [verdict(0)])
    ended, read = threading.Event(), threading.Barrier(3)

    def reading():
        read.wait(60)
        while not ended.is_set():
            assert Lake(tmp_path / "lake").read("verdicts").num_rows == 1

    readers = [threading.Thread(target=reading, daemon=True) for _ in range(2)]
    for reader in readers:
        reader.start()
    try:
        read.wait(60)
        assert _look_at(tmp_path / "lake") == ("verdicts",)
        with pytest.raises(InputError, match="written by a newer version; got format 2"):
            _look_at(tmp_path / "newer")
        assert _look_at(tmp_path / "none") == ()
        assert all(reader.is_alive() for reader in readers)
    finally:
        ended.set()
        for reader in readers:
            reader.join(60)


@pytest.mark.study
def test_empty_lake_is_waited_for(tmp_path):
    """The lake appears when the server has said that it waits; until then nothing listens."""
    folder, log_file = tmp_path / "lake", tmp_path / "serve.log"
    waited = threading.Event()

    def write():
        deadline_s = time.monotonic() + 60
        while time.monotonic() < deadline_s:
            if log_file.exists() and "waiting for them" in log_file.read_text():
                waited.set()
                break
            time.sleep(0.1)
        lake_with(folder, [verdict(0)])

    writer = threading.Thread(target=write)
    writer.start()
    try:
        with serving(folder, log_file, "--wait", "60s"):
            assert waited.is_set()
    finally:
        writer.join()


@pytest.mark.study
def test_wait_for_empty_lake_ends(tmp_path):
    done = serve(tmp_path / "lake", "--wait", "1s")
    assert done.returncode == 2
    assert "There are no verdicts and no samples in this lake" in done.stderr.splitlines()[-1]
    assert not (tmp_path / "lake").exists()
