"""Shares of subscriptions are of about the same size, whatever topics the subscriptions have."""

import statistics

from throttlescope.ingest.spark.shares import SHARE, share_count, with_share


def test_large_topic_is_split_over_shares(spark):
    keys = spark.sql(
        "SELECT 'made' AS cluster, 'acme/made' AS namespace, 'crowded' AS topic, -1 AS partition,"
        " concat('service-', id) AS subscription FROM range(1000)"
    )
    count = share_count(spark, 4_000_000)
    assert count == 8
    sizes = [row["count"] for row in with_share(keys, count).groupBy(SHARE).count().collect()]
    assert (len(sizes), sum(sizes)) == (count, 1000)
    assert max(sizes) <= 1.5 * statistics.median(sizes)
    # The same subscription has the same share in another frame, with other columns and another order.
    other = keys.orderBy("subscription").select("subscription", "partition", "topic", "namespace", "cluster")
    assert with_share(other, count).exceptAll(with_share(keys, count).select(*other.columns, SHARE)).isEmpty()
