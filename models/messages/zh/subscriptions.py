"""Sentences of ``models/messages/en/subscriptions.py`` in Simplified Chinese. In: nothing. Out: the same keys and placeholders."""

from __future__ import annotations

SENTENCES = {
    "subscriptions.search": "搜索订阅、主题、集群",
    "subscriptions.column.partition": "分区；{none}：没有分区",
    "subscriptions.column.cause.now": "最新窗口的原因",
    "subscriptions.column.cause.recent": "在其集群最近 {length}内累计时间最长的原因",
    "subscriptions.column.confidence.now": "原因正确的概率",
    "subscriptions.column.confidence.recent": "原因正确的概率，取其各窗口的平均值",
    "subscriptions.column.backlog": "可投递条目（批次），不是消息",
    "subscriptions.column.trend": "其集群最近 {length}内的可投递积压，从零到其最大值；空白：从未高于下限",
    "subscriptions.cell.backlog": "自 {start} 起的积压：最多 {high} 个条目",
    "subscriptions.cell.no_backlog": "没有高于下限的积压",
    "subscriptions.column.growth": "积压在判定窗口内的变化，条目",
    "subscriptions.column.duration.now": "该原因已持续多久；≥：可能更久",
    "subscriptions.column.duration.recent": "该原因累计持续多久",
    "subscriptions.column.other.now": "其集群最近 {length}内的主要原因，仅在与当前原因不同时显示；点击可打开",
    "subscriptions.column.other.recent": "最新窗口的原因；点击可打开",
    "subscriptions.column.naive": "仅在不同时显示；积压 > 1000 个条目：只要有限流事件就归因于限流，否则归因于消费者",
    "subscriptions.cell.last_seen": "；最后一次看到于 {at}",
    "subscriptions.status.no_match": "没有订阅符合这些筛选条件。",
    "subscriptions.status.no_match_why": "数据湖中有 {number} 个订阅；没有一个符合搜索、原因和集群条件。",
    "subscriptions.status.show_all": "显示全部订阅",
    "subscriptions.status.filtered.one": "{number} 个订阅中的 {shown} 个。",
    "subscriptions.status.filtered.many": "{number} 个订阅中的 {shown} 个。",
    "subscriptions.status.all.one": "{shown} 个订阅，最差的在前。按 Enter 或点击可打开。",
    "subscriptions.status.all.many": "{shown} 个订阅，最差的在前。按 Enter 或点击可打开。",
    "subscriptions.status.hidden": "已隐藏 Pulsar 自身主题的 {number} 个健康订阅。",
}
