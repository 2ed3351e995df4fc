"""Parquet files of a lake, wherever they are. In: addresses of files, on disk or ``s3://``. Out: as pyarrow reads them.

The only place that opens a lake's files for reading. A file on disk is opened by its path, as before; of an object
the footer and the requested columns are fetched, in few and large pieces.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from throttlescope.ingest.lake.damage import UNREADABLE, reporting_damage

_REMOTE = "s3://"


def is_remote(path: str) -> bool:
    """Whether an address is an object's."""
    return path.startswith(_REMOTE)


def parquet_file(path: str, **options: Any) -> pq.ParquetFile:
    """One open file; close it, or read it whole.

    Parameters
    ----------
    options
        As :class:`pyarrow.parquet.ParquetFile` takes them.

    Raises
    ------
    FileNotFoundError
        The file is not there.
    DamagedFilesError
        It does not hold the bytes that were written.
    SourceError
        The object store does not answer or refuses.
    """
    if not is_remote(path):
        with reporting_damage(path):
            return _File(path, path, **options)
    with reporting_store_errors(path), reporting_damage(path):
        # Columns are fetched together before any is decoded: a request each would cost a round trip each.
        return _File(path, _opened(path), pre_buffer=True, **options)


class _File(pq.ParquetFile):
    """An open file that says so where it is damaged and that shows only when it is read; use it in ``with``."""

    def __init__(self, path: str, source: str | pa.NativeFile, **options: Any) -> None:
        super().__init__(source, **options)
        self._path = path

    def __exit__(self, kind: type | None, error: BaseException | None, *rest: object) -> None:
        super().__exit__(kind, error, *rest)
        if isinstance(error, UNREADABLE):
            with reporting_damage(self._path):
                raise error


def read_parquet(
    path: str,
    columns: Sequence[str] | None = None,
    *,
    use_threads: bool = True,
    where: pc.Expression | None = None,
) -> pa.Table:
    """Rows of one file, with its own columns or some of them."""
    columns = None if columns is None else list(columns)
    if where is not None:
        with reporting_store_errors(path), reporting_damage(path):
            return dataset([path]).to_table(columns=columns, filter=where, use_threads=use_threads)
    with reporting_store_errors(path), parquet_file(path) as file:
        return file.read(columns, use_threads=use_threads)


def row_groups(path: str, where: pc.Expression) -> list[int]:
    """Row groups of one file that may hold such rows, by their statistics.

    Arrow reads them itself: reading a damaged description of a column in Python (``metadata.row_group(i).column(j)``) ends the process.
    """
    with reporting_store_errors(path), reporting_damage(path):
        (fragment,) = dataset([path]).get_fragments()
        return [group.id for group in fragment.subset(where).row_groups]


def dataset(
    paths: Sequence[str], schema: pa.Schema | None = None, *, kind: Literal["parquet", "arrow"] = "parquet"
) -> ds.Dataset:
    """Some files as one dataset; a column of the schema that a file lacks is NULL there."""
    if not paths or not is_remote(paths[0]):
        return ds.dataset(list(paths), schema=schema, format=kind)
    from throttlescope.ingest.lake.object_store import arrow_filesystem

    whole = ds.ParquetFragmentScanOptions(pre_buffer=True)
    format_ = kind if kind == "arrow" else ds.ParquetFileFormat(default_fragment_scan_options=whole)
    with reporting_store_errors(paths[0]):
        keys = [path.removeprefix(_REMOTE) for path in paths]
        return ds.dataset(keys, schema=schema, format=format_, filesystem=arrow_filesystem())


@contextlib.contextmanager
def reporting_store_errors(path: str) -> Iterator[None]:
    """Faults of the object store as what a user is to see; those of files on disk, and a file that is gone, as they are."""
    try:
        yield
    except FileNotFoundError:
        raise
    except OSError as error:
        if not is_remote(path):
            raise
        from throttlescope.ingest.lake.store_errors import is_store_fault, store_error

        if not is_store_fault(error):
            raise
        raise store_error(error, path) from error


def _opened(path: str) -> pa.NativeFile:
    from throttlescope.ingest.lake.object_store import arrow_filesystem

    return arrow_filesystem().open_input_file(path.removeprefix(_REMOTE))
