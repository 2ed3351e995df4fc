"""A partitioned topic as one in English. In: nothing. Out: sentences about the worst partition and those that share its cause."""

from __future__ import annotations

SENTENCES = {
    "partitions.not_partitioned": "The topic is not partitioned: {cause}.",
    "partitions.all_healthy": "All {partitions} partitions are healthy.",
    "partitions.worst": (
        "Partition {partition} is the worst: {cause}; {sharing} of {partitions} partitions share that cause."
    ),
    "partitions.worst_of_backlog": (
        "Partition {partition} is the worst with {backlog:entries} of {total:entries} entries: {cause}; {sharing} of "
        "{partitions} partitions share that cause."
    ),
    # The same of a scalable topic, whose parts are segments.
    "partitions.segments_healthy": "All {partitions} segments are healthy.",
    "partitions.worst_segment": (
        "Segment {partition} is the worst: {cause}; {sharing} of {partitions} segments share that cause."
    ),
    "partitions.worst_segment_of_backlog": (
        "Segment {partition} is the worst with {backlog:entries} of {total:entries} entries: {cause}; {sharing} of "
        "{partitions} segments share that cause."
    ),
}
