"""What DuckDB reads objects by: files that several threads use at once."""

from __future__ import annotations

import threading

import pyarrow as pa

from throttlescope.ingest.lake.duck_files import SharedFile


def test_each_thread_has_its_own_place():
    """Reads of two threads are a seek and a read each, and all four calls are interleaved."""
    content = bytes(range(256)) * 4
    file, found = SharedFile(pa.BufferReader(content)), {}
    sought = threading.Barrier(2)

    def read(name: str, offset: int) -> None:
        file.seek(offset)
        sought.wait(10)
        found[name] = (file.read(10), file.tell())

    readers = [threading.Thread(target=read, args=one) for one in (("first", 5), ("second", 700))]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    assert found == {"first": (content[5:15], 15), "second": (content[700:710], 710)}


def test_ends_are_ends():
    file = SharedFile(pa.BufferReader(b"0123456789"))
    assert (file.seek(-3, 2), file.read()) == (7, b"789")
    assert file.read() == b""
    assert (file.seek(2), file.seek(3, 1), file.read(100)) == (2, 5, b"56789")
    file.close()
    file.close()
    assert file.closed
