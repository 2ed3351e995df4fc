"""The gate between ingest and transforms. In: the blocks of a range. Out: what is wrong with them.

Why each check has its severity:

- A repeated block or timestamp, falling times, unequal lengths, samples outside their hour, a series without labels:
  every difference, rate and join computed from such blocks is wrong, and ingest never writes them. *Errors.*
- Missing scrapes happen whenever Prometheus restarts or a network drops, and the minutes concerned carry their
  coverage on to the verdict. *Warning.*
- Scrapes that the target's ``up`` has and a series lacks that was there before and after: something between the broker and
  the lake leaves samples out, and at every second scrape no distance shows it. Rates are right as far as they go.
  *Warning.* It is not judged where the lake has no ``up`` of the target, nor where a marker says that the series was away.
- Scrapes absent after a staleness marker say that the broker did not expose the subscription's backlog: the topic was
  unloaded, or the broker was down. *Warning.*
- A negative backlog is what a broker really prints when ``exposePreciseBacklogInPrometheus`` is off and its two
  counters disagree. Refusing it would refuse the source; the verdict has to doubt it. *Warning*, as for other negative
  values and values that are no numbers.
- A counter that falls to more than half of what it was has not restarted: it had a scrape's time to count, and before all
  of its life. It is a gauge in disguise (brokers before 2022 took the counts of consumers that left away again), or two
  sources take turns in one series, and rates add the whole value at every fall. *Warning*, because a counter that had
  hardly begun may really come back so far.
- More restarts in an hour than it has windows: every window of the subscription sees its topic come up. *Warning.*
- Scrapes that failed, as ``up`` says: the minutes concerned carry their coverage. *Warning.*
- A broker's times that lie after the scrape by more than a minute: its clock or the scraping server's is wrong, and ages
  ("time since the last acknowledgement") are. *Warning.*
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.times import block_start, format_time
from throttlescope.ingest.lake import DataFile, Lake
from throttlescope.ingest.quality.block_facts import AHEAD_MS, HOLE_INTERVALS
from throttlescope.ingest.quality.block_faults import FAULTS, RESTARTS_IN_AN_HOUR, faults_of_files
from throttlescope.ingest.quality.checks import CHECK_LAKE, GateCheck
from throttlescope.ingest.quality.findings import GateResult, judge
from throttlescope.ingest.quality.frames import Frame, mapped
from throttlescope.ingest.quality.ingest_validation import with_labels
from throttlescope.ingest.quality.scrapes import FEW_SCRAPES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_KEY = TABLES["samples"].key

CHECKS = (
    GateCheck(
        "block_key_unique", "repeated_blocks", "error", "repeated blocks",
        f"one row per {' and '.join(_KEY)}", unique=_KEY,
        fix=CHECK_LAKE,
    ),
    GateCheck(
        "timestamp_key_unique", "repeated_timestamps", "error", "samples at a time that the series already has",
        "one sample per series and time",
        fix=CHECK_LAKE,
    ),
    GateCheck(
        "timestamps_rise", "falling_timestamps", "error", "times before their predecessor", "rising times",
        fix=CHECK_LAKE,
    ),
    GateCheck(
        "values_match_timestamps", "surplus_values", "error", "values too many or too few",
        "as many values as timestamps",
        fix=CHECK_LAKE,
    ),
    GateCheck(
        "block_holds_its_times", "outside_block", "error", "times outside their block",
        "times inside the block's hour",
        fix=CHECK_LAKE,
    ),
    GateCheck(
        "series_in_catalogue", "unknown_series", "error", "blocks of series that the catalogue does not have",
        "every series_id is in series",
        fix=CHECK_LAKE,
    ),
    GateCheck(
        "scrapes_complete", "missing_scrapes", "warning", "missing scrapes",
        f"no distance above {HOLE_INTERVALS} of the series' median interval",
        fix="check Prometheus and its network at that time; if the source has the samples now, read the hours again",
    ),
    GateCheck(
        "scrapes_as_up", "unread_scrapes", "warning", "scrapes that up has and the series does not",
        f"at most {FEW_SCRAPES} scrapes of the target less than up, between samples of the series",
        not_judged=(
            ("without_up", "of which the lake holds no up"), ("went_away", "of series that a marker says were away"),
        ),
        fix="check what lies between Prometheus and the lake: proxies, downsampling, deduplication",
    ),
    GateCheck(
        "backlog_exposed", "absent_backlog_scrapes", "warning", "scrapes without the subscription's backlog",
        "the backlog series does not end and come back",
        fix="nothing if the topic was unloaded; otherwise check the broker at that time",
    ),
    GateCheck(
        "backlog_not_negative", "negative_backlog", "warning", "negative backlog samples", "backlog >= 0",
        fix="set exposePreciseBacklogInPrometheus=true on the brokers",
    ),
    GateCheck(
        "counters_not_negative", "negative_counter", "warning", "negative counter samples", "counters >= 0",
        fix="check the source: a counter is never negative",
    ),
    GateCheck(
        "gauges_not_negative", "negative_gauge", "warning", "negative gauge samples", "gauges >= 0",
        fix="check the source",
    ),
    GateCheck(
        "counters_only_rise", "shallow_falls", "warning", "falls of a counter to more than half of it",
        "a counter rises, or restarts at 0",
        fix="check that no two sources write to one series (replicas without a label of their own)",
    ),
    GateCheck(
        "counters_seldom_restart", "frequent_restarts", "warning", "restarts of counters",
        f"at most {RESTARTS_IN_AN_HOUR} restarts of a counter in an hour",
        fix="check why the topic is unloaded, or its broker restarts, so often",
    ),
    GateCheck(
        "scrapes_succeed", "failed_scrapes", "warning", "failed scrapes", "up is 1",
        fix="check the broker and scrape_timeout",
    ),
    GateCheck(
        "broker_clock", "ahead_of_clock", "warning", "times after their own scrape",
        f"a broker's clock at most {AHEAD_MS // 1000} s ahead of the scraping server's",
        fix="synchronise the clocks of the broker and of the Prometheus server",
    ),
    GateCheck(
        "values_finite", "not_finite_values", "warning", "samples that are NaN or infinite", "finite values",
        fix="check the source",
    ),
)  # fmt: skip


#: Blocks that are counted in this process at most: an hour of some 300 subscriptions.
_IN_PROCESS_BLOCKS = 20_000


def check_samples(
    session: SparkSession | None, lake: Lake, clusters: Iterable[str], start_ms: int, end_ms: int, run_id: str
) -> GateResult:
    """Check the blocks that touch [start_ms, end_ms) of some clusters.

    Parameters
    ----------
    session : SparkSession, optional
        Without one everything is counted in this process.

    Returns
    -------
    GateResult
        Rows for ``quality``; ``stopped`` where nothing may be computed from these blocks.
    """
    return judge(
        _frame(session, lake, set(clusters), start_ms, end_ms),
        CHECKS,
        gate="samples",
        table="samples",
        row_word="blocks",
        run_id=run_id,
        example_columns=("series_id", "metric_name", "block_start_ms"),
        describe=lambda example: _described(lake, example),
    )


def _frame(session: SparkSession | None, lake: Lake, clusters: set[str], start_ms: int, end_ms: int) -> Frame:
    """One row per block with its fault columns.

    All blocks of a series are in files of one metric, cluster and shard. A task therefore gets such a group of files
    whole and in order of time, and nothing has to be shuffled for what one block has to know of the one before.
    """
    between = {"block_start_ms": (block_start(start_ms), end_ms - 1)}
    groups: dict[tuple[str, str, int], list[DataFile]] = defaultdict(list)
    for file in lake.files("samples", between=between):
        if file.minimum["cluster"] in clusters:
            key = (file.partition["metric_name"], file.minimum["cluster"], file.minimum["shard"])
            groups[key].append(file)
    catalogue: dict[int, list[str]] = defaultdict(list)
    for file in lake.files("series"):
        catalogue[int(file.partition["shard"])].append(file.path)
    up_blocks: dict[str, list[str]] = defaultdict(list)
    up_catalogue: dict[str, list[str]] = defaultdict(list)
    for (metric_name, cluster, shard), files in sorted(groups.items()):
        if metric_name == "up":
            up_blocks[cluster] += [file.path for file in files]
            up_catalogue[cluster] += catalogue[shard]
    tasks = [
        {
            "blocks": [file.path for file in sorted(files, key=lambda file: file.minimum["block_start_ms"])],
            "catalogue": catalogue[shard],
            "metric_name": metric_name,
            "up_blocks": up_blocks[cluster],
            "up_catalogue": up_catalogue[cluster],
        }
        for (metric_name, cluster, shard), files in sorted(groups.items(), key=lambda one: one[0][2])
    ]
    # Opening a file costs as much as some ten blocks.
    blocks = sum(file.rows + 10 for files in groups.values() for file in files)
    return mapped(session, tasks, faults_of_files, FAULTS, blocks, most=_IN_PROCESS_BLOCKS)


def _described(lake: Lake, example: dict) -> dict:
    series = with_labels(lake, {name: example[name] for name in ("series_id", "metric_name")})
    return series | {"block": format_time(example["block_start_ms"])}
