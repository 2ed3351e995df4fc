"""A query over many files: what each shard computes by itself, and what is computed where shards meet.

In: a plan, the steps, the lake's files. Out: pieces of work (:mod:`work`), done in threads (:mod:`local`) or by Spark
(:mod:`spark`) with the same evaluator, their results (:mod:`parts`) put together into one answer (:mod:`gather`).

A shard holds all series of a topic (:func:`throttlescope.ingest.core.labels.shard_of`), so whatever keeps, matches or groups by
the topic's labels is computed shard by shard (:mod:`cut`). Results do not depend on how the work was shared out: sums are
kept per shard and added in the order of shards.
"""
