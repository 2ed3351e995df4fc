"""The seam between the lake and where its files live. The folder here; the object store in ``test_object_store.py``."""

from __future__ import annotations

import os
import threading

import pytest

from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.lake_address import LakeAddress
from throttlescope.ingest.lake.open_storage import storage_of
from throttlescope.ingest.lake.storage import LocalStorage


def test_files_of_a_folder(tmp_path):
    storage = storage_of(tmp_path / "lake")
    assert isinstance(storage, LocalStorage)
    assert storage.list() == []
    assert storage.list("samples") == []
    assert storage.read("samples/data/a") is None
    assert storage.write("samples/data/a", b"one")
    assert storage.write("samples/b", b"three")
    assert storage.read("samples/data/a") == b"one"
    assert [(file.relative_path, file.size_bytes) for file in storage.list("samples")] == [
        ("samples/b", 5),
        ("samples/data/a", 3),
    ]
    os.utime(storage.address("samples/b"), (1_700_000_000, 1_700_000_000))
    assert storage.look("samples/b").modified_ms == 1_700_000_000_000
    storage.delete(["samples/b", "samples/never there"])
    assert not storage.exists("samples/b")
    assert [file.relative_path for file in storage.list()] == ["samples/data/a"]


def test_one_of_several_writers_wins(tmp_path):
    storage, won = storage_of(tmp_path), []
    barrier = threading.Barrier(8)

    def write(number: int) -> None:
        barrier.wait()
        if storage.write("claims/one", str(number).encode(), if_absent=True):
            won.append(number)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [str(number).encode() for number in won] == [storage.read("claims/one")]
    assert [file.relative_path for file in storage.list()] == ["claims/one"]


@pytest.mark.parametrize(
    ("given", "address"),
    [
        ("lake", "lake"),
        ("/data/lake", "/data/lake"),
        ("s3://bucket", "s3://bucket"),
        ("s3://bucket/", "s3://bucket"),
        ("s3://bucket//a/b/", "s3://bucket/a/b"),
    ],
)
def test_addresses(given, address):
    assert LakeAddress.of(given) == address


def test_folder_address_becomes_absolute(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert LakeAddress.of("lake").absolute() == str(tmp_path / "lake")
    assert LakeAddress.of("s3://bucket/a").absolute() == "s3://bucket/a"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("gs://bucket/lake", "cannot live there"),
        ("http://host/lake", "cannot live there"),
        ("s3:/bucket/lake", "one slash"),
        ("s3:///lake", "no bucket"),
        ("s3://Bad_Bucket!/lake", "no bucket"),
        ("s3://bucket/a/../b", "dots"),
        ("s3://bucket/lake?endpoint_override=host", "query"),
        ("s3://key:hush@bucket/lake", "carries a user"),
    ],
)
def test_addresses_that_are_refused(given, words):
    with pytest.raises(InputError, match=words) as refused:
        LakeAddress.of(given)
    assert "hush" not in str(refused.value)
