"""Bad input to a run: one line with its fix, the right exit code, and nothing written. No fault here starts Spark."""

import json
import shutil

import pytest

from tests.app.commands import throttlescope
from tests.app.http_server import answering, html, unauthorised
from throttlescope.ingest.sources.recording import list_shipped


@pytest.fixture
def lake(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def no_spark(*_, **__):
        pytest.fail("Spark was started")

    monkeypatch.setattr("throttlescope.ingest.spark.session.spark_session", no_spark)
    return tmp_path / "lake"


def error_line(lake, code, *arguments):
    outcome = throttlescope("run", *arguments, "--lake", lake)
    assert (outcome.code, outcome.out) == (code, "")
    assert not lake.exists()
    line = outcome.line
    assert line.startswith("throttlescope: ")
    assert "Traceback" not in line
    return line


@pytest.fixture
def recording(tmp_path):
    """A copy of a shipped recording."""
    name, folder = next(iter(list_shipped().items()))
    return shutil.copytree(folder, tmp_path / name)


RANGE = ("--start", "-1h")


@pytest.mark.long
@pytest.mark.parametrize("reader", ["auto", "remote_read", "api"])
def test_unreachable_prometheus_exits_with_code_4(lake, reader):
    with answering(html) as url:
        pass
    line = error_line(lake, 4, "--prometheus", url, *RANGE, "--reader", reader)
    assert "cannot be reached" in line
    assert "Fix: check the address" in line


@pytest.mark.long
@pytest.mark.parametrize(
    ("answer", "words", "fix"),
    [
        (unauthorised, "wants authentication", "token_file"),
        (lambda *_: (403, "text/plain", b"no"), "refuses us", "credentials"),
        (html, "web page", "address of the server itself"),
        (lambda *_: (200, "application/json", b'{"status": "fine"}'), "something else", "Prometheus itself"),
        (lambda *_: (200, "application/json", b'{"status": '), "something else", "Prometheus itself"),
    ],
)
def test_wrong_server_or_credentials_are_explained(lake, answer, words, fix):
    with answering(answer) as url:
        line = error_line(lake, 4, "--prometheus", url, *RANGE)
    assert words in line
    assert fix in line


def test_missing_remote_read_is_explained(lake):
    def answer(method, path, headers):
        if path.endswith("/api/v1/read"):
            return 404, "text/plain", b"404 page not found"
        return 200, "application/json", b'{"status": "success", "data": {"version": "3.5.0"}}'

    with answering(answer) as url:
        line = error_line(lake, 4, "--prometheus", url, *RANGE, "--reader", "remote_read")
    assert "remote read is not offered" in line
    assert 'reader = "api"' in line


@pytest.mark.long
@pytest.mark.parametrize("selector", ['{namespace="a', "rate(x[5m])", "", "{}", '{namespace=~"("}'])
def test_invalid_selector_is_refused(lake, selector):
    with answering(html) as url:
        assert "selector" in error_line(lake, 2, "--prometheus", url, *RANGE, "--match", selector)


@pytest.mark.long
def test_missing_token_file_is_refused(lake, tmp_path):
    with answering(html) as url:
        line = error_line(lake, 2, "--prometheus", url, *RANGE, "--token-file", tmp_path / "none")
    assert "file with the token cannot be read" in line


def test_cluster_without_prometheus_is_refused(lake):
    line = error_line(lake, 2, "--pulsar-admin", "http://127.0.0.1:1", *RANGE)
    assert "no Prometheus" in line


@pytest.mark.long
def test_unknown_recording_is_refused(lake, tmp_path):
    name = next(iter(list_shipped()))
    assert f"did you mean {name}?" in error_line(lake, 2, "--recording", name[:-1])
    assert "no such folder" in error_line(lake, 2, "--recording", tmp_path / "none")
    (tmp_path / "empty").mkdir()
    assert "no recording.json" in error_line(lake, 2, "--recording", tmp_path / "empty")


@pytest.mark.parametrize("file", ["samples.parquet", "policies.jsonl", "truth.json"])
def test_recording_with_missing_file_is_refused(lake, recording, file):
    (recording / file).unlink()
    line = error_line(lake, 2, "--recording", recording)
    assert f"{file} missing" in line


@pytest.mark.parametrize("file", ["samples.parquet", "policies.jsonl", "truth.json"])
def test_recording_with_altered_file_is_refused(lake, recording, file):
    content = bytearray((recording / file).read_bytes())
    content[len(content) // 2] ^= 1
    (recording / file).write_bytes(bytes(content))
    line = error_line(lake, 2, "--recording", recording)
    assert f"another checksum of {file}" in line


@pytest.mark.long
def test_recording_format_and_paths_are_checked(lake, recording):
    about = json.loads((recording / "recording.json").read_text())
    (recording / "recording.json").write_text(json.dumps(about | {"format": 99}))
    assert "format 99" in error_line(lake, 2, "--recording", recording)
    about["files"]["../outside"] = "0" * 64
    (recording / "recording.json").write_text(json.dumps(about))
    assert "outside of the folder" in error_line(lake, 2, "--recording", recording)


def test_range_outside_recording_is_refused(lake, recording):
    line = error_line(
        lake, 2, "--recording", recording, "--start", "2020-01-01T00:00:00Z", "--end", "2020-01-02T00:00:00Z"
    )
    assert "touches none" in line


@pytest.mark.long
def test_all_recordings_are_checked_before_reading(lake, recording, tmp_path):
    whole = shutil.copytree(recording, tmp_path / "whole" / recording.name)
    (recording / "truth.json").unlink()
    assert "truth.json missing" in error_line(lake, 2, "--recording", whole, "--recording", recording)
