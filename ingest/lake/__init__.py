"""The lake. In: rows of tables. Out: Delta tables that any process reads as whole versions and only the driver commits."""

from throttlescope.ingest.lake.files import DataFile, NewFile, write_data_file
from throttlescope.ingest.lake.lake import ConflictError, Lake
from throttlescope.ingest.lake.rows import read_files, read_pieces

__all__ = ["ConflictError", "DataFile", "Lake", "NewFile", "read_files", "read_pieces", "write_data_file"]
