"""What shares a broker's limit with a topic. In: the topic's minutes, and the source. Out: the minutes of everything else on its brokers.

Nothing is read where no broker has a limit, which is the usual case.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from throttlescope.app.services.diagnose_now.deadline import Deadline, Waited
from throttlescope.app.services.diagnose_now.question import NowQuestion
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.contracts.vocabulary import UNITS
from throttlescope.ingest.core.errors import SourceError
from throttlescope.ingest.sources.prometheus import PrometheusSource
from throttlescope.models.messages.catalogue import sentence
from throttlescope.transforms.minutes import minute_rows
from throttlescope.transforms.promql.source import Series
from throttlescope.transforms.topic_samples import IndexedSource, TopicSamples, read_sharing

#: Share of the time until which it is waited for.
_SHARING_UNTIL = 0.9


def sharing(
    minutes: pa.Table,
    prometheus: PrometheusSource,
    found: TopicSamples,
    question: NowQuestion,
    hours: tuple[int, int],
    deadline: Deadline,
) -> tuple[pa.Table | None, bool, list[str]]:
    """Read what else uses the limits of the topic's brokers.

    Returns
    -------
    pyarrow.Table or None
        Minutes of the other topics on the brokers that have a limit; None where no broker has one, or they could not be read.
    bool
        Whether that is all of them.
    list of str
        Notes.
    """
    limited = pc.or_(*(pc.is_valid(minutes[f"limit_broker_{unit}"]) for unit in UNITS))
    brokers = sorted(set(minutes["broker"].filter(limited).drop_null().to_pylist()))
    if not brokers:
        return None, True, []
    in_entries = "entries" in minutes["limit_counts"].filter(limited).to_pylist()

    def read() -> pa.Table:
        start_ms = min(hours[0], found.span_ms[0])
        series = read_sharing(
            prometheus.samples, prometheus.mapping, found.cluster, question.topic, brokers, start_ms, hours[1],
            in_entries=in_entries,
        )  # fmt: skip
        source, stats = IndexedSource(series), TABLES["topic_stats"].loose_schema.empty_table()
        limits = (
            _counting_entries(minutes, series) if in_entries else TABLES["limits"].loose_schema.empty_table()
        )
        return minute_rows(source, limits, stats, *hours, {found.cluster: found.span_ms[1]})

    try:
        return Waited(read).result(deadline, _SHARING_UNTIL, sentence("diagnose_now.sharing")), True, []
    except SourceError as error:
        return None, False, [sentence("diagnose_now.broker_use_unknown", error=error)]


def _counting_entries(minutes: pa.Table, series: list[Series]) -> pa.Table:
    """Rows of ``limits`` for the neighbours that say no more than that this broker's limits count entries."""
    observed_ms = pc.min(minutes["limits_observed_ms"]).as_py()
    keys = {
        tuple(one.labels.get(name) for name in SUBSCRIPTION_KEY_NAMES)
        for one in series
        if one.labels.get("subscription")
    }
    rows = [
        dict(zip(SUBSCRIPTION_KEY_NAMES, key, strict=True))
        | {
            "partition": int(key[SUBSCRIPTION_KEY_NAMES.index("partition")]),
            "level": "broker",
            "period_s": 1,
            "counts": "entries",
            "observed_ms": observed_ms,
        }
        for key in sorted(keys)
    ]
    return pa.Table.from_pylist(rows, schema=TABLES["limits"].loose_schema)
