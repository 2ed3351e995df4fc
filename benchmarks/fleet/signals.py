"""A day of ``signals`` of a made fleet. In: a number of subscriptions. Out: a lake, kept in ``.bench/diagnosis``.

Of every hundred subscriptions 28 are idle, 30 have no limit, 15 a large one, 25 a limit below the read batch, so that every
read of theirs counts as throttled, and 2 are in an episode of one to eight hours: throttled, too slow, both, or left by
their consumers. The same seed gives the same bytes.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.contracts.vocabulary import LEVELS, UNITS
from throttlescope.ingest.core.times import BLOCK_MS, MINUTE_MS, date_of
from throttlescope.ingest.lake import Lake, write_data_file

FOLDER = Path(".bench/diagnosis")
VERSION = 1
CLUSTER = "prod"
START_MS = 1_795_046_400_000  # midnight, UTC
HOURS = 24
IDLE, FREE, LIMITED, TICKING, THROTTLED, SLOW, BOTH, DESERTED = range(8)
#: What each of a hundred subscriptions is; those in an episode take turns.
_OF_A_HUNDRED = [IDLE] * 28 + [FREE] * 30 + [LIMITED] * 15 + [TICKING] * 25
_EPISODES = (THROTTLED, SLOW, BOTH, DESERTED)


def lake_of(subscriptions: int) -> Lake:
    """The lake of a fleet; made when it is not there."""
    folder = FOLDER / f"{subscriptions}-v{VERSION}"
    if not (folder / "made").exists():
        shutil.rmtree(folder, ignore_errors=True)
        fleet, lake = Fleet(subscriptions), Lake(folder / "lake")
        files = []
        for hour in range(HOURS):
            files.append(write_data_file(lake.root, "signals", fleet.hour(hour)))
            print(f"{subscriptions} subscriptions, hour {hour + 1} of {HOURS}", file=sys.stderr, flush=True)
        lake.commit("signals", files, run_id="benchmark")
        (folder / "made").touch()
    return Lake(folder / "lake")


class Fleet:
    """Subscriptions, sorted by key, and what is going on with each."""

    def __init__(self, subscriptions: int) -> None:
        rng = np.random.default_rng(subscriptions)
        self.count = subscriptions
        number = np.arange(subscriptions)
        kinds = np.array(_OF_A_HUNDRED + [-1] * 2)
        self.kind = kinds[rng.permutation(number) % 100]
        troubled = np.flatnonzero(self.kind == -1)
        self.kind[troubled] = np.array(_EPISODES)[np.arange(len(troubled)) % len(_EPISODES)]
        self.rate = np.where(self.kind == IDLE, 0.0, np.exp(rng.normal(3.0, 1.2, subscriptions)))
        self.rate = np.where(self.kind == TICKING, np.minimum(self.rate, 40.0), self.rate)
        self.limit = np.rint(self.rate * rng.uniform(1.2, 4.0, subscriptions)) + 1
        self.limit = np.where(self.kind == LIMITED, np.maximum(self.limit, 200), self.limit)
        self.limit[np.isin(self.kind, (IDLE, FREE, SLOW, DESERTED))] = np.nan
        self.start = rng.integers(60, 15 * 60, subscriptions)
        self.end = self.start + rng.integers(60, 8 * 60, subscriptions)
        self.consumers = rng.integers(1, 6, subscriptions).astype(float)
        self.message_bytes = np.rint(np.exp(rng.normal(6.5, 0.8, subscriptions)))

    def hour(self, hour: int) -> pa.Table:
        """Rows of one hour, sorted by key."""
        minute = hour * 60 + np.arange(60)
        rng = np.random.default_rng((self.count, hour))
        shape = (self.count, 60)
        day = 1.0 + 0.4 * np.sin(2 * np.pi * minute / 1440)
        ill = (
            (minute >= self.start[:, None]) & (minute < self.end[:, None]) & (self.kind >= THROTTLED)[:, None]
        )
        kind = np.broadcast_to(self.kind[:, None], shape)
        throttled = ill & np.isin(kind, (THROTTLED, BOTH))
        full = ill & np.isin(kind, (SLOW, BOTH))
        alone = ill & (kind == DESERTED)
        limit = np.broadcast_to(self.limit[:, None], shape)
        usual = self.rate[:, None] * day / 1.4
        arrived = np.rint(60 * usual * rng.uniform(0.97, 1.03, shape))
        arrived = np.where(throttled, np.rint(60 * limit * 1.2), arrived)
        out = np.where(throttled, np.rint(60 * limit), np.where(full, np.rint(arrived * 0.7), arrived))
        out = np.where(alone, 0.0, out)
        # What was left behind in every minute of the episode so far, and half an hour of working it off.
        since = np.clip(minute - self.start[:, None], 0, None)
        behind = np.where(ill, (arrived - out) * (since + 1), 0.0)
        after = np.clip((self.end[:, None] + 30 - minute) / 30, 0, 1) * (minute >= self.end[:, None])
        behind += after * (self.kind >= THROTTLED)[:, None] * self.rate[:, None] * 600
        idle = (self.kind == IDLE)[:, None]
        backlog = np.where(idle, 0.0, np.rint(rng.uniform(0, 12, shape))) + behind
        ticks = np.where(kind == TICKING, np.rint(out * rng.uniform(0.3, 0.5, shape)), 0.0)
        events = np.where(throttled, np.rint(rng.uniform(58, 66, shape)), ticks)
        permits = np.where(full, 0.0, rng.integers(700, 1000, shape))
        rho = out / 60 / limit
        columns = {
            "backlog_entries": backlog, "backlog_ready_entries": backlog, "delayed_entries": 0.0, "replay_entries": 0.0,
            "unacked_msg": np.where(full, 1000.0 * self.consumers[:, None], 0.0), "blocked_on_unacked": 0.0,
            "consumers": np.where(alone, 0.0, self.consumers[:, None]),
            "permits_min": np.where(alone, np.nan, permits), "permits_max": np.where(alone, np.nan, permits),
            "consumers_without_permits": np.where(full, self.consumers[:, None], 0.0),
            "consumers_blocked_on_unacked": 0.0, "consumer_unacked_msg_max": np.where(full, 1000.0, 0.0),
            "consumer_ack_msg_rate_min": out / 60 / self.consumers[:, None] * 0.9,
            "consumer_ack_msg_rate_max": out / 60 / self.consumers[:, None] * 1.1,
            "in_msg_rate_5m": arrived / 60, "in_bytes_rate_5m": arrived / 60 * self.message_bytes[:, None],
            "out_msg_rate_5m": out / 60, "out_bytes_rate_5m": out / 60 * self.message_bytes[:, None],
            "ack_msg_rate": out / 60, "redeliver_msg_rate": 0.0, "expired_msg_rate": 0.0, "write_entry_rate": arrived / 60,
            "quota_evictions_5m": 0.0, "read_cache_miss_entry_rate": 0.0,
            "storage_backlog_bytes": backlog * self.message_bytes[:, None],
            "last_flow_age_s": np.where(idle, 9000.0, rng.uniform(0, 15, shape)),
            "last_ack_age_s": np.where(idle, 9000.0, rng.uniform(0, 15, shape)),
            "mark_delete_age_s": np.where(idle, 9000.0, rng.uniform(0, 15, shape)),
            "in_msg_delta": arrived, "in_bytes_delta": arrived * self.message_bytes[:, None],
            "out_msg_delta": out, "out_bytes_delta": out * self.message_bytes[:, None], "expired_msg_delta": 0.0,
            "permits_exhausted_share": np.where(alone, np.nan, full.astype(float)),
            "coverage_share": np.where(rng.random(shape) < 0.01, 0.75, 1.0), "scrape_interval_ms": 15_000,
            "delta_span_ms": 60_000, "in_span_ms": 60_000, "events_span_ms": 60_000, "counter_resets": 0, "limits_observed_ms": START_MS, "read_batch_entries": 100,
            "read_size_bytes": 5_242_880, "messages_per_entry": 1.0,
            "limit_subscription_msg": limit, "rho_subscription_msg": rho,
            "limit_subscription_period_s": np.where(np.isnan(limit), np.nan, 1.0),
        }  # fmt: skip
        for level in LEVELS:
            for unit in UNITS:
                here = level == "subscription" and unit == "msg"
                columns[f"throttled_{unit}_events_{level}_delta"] = events if here else 0.0
                columns[f"throttled_{unit}_duty_{level}_share"] = np.minimum(events, 1.0) if here else 0.0
        return self._table(columns, START_MS + hour * BLOCK_MS)

    def _table(self, columns: dict[str, np.ndarray | float], hour_ms: int) -> pa.Table:
        rows = self.count * 60
        subscription = np.repeat(np.arange(self.count), 60)
        texts = self._texts()
        limited = pa.array(~np.isnan(self.limit)).take(pa.array(subscription))
        set_by = {"limit_subscription_set_by": pa.compute.if_else(limited, "topic_policy", "none")}
        words = {
            "date": date_of(hour_ms), "broker": None, "limit_broker_set_by": "none", "limit_topic_set_by": "none",
            "limit_counts": "messages", "subscription_type": "Shared",
        }  # fmt: skip
        arrays = []
        for field in TABLES["signals"].loose_schema:
            if field.name in texts:
                array = texts[field.name].take(pa.array(subscription))
            elif field.name == "minute_ms":
                array = pa.array(np.tile(hour_ms + np.arange(60) * MINUTE_MS, self.count))
            elif field.name in set_by:
                array = set_by[field.name]
            elif words.get(field.name) is not None:
                array = pa.repeat(pa.scalar(words[field.name]), rows)
            elif pa.types.is_boolean(field.type):
                array = pa.repeat(pa.scalar(field.name == "limits_observed"), rows)
            elif field.name in columns:
                values = np.broadcast_to(columns[field.name], (self.count, 60)).ravel().astype(np.float64)
                array = pa.array(values, mask=np.isnan(values)).cast(field.type)
            else:
                array = pa.nulls(rows, field.type)
            arrays.append(array)
        return pa.Table.from_arrays(arrays, schema=TABLES["signals"].loose_schema)

    def _texts(self) -> dict[str, pa.Array]:
        """Names: forty namespaces, two subscriptions a topic, eight brokers."""
        number = range(self.count)
        each = max(1, self.count // 40)
        namespace = [f"acme/team-{i // each:03d}" for i in number]
        return {
            "cluster": pa.repeat(pa.scalar(CLUSTER), self.count),
            "namespace": pa.array(namespace),
            "topic": pa.array(
                [f"persistent://{name}/orders-{i // 2:06d}" for i, name in enumerate(namespace)]
            ),
            "partition": pa.array([i // 2 % 4 for i in number], pa.int32()),
            "subscription": pa.array([f"service-{i % 2}" for i in number]),
            "broker": pa.array([f"broker-{i // 2 % 8}.pulsar.internal:8080" for i in number]),
        }
