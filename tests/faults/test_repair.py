"""lake repair against a real Prometheus: what is damaged comes back as it was, and what the source has no more is named."""

import json
import shutil

import pytest

from tests.app.incremental import differences, hour, put, request, run
from tests.faults import pipeline
from tests.lab.prometheus import running_prometheus
from throttlescope.app.cli import main
from throttlescope.app.pipeline.events import SILENT
from throttlescope.app.services.lake_repair import planned, repair
from throttlescope.ingest.core.errors import InputError, SourceError
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.lake.upkeep.check import check
from throttlescope.ingest.lake.upkeep.losses import pending
from throttlescope.ingest.lake.upkeep.vacuum import clean_log

#: Whole runs.
pytestmark = [pytest.mark.study, pytest.mark.spark, pytest.mark.prometheus]


@pytest.fixture(scope="module")
def server():
    with running_prometheus() as found:
        put(found.url, 0, 2)
        yield found


@pytest.fixture
def whole(server, spark, tmp_path):
    """A lake of two hours, whole."""
    run(spark, tmp_path / "whole", server.url, 0, 2)
    return tmp_path / "whole"


@pytest.fixture
def lake(whole, tmp_path):
    """Its copy, with damage that a source can mend."""
    found = Lake(shutil.copytree(whole, tmp_path / "lake"))
    for table, which in (("samples", 0), ("samples", -1), ("series", 0), ("signals", 0), ("verdicts", -1)):
        damaged(found, table, which)
    return found


def damaged(lake: Lake, table: str, which: int) -> str:
    """One file of a table gets a changed byte."""
    path = f"{table}/{sorted(file.relative_path for file in lake.files(table))[which]}"
    address = lake.storage.address(path)
    with open(address, "r+b") as file:
        file.seek(30)
        byte = file.read(1)
        file.seek(30)
        file.write(bytes([byte[0] ^ 0x40]))
    return path


def mended(lake, url, spark, *, forget=False):
    asked = request(lake.root, url, 0, 2)
    return repair(asked, None, SILENT, forget=forget, session=spark)


def test_repair_restores_or_names_damage(server, spark, whole, lake, capsys):
    for table in ("verdict_latest", "episodes", "forecasts", "computed"):
        lake.storage.delete([damaged(lake, table, 0)])
    clean_log(lake, "signals")
    (checkpoint,) = (
        file.relative_path
        for file in lake.storage.list("signals/_delta_log")
        if file.relative_path.endswith(".parquet")
    )
    lake.storage.write(checkpoint, b"PAR1 no more")
    quality = damaged(lake, "quality", 0)

    with pytest.raises(SystemExit) as ended:
        main(["lake", "repair", "--lake", lake.root, "--prometheus", server.url, "--format", "json"])
    plan = json.loads(capsys.readouterr().out)
    assert (ended.value.code, len(plan["read"]), len(plan["gone"])) == (1, 3, 1)
    assert {one["table"] for one in plan["computed"]} >= {
        "verdicts",
        "verdict_latest",
        "episodes",
        "computed",
    }

    # A source that is away costs nothing, nor does damage that runs could not go on with.
    with pytest.raises(InputError, match=r"got 1 files with \d+ rows of quality.*--forget"):
        mended(lake, server.url, spark)
    with pytest.raises(SourceError):
        mended(lake, "http://127.0.0.1:9", spark, forget=True)
    assert {fault.table for fault in check(lake)} >= {"samples", "verdicts", "computed"}
    assert quality not in {fault.path for fault in check(lake)}

    done = mended(lake, server.url, spark, forget=True)
    assert differences(lake.root, whole) == {}
    assert (done.short, done.faults, done.left, done.is_whole) == ([], [], [], True)
    assert (pending(lake), check(lake)) == ([], [])
    assert planned(lake, None, recordings=False).is_empty


@pytest.mark.parametrize("at", ["step 2", "commit 1 before", "commit 4 after", "commit 9 before"])
def test_killed_repair_continues(server, whole, lake, at):
    asked = ("lake", "repair", "--prometheus", server.url, "--master", "local[2]", "--yes")
    code, said = pipeline.run(asked, lake.root, at)
    assert code == -9, said
    code, said = pipeline.run(asked, lake.root, "")
    assert code == 0, said
    assert differences(lake.root, whole) == {}
    assert (pending(lake), check(lake)) == ([], [])


def test_rows_beyond_retention_are_named(server, spark, tmp_path):
    lake = Lake(tmp_path / "lake")
    run(spark, lake.root, server.url, 0, 2, command="ingest")
    first = [file for file in lake.files("samples") if file.minimum["block_start_ms"] == hour(0)]
    for file in first:
        lake.storage.delete([f"samples/{file.relative_path}"])
    with running_prometheus() as forgetful:
        put(forgetful.url, 1, 2)
        done = mended(lake, forgetful.url, spark)
    assert {(loss.table, loss.start_ms, rows) for loss, rows in done.short} == {("samples", hour(0), 0)}
    assert (len(done.short), done.back, done.faults) == (len(first), 0, [])
    assert {file.minimum["block_start_ms"] for file in lake.files("samples")} == {hour(1)}
    assert planned(lake, None, recordings=False).is_empty
