"""Sentences of ``models/messages/en/episodes.py`` in Simplified Chinese. In: nothing. Out: the same keys and placeholders."""

from __future__ import annotations

SENTENCES = {
    "episodes.title": "{episodes}，{open} 个未消化完",
    "episodes.note": (
        "since：积压开始增长的时间（~：数据的第一分钟就已在增长；>：首次高于下限的分钟，没有明显的变化）。cause：主要原因；confidence：其"
        "平均值。peak：可投递条目（批次）。lever：在判定同时给出限流器和消费者时计算：在峰值时去掉哪一个能消化最多，以及半小时后减少多少"
        "条目；!：主要原因是另一个。flips/h：判定每小时变化的次数，以及经滞回处理后的次数。"
    ),
    "episodes.incidents.note": "members：可投递积压（条目）最大的成员。时间为 UTC。",
    "episodes.rollups.title": "按 {by} 汇总的积压时段",
    "episodes.rollups.note": "duration：所有积压时段的总时长；causes：按主要原因统计的积压时段；partitions：最差者所属主题的分区。",
}
