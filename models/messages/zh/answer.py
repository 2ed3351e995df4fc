"""Sentences of ``models/messages/en/answer.py`` in Simplified Chinese. In: nothing. Out: the same keys and placeholders."""

from __future__ import annotations

SENTENCES = {
    "answer.no_cause": "未认定原因",
    "answer.confidence": "置信度 {share}",
    "answer.cause": "{cause}。",
    "answer.cause_and_limiter": "{cause}：{limiter}。",
    "answer.limited": "{limiter}正在限制该订阅。",
    "answer.limited_replicator": "{limiter}正在限制该复制器。",
    "answer.limited_replicator_until": "{limiter}曾限制该复制器，直到 {time}。",
    "answer.limited_until": "{limiter}曾限制该订阅，直到 {time}。",
    "answer.backlog_unknown": "没有测得积压。",
    "answer.backlog": "{entries}待投递。",
    "answer.backlog_unchanged": "{entries}待投递，{length}内没有变化。",
    "answer.backlog_changed": "{entries}待投递；趋势：每 {length} {change}。",
    "answer.messages": "约 {messages}。",
    "answer.messages_and_bytes": "约 {messages}，{bytes}。",
    "answer.since": "始于 {start}，已持续 {length}。",
    "answer.since_at_least": "至少始于 {start}，已持续 {length}。",
}
