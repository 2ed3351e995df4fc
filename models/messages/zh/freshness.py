"""Sentences of ``models/messages/en/freshness.py`` in Simplified Chinese. In: nothing. Out: the same keys and placeholders."""

from __future__ import annotations

SENTENCES = {
    "freshness.title": "UTC {time} 的数据新鲜度，要求不超过 {age}",
    "freshness.source_idle": "空闲：数据源已读取至 {until}，没有新数据",
    "freshness.subscriptions_idle": "空闲：broker 已抓取至 {until}，没有订阅有样本",
}
