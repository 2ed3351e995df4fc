"""Sentences of ``models/messages/en/backlog_age.py`` in Simplified Chinese. In: nothing. Out: the same keys and placeholders."""

from __future__ import annotations

SENTENCES = {
    "backlog_age.reported": "最早的已等待 {age}。",
    "backlog_age.publish_history": "最早的已等待约 {age}，根据发布量估计（10 次中有 9 次在 {low} 至 {high} 之间）。",
    "backlog_age.at_least": "最早的已等待超过 {low}：等待的数量多于已知历史中的发布量。",
    "backlog_age.unknown.history_short": "不知道最早的已等待多久：发布历史太短。",
    "backlog_age.unknown.batch_size_unknown": "不知道最早的已等待多久：没有数据说明一个条目包含多少条消息。",
    "backlog_age.unknown.delayed": "不知道最早的已等待多久：其中一部分是有意延迟的。",
    "backlog_age.unknown.filtered": "不知道最早的已等待多久：条目过滤器从中间取走了消息。",
    "backlog_age.unknown.expired": "不知道最早的已等待多久：其间有消息过期或被淘汰。",
    "backlog_age.unknown.out_of_order": "不知道最早的已等待多久：它后面的消息已有被确认的。",
}
