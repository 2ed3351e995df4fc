"""What a backfill would read. In: opened sources and chunks. Out: series, samples, bytes and requests of each chunk; nothing is read.

Series are counted by the source at a few moments of the range. Bytes follow from what runs into this lake took per sample before;
where there was none, they are not known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import pyarrow.compute as pc

from throttlescope.app.pipeline.backfill.chunks import Chunk
from throttlescope.app.pipeline.sources.prometheus import ClusterSource
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.series import Meter
from throttlescope.ingest.core.times import format_time
from throttlescope.ingest.pull.plan import interval_of, items_of, measure
from throttlescope.ingest.pull.wanted_metrics import wanted_metrics
from throttlescope.models.messages.catalogue import sentence

if TYPE_CHECKING:
    from throttlescope.ingest.lake import Lake

#: Requests of a chunk other than its reads: what the server is, names, clusters, retention.
_OTHER_REQUESTS = 8


@dataclass(frozen=True)
class Planned:
    """What one chunk is expected to take.

    Attributes
    ----------
    samples : int
        Series times scrapes of the chunk, as the source counts series at a few moments of the whole range.
    bytes_read, bytes_stored : int or None
        None: nothing was ever read into this lake.
    done : bool
        It is in the lake, and will not be read.
    """

    start_ms: int
    end_ms: int
    series: int
    samples: int
    requests: int
    bytes_read: int | None
    bytes_stored: int | None
    done: bool

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def plan_chunks(
    lake: Lake, sources: Sequence[ClusterSource], chunks: Sequence[Chunk], left: Sequence[Chunk]
) -> list[Planned]:
    """What every chunk would take.

    Raises
    ------
    InputError
        A source has nothing of the whole range.
    """
    if not chunks:
        return []
    start_ms, end_ms = chunks[0].start_ms, chunks[-1].end_ms
    read_per_sample, stored_per_sample = _per_sample(lake)
    known = []
    for source in sources:
        if not isinstance(source, ClusterSource):
            raise InputError(
                "Only a Prometheus is read in chunks", got=source.name, fix="leave --recording out"
            )
        prometheus, meter = source.prometheus, Meter()
        wanted = wanted_metrics(prometheus.api, source.selectors, prometheus.mapping, start_ms, end_ms, meter)
        sizes = measure(prometheus.api, wanted, start_ms, end_ms, meter)
        interval_ms = interval_of(prometheus.api, start_ms, end_ms, meter)
        known.append((prometheus.samples.name, wanted, sizes, interval_ms))
    todo = set(left)
    planned = []
    for chunk in chunks:
        series = samples = requests = 0
        for name, wanted, sizes, interval_ms in known:
            here = sum(size.series for size in sizes.values())
            series += here
            samples += here * (chunk.end_ms - chunk.start_ms) // interval_ms
            items = items_of(name, wanted, sizes, chunk.start_ms, chunk.end_ms)
            requests += _OTHER_REQUESTS + sum(len(item.selectors) for item in items)
        planned.append(
            Planned(
                chunk.start_ms, chunk.end_ms, series, samples, requests,
                None if read_per_sample is None else round(samples * read_per_sample),
                None if stored_per_sample is None else round(samples * stored_per_sample),
                chunk not in todo,
            )
        )  # fmt: skip
    return planned


def _per_sample(lake: Lake) -> tuple[float | None, float | None]:
    """Bytes per sample that were read and that are stored, by what is in the lake."""
    runs = lake.read("ingest_runs", columns=["samples", "source_bytes"], where=pc.field("source_bytes") > 0)
    samples = pc.sum(runs["samples"]).as_py() or 0
    read = (pc.sum(runs["source_bytes"]).as_py() or 0) / samples if samples else None
    stored = sum(file.size_bytes for file in lake.files("samples"))
    written = lake.read("ingest_runs", columns=["samples_written"])
    total = pc.sum(written["samples_written"]).as_py() or 0
    return read, stored / total if total and stored else None


def plan_lines(planned: Sequence[Planned]) -> list[str]:
    """The sums, in words."""
    todo = [one for one in planned if not one.done]
    if not todo:
        return [sentence("pipeline.plan.nothing")]
    samples = sum(one.samples for one in todo)
    requests = sum(one.requests for one in todo)
    lines = [
        sentence(
            "pipeline.plan.chunks",
            left=len(todo),
            chunks=len(planned),
            start=format_time(todo[0].start_ms),
            samples=samples,
            requests=requests,
        )
    ]
    if todo[0].bytes_read is None:
        lines.append(sentence("pipeline.plan.bytes_unknown"))
    else:
        read = sum(one.bytes_read for one in todo) / 1e6
        stored = sum(one.bytes_stored or 0 for one in todo) / 1e6
        lines.append(sentence("pipeline.plan.bytes", read_mb=read, stored_mb=stored))
    return lines
