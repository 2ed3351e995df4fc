"""Sentences of ``models/messages/en/partitions.py`` in Simplified Chinese. In: nothing. Out: the same keys and placeholders."""

from __future__ import annotations

SENTENCES = {
    "partitions.not_partitioned": "该主题没有分区：{cause}。",
    "partitions.all_healthy": "全部 {partitions} 个分区都健康。",
    "partitions.worst": "分区 {partition} 最差：{cause}；{partitions} 个分区中有 {sharing} 个是这一原因。",
    "partitions.worst_of_backlog": (
        "分区 {partition} 最差，占 {total:entries} 个条目中的 {backlog:entries} 个：{cause}；{partitions} 个分区中有 {sharing} 个是这一原"
        "因。"
    ),
    # The same of a scalable topic, whose parts are segments.
    "partitions.segments_healthy": "全部 {partitions} 个分段都健康。",
    "partitions.worst_segment": "分段 {partition} 最差：{cause}；{partitions} 个分段中有 {sharing} 个是这一原因。",
    "partitions.worst_segment_of_backlog": (
        "分段 {partition} 最差，占 {total:entries} 个条目中的 {backlog:entries} 个：{cause}；{partitions} 个分段中有 {sharing} 个是这一原"
        "因。"
    ),
}
