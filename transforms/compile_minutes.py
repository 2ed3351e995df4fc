"""What the minutes of ``signals`` call of compiled functions, compiled before somebody waits for it. In: nothing. Out: machine code in the user's cache folder.

Tasks of Spark that begin at the same time would each compile it, and a diagnosis of one topic would miss its deadline.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from throttlescope.ingest.core.compilation import are_compiled
from throttlescope.ingest.core.labels import LabelMapping
from throttlescope.ingest.core.selector import NAME_LABEL
from throttlescope.ingest.core.series import DecodedSeries, batch_of
from throttlescope.ingest.core.times import BLOCK_MS
from throttlescope.ingest.lake import Lake, write_data_file
from throttlescope.ingest.lake.blocks import KERNELS, BlockBuffer, load_kernels, sample_rows
from throttlescope.ingest.pull.item import series_rows
from throttlescope.transforms import deltas
from throttlescope.transforms.minutes import MinutesTask, metrics_read, task_rows
from throttlescope.transforms.promql import blocks, kernels

#: What :func:`rows_of` calls of compiled functions, besides those of ingest.
MINUTES = (
    *deltas.KERNELS,
    *blocks.KERNELS,
    kernels.newest,
    kernels.extrapolated,
    kernels.extreme_over_window,
    kernels.aggregate,
)

_LABELS = {
    "cluster": "c",
    "namespace": "t/n",
    "topic": "persistent://t/n/orders",
    "subscription": "billing",
    "job": "broker",
}
_INSTANCES = ("broker-1:8080", "broker-2:8080")


def compile_minutes() -> None:
    """Compile what tasks of ``signals`` and a diagnosis of one topic call, where this machine has not done so.

    It takes 20 s of processor time, or a few milliseconds where nothing has to be done.
    """
    if are_compiled(*KERNELS, *MINUTES):
        return
    load_kernels()
    with tempfile.TemporaryDirectory(prefix="throttlescope-compile-") as folder:
        rows_of(small_lake(Path(folder)))


def rows_of(lake: Lake) -> int:
    """Compute the minutes of the one hour of :func:`small_lake`; how many rows there are."""
    files = tuple(lake.files("samples"))
    series_files = tuple(file.path for file in lake.files("series"))
    task = MinutesTask(0, BLOCK_MS, files, series_files, (), (), {"c": BLOCK_MS})
    return sum(batch.num_rows for batch in task_rows(task))


def small_lake(folder: Path) -> Lake:
    """Two brokers, an hour, every metric that a minute's row is made from; with ``le``, so that they are histograms, too."""
    times_ms = np.arange(0, BLOCK_MS, 15_000)
    lake = Lake(folder / "lake")
    for metric in sorted(metrics_read()):
        buffer = BlockBuffer(LabelMapping(), folder)
        buffer.add(
            batch_of(
                [
                    DecodedSeries(
                        tuple(
                            sorted({**_LABELS, NAME_LABEL: metric, "instance": instance, "le": le}.items())
                        ),
                        times_ms,
                        times_ms / 1000,
                        times_ms[-1:] + 1,
                    )
                    for instance in _INSTANCES
                    for le in ("1", "+Inf")
                ]
            )
        )
        lake.upsert("series", series_rows(buffer.series()), run_id="compile")
        files = [
            write_data_file(lake.root, "samples", sample_rows(metric, key, rows))
            for key, rows in buffer.blocks()
        ]
        lake.commit("samples", files, run_id="compile")
    return lake
