"""Sentences of ``models/messages/en/overview.py`` in Simplified Chinese. In: nothing. Out: the same keys and placeholders."""

from __future__ import annotations

SENTENCES = {
    "overview.run.done": "{command} {status}，{at}",
    "overview.run.failed": "{command} {status}，{at}；上次成功于 {success}",
    "overview.run.never_done": "{command} {status}，{at}；尚无一次运行成功",
    "overview.cards.label": "按原因统计的订阅",
    "overview.cards.compared": "{number} 个订阅分区；与 24 小时之前对比。",
    "overview.cards.not_compared": "{number} 个订阅分区；没有 24 小时之前的判定可供对比。",
    # Upcoming message loss.
    "overview.losses.title": "即将发生的消息丢失",
    "overview.losses.note": "如果没有变化，最早的在前",
    "overview.losses.no_forecasts": "尚无预测。",
    "overview.losses.no_forecasts_why": "截止时间来自预测：throttlescope forecast --store --lake DIR，或等待下次运行。",
    "overview.losses.none": "预计不会丢失消息：按当前速率不会达到 TTL 或积压配额。",
    "overview.losses.kind.ttl": "消息过期",
    "overview.losses.kind.quota_size": "按大小的积压配额",
    "overview.losses.kind.quota_age": "按时长的积压配额",
    "overview.losses.made": "{at}；预测作出于 {made}",
    # Shared incidents.
    "overview.incidents.note": "共有同一个限流器或 broker 的多个未消化积压",
    "overview.incidents.no_episodes": "尚无积压时段。",
    "overview.incidents.no_episodes_why": "下次运行会计算，或运行：throttlescope episodes --store --lake DIR。",
    "overview.incidents.none": "没有限流器或 broker 同时影响多个订阅。",
    "overview.incidents.affected.one_topic": "1 个主题上的 {subscriptions} 个",
    "overview.incidents.affected.topics": "{topics} 个主题上的 {subscriptions} 个",
    # Open backlogs and the largest of the last hours.
    "overview.backlogs.none": "所有积压都已消化完。",
    "overview.backlogs.all": "未消化完，共 {number} 个；可投递条目（批次）",
    "overview.backlogs.largest": "未消化完，{number} 个中最大的 {shown} 个；可投递条目（批次）",
    "overview.backlogs.not_seen": "自 {at} 起未再看到",
    "overview.recent.title": "最近 {length}最大的积压",
    "overview.recent.note": "每个集群最近的 {length}；可投递条目（批次）",
}
