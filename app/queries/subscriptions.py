"""Which subscriptions a lake has. In: a lake and a name as typed. Out: nothing, or an error that suggests the nearest name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from throttlescope.ingest.core.subscription_name import SubscriptionName, unknown_subscription
from throttlescope.ingest.lake.rows import naming_missing

if TYPE_CHECKING:
    from throttlescope.ingest.lake import Lake


def check_subscription(lake: Lake, subscription: str) -> None:
    """Refuse a subscription that the lake does not have, in whichever cluster and at whichever time.

    It reads every name of the lake: call it where a result is empty. A lake without any name refuses none.

    Raises
    ------
    InputError
        The name is not understood, or other subscriptions are in the lake, but not this one.
    """
    # Only a result that is empty needs what replays are read with.
    from throttlescope.models.throttling.replay.read import subscriptions_with_backlog

    name = SubscriptionName.of(subscription)
    known = subscriptions_with_backlog(lake)
    # Verdicts may be there without the samples that they come from. Signals are many, and needed only where no sample is there.
    for table in ("verdicts",) if known else ("verdicts", "signals"):
        known |= _names(lake, table)
    if known and not any(name.includes(one) for one in known):
        raise unknown_subscription(name, known)


def _names(lake: Lake, table: str) -> set[SubscriptionName]:
    if lake.version(table) is None:
        return set()
    with naming_missing(table, lake.files(table)), lake.duckdb((table,)) as connection:
        rows = connection.execute(f"SELECT DISTINCT topic, partition, subscription FROM {table}").fetchall()  # noqa: S608
    return {
        SubscriptionName(topic, None if partition < 0 else partition, subscription)
        for topic, partition, subscription in rows
    }
