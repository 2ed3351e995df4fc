"""A damaged or missing file that Spark meets is one line that names it, like everywhere else."""

import pytest

from tests.ingest.lake.upkeep.made import add, verdict
from throttlescope.app.cli.library_errors import wrapped_error
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.lake.damage import DamagedFilesError
from throttlescope.ingest.lake.formats import MissingFilesError


def test_spark_names_damaged_or_missing_file(spark, tmp_path):
    lake = Lake(tmp_path)
    add(lake, "verdicts", [verdict(0)], [verdict(1)])
    path = min(file.relative_path for file in lake.files("verdicts"))
    address = tmp_path / "verdicts" / path
    content = address.read_bytes()
    frame = lake.spark(spark, "verdicts")
    for change, kind in (
        (lambda: address.write_bytes(content[:-40] + bytes(40)), DamagedFilesError),
        (address.unlink, MissingFilesError),
    ):
        change()
        with pytest.raises(Exception) as error:  # noqa: PT011
            frame.collect()
        told = wrapped_error(error.value)
        assert isinstance(told, kind), str(error.value)[:500]
        assert f"verdicts/{path}" in str(told)
        assert told.exit_code == 1
