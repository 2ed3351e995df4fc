"""Sentences of ``models/messages/en/publishing.py`` in Simplified Chinese. In: nothing. Out: the same keys and placeholders."""

from __future__ import annotations

SENTENCES = {
    "publishing.limits.title": "发布限流",
    "publishing.limits.note": (
        "主题的每个分区都有该主题的完整限流配额；用量取最忙的分区。所有限流同时生效。一次暂停会停住生产者的整条连接，连同其上的消费者，并"
        "计入经由该连接发布的每个主题。"
    ),
    "publishing.limits.none": "在读取的主题中没有找到发布限流。",
    "publishing.limits.never_read": "没有向 admin API 查询发布限流：它们未知。",
    "publishing.groups.title": "资源组",
    "publishing.groups.note": (
        "broker 只执行资源组的发布速率；其派发速率只测量，从不执行。用量为已知关联的各命名空间的主题之和。每个 broker 各自执行完整的速率，"
        "除非 broker 之间共享用量（resourceUsageTransportClassName）。"
    ),
    "publishing.groups.none": "读取的命名空间都没有关联资源组。",
    "publishing.tenants.title": "按租户统计的发布",
    "publishing.namespaces.title": "按命名空间统计的发布",
    "publishing.totals.note": "用量包含所有主题。限流按已读取限流的主题（有积压或有暂停的主题）的分区相加。",
    "publishing.stopped.title": "被积压配额停住的生产者",
    "publishing.stopped.note": "这些主题没有任何发布，是因为其积压已达到配额，而不是没有流量。broker 默认每分钟检查一次。",
    "publishing.stopped.none": "没有达到任何会停住生产者的积压配额。",
    "publishing.stopped.producer_request_hold": "挂起生产者：它们在等待",
    "publishing.stopped.producer_exception": "拒绝生产者：它们收到错误",
    "publishing.cut": "显示 {rows:number} 行中的 {shown:number} 行；throttlescope publishing 会输出全部。",
    "publishing.as_of": "样本截至 {samples}，策略读取于 {answers}（UTC）。",
}
