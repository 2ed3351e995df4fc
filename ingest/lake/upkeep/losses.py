"""Losses by damage, and how they can be recovered. In: a lake and the faults of a check. Out: one loss a data file, and the lake without them.

Rows of a damaged file are known by the log: how many, of which clusters and hours. What comes from a source is read again, what is
computed is computed again; answers of an admin API, findings and records of runs belong to their moment and cannot be recovered.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field

import pyarrow as pa
import pyarrow.parquet as pq

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.lake.files import DataFile
from throttlescope.ingest.lake.lake import Lake
from throttlescope.ingest.lake.upkeep.ages import span_of, span_of_all
from throttlescope.ingest.lake.upkeep.check import Fault
from throttlescope.ingest.lake.upkeep.repair_log import set_aside

#: From a Prometheus; the tables of the next line only from a recording.
READ_AGAIN = ("series", "samples")
READ_FROM_RECORDINGS = ("policies", "topic_stats", "truth")
COMPUTED_AGAIN = (
    "limits", "signals", "verdicts", "verdict_latest", "episodes", "incidents", "forecasts", "baselines", "anomalies",
    "computed",
)  # fmt: skip
#: What was taken out of the logs and is not back yet: a repair that is stopped goes on from it.
_PENDING = "_repair/pending.json"


@dataclass(frozen=True)
class DamageLoss:
    """Rows of a file that can no longer be read.

    Attributes
    ----------
    path : str
        Below the table.
    clusters : tuple of str
        None where the log does not say.
    start_ms, end_ms : int or None
        Whole UTC hours (or dates) that the rows lie in; None: the table has no age.
    """

    table: str
    path: str
    what: str
    rows: int
    clusters: tuple[str, ...]
    start_ms: int | None
    end_ms: int | None
    partition: dict[str, str] = field(default_factory=dict)
    minimum: dict[str, int | str] = field(default_factory=dict)
    maximum: dict[str, int | str] = field(default_factory=dict)

    def overlaps(self, file: DataFile) -> bool:
        """Whether a file may hold rows of the same keys."""
        return self.partition == file.partition and all(
            self.minimum[name] <= file.maximum[name] and file.minimum[name] <= self.maximum[name]
            for name in self.minimum.keys() & file.minimum.keys()
        )


def how(table: str, *, recordings: bool) -> str:
    """``read``, ``computed`` or ``nothing``: how rows of a table come back."""
    if table in READ_AGAIN or (recordings and table in READ_FROM_RECORDINGS):
        return "read"
    return "computed" if table in COMPUTED_AGAIN else "nothing"


def losses(lake: Lake, faults: Iterable[Fault]) -> list[DamageLoss]:
    """The data files among the faults, with what the log knows of their rows."""
    by_table: dict[str, dict[str, str]] = {}
    for fault in faults:
        if fault.is_of_data_file:
            by_table.setdefault(fault.table, {})[fault.path.removeprefix(f"{fault.table}/")] = fault.what
    found = []
    for table, what in by_table.items():
        files = [file for file in lake.files(table) if file.relative_path in what]
        found += [_loss(lake, table, file, what[file.relative_path]) for file in files]
    return found


def _loss(lake: Lake, table: str, file: DataFile, what: str) -> DamageLoss:
    span = span_of(TABLES[table], file)
    if table == "series":
        # The catalogue has no time: the series of a shard are those of its samples.
        shard = int(file.partition["shard"])
        span = span_of_all(TABLES["samples"], lake.files("samples", between={"shard": (shard, shard)}))
    return DamageLoss(
        table, file.relative_path, what, _rows(lake, table, file), _clusters(file), *(span or (None, None)),
        dict(file.partition), dict(file.minimum), dict(file.maximum),
    )  # fmt: skip


def _rows(lake: Lake, table: str, file: DataFile) -> int:
    """Rows of a file, by the log; where a damaged log does not say, by the file itself."""
    if file.rows is not None:
        return file.rows
    try:
        return pq.read_metadata(
            pa.BufferReader(lake.storage.read(f"{table}/{file.relative_path}") or b"")
        ).num_rows
    except (pa.ArrowException, OSError):
        return 0


def _clusters(file: DataFile) -> tuple[str, ...]:
    low, high = file.minimum.get("cluster"), file.maximum.get("cluster")
    return (str(low),) if low is not None and low == high else ()


def left_by_log(lake: Lake, table: str) -> list[DamageLoss]:
    """What whole data files hold that no version names: a table that went back has lost some of it."""
    named = {file.relative_path for file in lake.files(table)}
    found = []
    for stored in lake.storage.list(f"{table}/data"):
        path = stored.relative_path.removeprefix(f"{table}/")
        content = (
            lake.storage.read(stored.relative_path)
            if path not in named and path.endswith(".parquet")
            else None
        )
        if content is None:
            continue
        try:
            rows = pq.read_table(pa.BufferReader(content), columns=_placed(table))
        except (pa.ArrowException, OSError):
            continue
        if file := _as_file(table, path, rows, stored.size_bytes):
            found.append(_loss(lake, table, file, "of a version that cannot be read"))
    return found


def _placed(table: str) -> list[str]:
    from throttlescope.ingest.lake.files import stats_columns

    contract = TABLES[table]
    return list(dict.fromkeys([*stats_columns(contract), *contract.partition_by]))


def _as_file(table: str, path: str, rows: pa.Table, size_bytes: int) -> DataFile | None:
    import pyarrow.compute as pc

    if not rows.num_rows:
        return None
    bounds = {name: pc.min_max(rows[name]).as_py() for name in rows.column_names}
    partition = {name: str(bounds[name]["min"]) for name in TABLES[table].partition_by}
    low = {name: bound["min"] for name, bound in bounds.items()}
    high = {name: bound["max"] for name, bound in bounds.items()}
    return DataFile(path, path, partition, rows.num_rows, size_bytes, low, high, 0)


def take_out(lake: Lake, found: Sequence[DamageLoss], run_id: str) -> None:
    """Take damaged files out of their tables, one transaction a table, and set them aside: their names belong to whole ones."""
    if not found:
        return
    known = {(loss.table, loss.path): loss for loss in [*pending(lake), *found]}
    save_pending(lake, list(known.values()))
    for table in dict.fromkeys(loss.table for loss in found):
        paths = {loss.path for loss in found if loss.table == table}
        lake.commit(
            table, [], [file for file in lake.files(table) if file.relative_path in paths], run_id=run_id
        )
        for path in sorted(paths):
            set_aside(lake, f"{table}/{path}")


def rows_back(lake: Lake, loss: DamageLoss) -> int:
    """Rows that are where a loss was."""
    return sum(file.rows for file in lake.files(loss.table) if loss.overlaps(file))


def pending(lake: Lake) -> list[DamageLoss]:
    """What a repair that was stopped has taken out and not brought back."""
    content = lake.storage.read(_PENDING)
    if content is None:
        return []
    return [DamageLoss(**one | {"clusters": tuple(one["clusters"])}) for one in json.loads(content)]


def save_pending(lake: Lake, found: Sequence[DamageLoss]) -> None:
    """Write down what is still to be brought back; nothing is left where nothing is."""
    if found:
        lake.storage.write(_PENDING, json.dumps([asdict(loss) for loss in found]).encode())
    else:
        lake.storage.delete_below(_PENDING.rsplit("/", 1)[0])
