"""No recording names a folder of the machine that it was made on."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest

from tests.lab.machine_paths import MACHINE_PATH, masked
from tests.lab.measure import FOLDERS
from tests.lab.recording import Recording, altered_files, read_samples, write_recording
from tests.lab.sets import SETS

FOLDERS_OF_RECORDINGS = sorted(
    {*FOLDERS, *(each.recordings for each in SETS.values()), Path(__file__).parent / "recordings"}
)
ALL = sorted({path.parent for folder in FOLDERS_OF_RECORDINGS for path in folder.rglob("recording.json")})


def test_all_recordings_are_looked_at() -> None:
    assert len(ALL) >= 189


@pytest.mark.sampled(8)
@pytest.mark.long
@pytest.mark.parametrize("folder", ALL, ids=lambda path: path.name)
def test_recording_names_no_machine_path(folder: Path) -> None:
    for file in folder.iterdir():
        if file.suffix != ".parquet":
            assert not MACHINE_PATH.search(file.read_text()), file.name
    for series in read_samples(folder):
        assert not any(MACHINE_PATH.search(value) for value in series.labels.values()), series.labels
    assert altered_files(folder) == []


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("rocksdb:///tmp/lab-1/pulsar/metadata", "rocksdb:///masked"),
        ("rocksdb:///srv/lab/metadata", "rocksdb:///masked"),
        ('{"narExtractionDirectory": "/tmp"}', '{"narExtractionDirectory": "/masked"}'),
        (r'{"body": "{\"a\":\"/home/jo/x.y\",\"b\":1}"}', r'{"body": "{\"a\":\"/masked\",\"b\":1}"}'),
        ("zk:127.0.0.1:2181", "zk:127.0.0.1:2181"),
        ("/usr/bin/kinit /ledgers ./protocols", "/usr/bin/kinit /ledgers ./protocols"),
        ("persistent://home/tmp/work http://tmp/root", "persistent://home/tmp/work http://tmp/root"),
        ("lab/home-made /tmpfs /home-made", "lab/home-made /tmpfs /home-made"),
    ],
)
def test_only_machine_paths_are_masked(text: str, wanted: str) -> None:
    assert masked(text) == wanted


def test_unusual_temporary_folder_is_masked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/srv/scratch 2")
    assert masked('"/srv/scratch 2/lab/x"') == '"/masked"'


def test_paths_are_masked_when_recorded(tmp_path: Path) -> None:
    named = {
        "metadataStoreUrl": f"rocksdb://{tmp_path}/metadata",
        "narExtractionDirectory": tempfile.gettempdir(),
    }
    body = json.dumps(named)
    rows = [
        {"scope": "broker_configuration_runtime", "key": "k", "body": body, "broker": "b", "observed_ms": 1}
    ]
    folder = write_recording(Recording("one", {}, [], rows, [], [], [], "format: 1\n"), tmp_path)
    (row,) = [json.loads(line) for line in (folder / "policies.jsonl").read_text().splitlines()]
    assert json.loads(row["body"]) == {
        "metadataStoreUrl": "rocksdb:///masked",
        "narExtractionDirectory": "/masked",
    }
    assert altered_files(folder) == []
