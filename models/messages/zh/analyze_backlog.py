"""Sentences of ``models/messages/en/analyze_backlog.py`` in Simplified Chinese. In: nothing. Out: the same keys and placeholders."""

from __future__ import annotations

SENTENCES = {
    "analyze_backlog.reads_storage": "broker 会从存储读取积压，除非另有配置，每个分区最多 10,000 个条目或 2 分钟。",
    "analyze_backlog.title": "{cluster} 上 {subscription} 的积压",
    "analyze_backlog.all": "全部",
    "analyze_backlog.not_partitioned": "没有分区",
    "analyze_backlog.read": "读取用时 {took}；没有确认任何消息。一个条目是一批消息。",
    "analyze_backlog.aborted": (
        "broker 在积压末尾之前就停止了（subscriptionBacklogScanMaxEntries、subscriptionBacklogScanMaxTimeMs）：>= 表示下界。"
    ),
    "analyze_backlog.left_out": "因时限有 {partitions} 未读取；总和是下界。",
    "analyze_backlog.failed": "没有读取分区 {partition}：{why}。",
    "analyze_backlog.markers": (
        "有 {markers} 个条目（{share}）是 Pulsar 自身的标记，例如复制订阅的快照：消费者不会收到它们；当该订阅被读取、不再复制或被删除时，"
        "它们就会消失。"
    ),
    "analyze_backlog.filters": "该订阅的条目过滤器没有接受全部条目：被拒绝的消息不经投递就会确认，被推迟的消息稍后投递。",
    "analyze_backlog.button": "积压里有什么",
    "analyze_backlog.running": "正在读取积压...",
    "analyze_backlog.hint": (
        "让 broker 从存储读取该积压，并统计其中的条目、消息和标记：每个分区最多 10,000 个条目，最多 {deadline_s:g} 秒。不确认任何消息。关"
        "闭页面即停止。"
    ),
    "analyze_backlog.no_source": "需要 admin API：throttlescope.toml 中该集群的 pulsar_admin.urls",
    "analyze_backlog.label": "积压里有什么",
}
