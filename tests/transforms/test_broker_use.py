"""The use of a broker's limit, in one process: by hand, and beside Spark."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from throttlescope.ingest.contracts import TABLES
from throttlescope.transforms.broker_use import signals_of
from throttlescope.transforms.minutes import SCHEMA

START_MS = 1_700_000_040_000 - 1_700_000_040_000 % 60_000


def row(
    subscription: str,
    use: float | None,
    minute: int = 0,
    broker: str | None = "b1",
    limit: int | None = 100,
    **more,
) -> dict:
    return {
        "cluster": "prod",
        "namespace": "acme/shop",
        "topic": "persistent://acme/shop/orders",
        "partition": -1,
        "subscription": subscription,
        "minute_ms": START_MS + 60_000 * minute,
        "date": "2023-11-14",
        "broker": broker,
        "use_msg_per_s": use,
        "use_bytes_per_s": None if use is None else 1000 * use,
        "limit_broker_msg": limit,
        "limit_broker_period_s": 1,
        **more,
    }


def minutes(*rows: dict) -> pa.Table:
    return pa.Table.from_pylist(list(rows), schema=SCHEMA)


def rho(table: pa.Table, unit: str = "msg") -> list:
    return table[f"rho_broker_{unit}"].to_pylist()


def test_broker_limit_is_compared_with_all_dispatch_of_a_minute():
    table = minutes(
        row("a", 10),
        row("b", 30),
        row("c", 500, broker="b2"),
        row("a", 7, minute=1),
        row("d", 9, cluster="other"),
    )
    found = signals_of(table)
    assert found.schema.names == TABLES["signals"].loose_schema.names
    assert rho(found) == [0.4, 0.4, 5.0, 0.07, 0.09]
    assert rho(found, "bytes") == [None] * 5


def test_a_period_divides_the_limit():
    table = minutes(row("a", 10, limit_broker_period_s=10, limit_broker_bytes=100_000))
    assert (rho(signals_of(table)), rho(signals_of(table), "bytes")) == ([1.0], [1.0])


def test_neighbours_count_and_are_not_handed_back():
    found = signals_of(
        minutes(row("a", 10)), minutes(row("x", 70, limit=None), row("y", 5, broker="b2", limit=None))
    )
    assert (found.num_rows, rho(found)) == (1, [0.8])


def test_what_is_not_known_is_not_zero():
    found = signals_of(
        minutes(row("a", None), row("b", 20, minute=1), row("c", None, minute=1), row("d", 5, broker=None))
    )
    assert rho(found) == [None, 0.2, 0.2, None]
    assert rho(signals_of(minutes(row("a", 10, limit=None)))) == [None]
    assert rho(signals_of(minutes(row("a", 10)), whole=False)) == [None]
    assert signals_of(minutes()).num_rows == 0


@pytest.mark.spark
@pytest.mark.long
def test_spark_gives_the_same_to_the_last_digit(spark):
    from pyspark.sql.pandas.types import from_arrow_schema

    from throttlescope.transforms.signals import with_broker_use

    rng = np.random.default_rng(7)
    rows = [
        row(
            f"s{number}", None if rng.random() < 0.1 else float(rng.random() * 1e3), minute, rng.choice(["b1", "b2", None]),
            int(rng.integers(1, 5000)) if rng.random() < 0.8 else None, partition=int(rng.integers(-1, 3)),
            limit_broker_bytes=int(rng.integers(1, 5000)), limit_broker_period_s=int(rng.integers(1, 60)),
            out_msg_delta=rng.choice([None, 0.0, float(rng.random() * 1e4)]), delta_span_ms=rng.choice([None, 0, 45_000, 61_234]),
            broker_out_msg_rate=rng.choice([None, 0.0, 500.0, 50_000.0]),
        )
        for number in range(40)
        for minute in range(5)
    ]  # fmt: skip
    table = minutes(*rows)
    theirs = with_broker_use(spark.createDataFrame(table, from_arrow_schema(SCHEMA))).toArrow()

    def ordered(found: pa.Table) -> list[str]:
        return sorted(repr(sorted(item.items())) for item in found.to_pylist())

    assert ordered(signals_of(table)) == ordered(theirs)


def read_shares(table: pa.Table, neighbours: pa.Table | None = None, *, whole: bool = True) -> list:
    return signals_of(table, neighbours, whole=whole)["broker_read_share"].to_pylist()


def dispatching(subscription: str, per_s: float | None, by_itself: float | None, **more) -> dict:
    delta = {"out_msg_delta": None if per_s is None else 30 * per_s, "delta_span_ms": 30_000}
    return row(subscription, per_s, broker_out_msg_rate=by_itself, **{**delta, **more})


def test_what_was_read_of_a_broker_is_a_share_of_what_it_says():
    assert read_shares(minutes(dispatching("a", 10, 100), dispatching("b", 30, 100))) == [0.4, 0.4]
    # Its gauge is a minute old, and 0 after a restart: more than all cannot be read.
    assert read_shares(minutes(dispatching("a", 10, 5))) == [1.0]
    assert read_shares(minutes(dispatching("a", 10, 0))) == [1.0]
    # Entries that a limit counts, or traffic that is exempt, are messages all the same.
    assert read_shares(minutes(dispatching("a", 10, 100, use_msg_per_s=0.0))) == [0.1]


def test_the_share_that_was_read_is_open_where_nothing_tells():
    assert read_shares(minutes(dispatching("a", 10, None))) == [None]
    assert read_shares(minutes(dispatching("a", None, 100))) == [None]
    assert read_shares(minutes(dispatching("a", 10, 100, limit=None))) == [None]
    assert read_shares(minutes(dispatching("a", 10, 100, broker=None))) == [None]
    assert read_shares(minutes(dispatching("a", 10, 100)), whole=False) == [None]
    assert read_shares(minutes(dispatching("a", 10, 100)), minutes(dispatching("x", 70, 100))) == [0.8]
