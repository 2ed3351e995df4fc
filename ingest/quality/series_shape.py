"""The shape of stored series. In: rows of ``series``. Out: one row of fault counts per series.

Ingest validation refuses what it cannot place and brings the rest into one shape (:mod:`throttlescope.ingest.core.labels`). What is found here
bypassed ingest validation, or is a label that it cannot judge: a namespace of another system.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from throttlescope.ingest.core.labels import shard_of
from throttlescope.ingest.core.metrics import METRICS, needs_labels

FAULTS = pa.schema(
    [
        ("cluster", pa.string()),
        ("metric_name", pa.string()),
        ("series_id", pa.string()),
        ("repeated_series", pa.int64()),  # further rows of the same series
        ("misnamed_series", pa.int64()),  # the id is no hash of 128 bits in hex
        ("lacking_labels", pa.int64()),  # a label that names its subscription or topic is not there
        ("crooked_partition", pa.int64()),  # no whole number from -1
        ("misplaced_series", pa.int64()),  # in another shard than its topic
        ("crooked_topic", pa.int64()),  # not persistent://tenant/namespace/name, nor a scalable topic
        ("foreign_namespace", pa.int64()),  # another namespace than the topic's own
    ]
)

_ID = r"^[0-9a-f]{32}$"
_PLACE = ("cluster", "namespace", "topic", "partition", "shard")
_SCHEMES = ("persistent://", "non-persistent://", "topic://")


def series_faults(series: pa.Table) -> pa.Table:
    """Count what is wrong with each series.

    Parameters
    ----------
    series : pyarrow.Table
        Rows of ``series``, any number, any order; all rows of a series are among them.

    Returns
    -------
    pyarrow.Table
        One row per row of ``series`` with the columns of :data:`FAULTS`.
    """
    series = series.combine_chunks()
    metric = series["metric_name"]
    labels = {
        name: _label(series["labels"], name) for name in ("namespace", "topic", "partition", "subscription")
    }
    places = pa.table(
        {
            "cluster": series["cluster"],
            **{name: pc.fill_null(labels[name], "") for name in ("namespace", "topic", "partition")},
            "shard": series["shard"],
            "is_pulsar": pc.starts_with(metric, "pulsar_"),
            "row": pa.array(range(series.num_rows), pa.int64()),
        }
    )
    judged = _judged(places)
    columns = {
        "repeated_series": _repeats(series["series_id"]),
        "misnamed_series": _ones(pc.invert(pc.match_substring_regex(series["series_id"], _ID))),
        "lacking_labels": _lacking(metric, labels),
        **{name: judged[name] for name in judged.column_names},
    }
    return pa.Table.from_arrays(
        [series[name] if name in series.column_names else columns[name] for name in FAULTS.names],
        schema=FAULTS,
    )


def place_faults(
    cluster: str, namespace: str, topic: str, partition: str, shard: int, is_pulsar: bool
) -> dict[str, int]:
    """What is wrong with the place that a series names; an absent label is empty."""
    of_topic = is_pulsar and bool(topic)
    rest = next((topic.removeprefix(scheme) for scheme in _SCHEMES if topic.startswith(scheme)), "")
    is_topic = len(parts := rest.split("/")) >= 3 and all(parts[:2]) and bool(parts[-1])
    digits = partition.removeprefix("-")
    is_number = digits.isascii() and digits.isdigit() and int(partition) >= -1
    return {
        "crooked_partition": int(of_topic and not is_number),
        "misplaced_series": int(shard != shard_of(cluster, namespace, topic)),
        "crooked_topic": int(of_topic and not is_topic),
        # A topic of Pulsar's first version has a cluster between tenant and namespace.
        "foreign_namespace": int(
            of_topic and is_topic and bool(namespace) and not rest.startswith(namespace + "/")
        ),
    }


def _label(labels: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    return pc.map_lookup(labels, query_key=pa.scalar(name), occurrence="first")


def _judged(places: pa.Table) -> pa.Table:
    """Each different place is judged once: many series share one."""
    key = [*_PLACE, "is_pulsar"]
    different = places.select(key).group_by(key).aggregate([])
    faults = [place_faults(**place) for place in different.to_pylist()]
    names = list(place_faults("", "", "", "", 0, False))
    for name in names:
        different = different.append_column(name, pa.array([found[name] for found in faults], pa.int64()))
    return places.join(different, key).sort_by("row").select(names)


def _lacking(metric: pa.ChunkedArray, labels: dict[str, pa.ChunkedArray]) -> pa.Array:
    """How many of the labels that its metric needs a series lacks."""
    lacking = pa.array([0], pa.int64()).take(pa.nulls(len(metric), pa.int64())).fill_null(0)
    for name, values in labels.items():
        needing = [one for one in METRICS if name in needs_labels(one)]
        if needing:
            needs = pc.is_in(metric, value_set=pa.array(needing, pa.string()))
            lacking = pc.add(lacking, _ones(pc.and_(needs, pc.is_null(values))))
    return lacking


def _repeats(series_id: pa.ChunkedArray) -> pa.Array:
    """1 for every row of a series but one."""
    rows = pa.table({"series_id": series_id, "row": pa.array(range(len(series_id)), pa.int64())})
    first = rows.group_by("series_id").aggregate([("row", "min")])["row_min"]
    return _ones(pc.invert(pc.is_in(rows["row"], value_set=first.combine_chunks())))


def _ones(flags) -> pa.Array:
    return pc.cast(flags, pa.int64())
