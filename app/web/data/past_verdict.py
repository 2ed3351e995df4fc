"""A past verdict with its inputs. In: a reader, a subscription and a window's end. Out: the windows that there are, and one of them opened."""

from __future__ import annotations

from throttlescope.app.presentation.links.subscription import SubscriptionPartition
from throttlescope.app.web.data.history import THIS, values_of
from throttlescope.app.web.data.reader import LakeReader, dicts
from throttlescope.ingest.core.times import BLOCK_MS
from throttlescope.ingest.lake import Lake
from throttlescope.models.diagnosis.reopen import Reopened, reopen
from throttlescope.models.diagnosis.window import SubscriptionKey

#: So many windows are listed; others are reached by their time.
MOST_WINDOWS = 60
#: Around a moment, windows that end this far from it are listed.
NEAR_MS = 3 * BLOCK_MS


def windows(reader: LakeReader, subscription: SubscriptionPartition, at_ms: int | None) -> list[dict]:
    """Windows around a moment, or the newest ones; newest first, with what is listed of them."""

    def read(cursor, snapshot):
        start, end = (0, 2**62) if at_ms is None else (at_ms - NEAR_MS, at_ms + NEAR_MS)
        files = snapshot.files_of("verdicts", subscription, "window_end_ms", start, end)
        if at_ms is None and files:
            newest = max(file.maximum["window_end_ms"] for file in files)
            files = [file for file in files if file.maximum["window_end_ms"] >= newest - 2 * NEAR_MS]
        rows = dicts(
            cursor.execute(
                "SELECT namespace, window_start_ms, window_end_ms, cause, limiter, confidence, rules_version "  # noqa: S608
                f"FROM {snapshot.source('verdicts', files)} {THIS} "
                "AND window_end_ms >= ? AND window_end_ms <= ? ORDER BY window_end_ms DESC, window_start_ms",
                [*values_of(subscription), start, end],
            )
        )
        # Windows may slide by a minute: the requested one has to be among those that are listed.
        later = 0 if at_ms is None else sum(row["window_end_ms"] > at_ms for row in rows)
        first = max(0, later - MOST_WINDOWS // 3)
        return rows[first : first + MOST_WINDOWS]

    return reader.read(read)


def opened(
    reader: LakeReader, subscription: SubscriptionPartition, namespace: str, window_start_ms: int
) -> Reopened:
    """One window: what was stored, the minutes that it saw then, and what today's rules say of them.

    It reads one day of one subscription partition, in this process.

    Raises
    ------
    InputError
        There is no such verdict, or the signals that it was made from are gone.
    """
    key = SubscriptionKey(
        subscription.cluster, namespace, subscription.topic, subscription.partition, subscription.subscription
    )
    return reopen(Lake(reader.lake_path), key, window_start_ms)
