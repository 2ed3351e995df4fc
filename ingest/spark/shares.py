"""Subscriptions in shares of about the same size. In: a DataFrame with the key of a subscription partition. Out: it, with a share.

Work that is done subscription by subscription is grouped by such a share and not by topic: a topic with a thousand subscriptions
would be one group, which one task has to hold and all others wait for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.spark.executors import parallelism

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SHARE = "share"
#: Rows of ``signals`` that a task holds of a share, some hundred bytes each.
_ROWS = 500_000
#: So many for each core, that one which is larger than the others leaves time for them.
_PER_CORE = 4


def share_count(session: SparkSession, rows: int) -> int:
    """How many shares so many rows are cut into."""
    return max(_PER_CORE * parallelism(session), -(-rows // _ROWS))


def with_share(frame: DataFrame, count: int) -> DataFrame:
    """``frame`` with the share of each row's subscription: a hash, so the same in every frame."""
    from pyspark.sql import functions as F

    return frame.withColumn(SHARE, F.pmod(F.xxhash64(*SUBSCRIPTION_KEY_NAMES), F.lit(count)).cast("int"))
