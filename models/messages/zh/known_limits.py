"""Sentences of ``models/messages/en/known_limits.py`` in Simplified Chinese. In: nothing. Out: the same keys and placeholders."""

from __future__ import annotations

SENTENCES = {
    "known_limits.not_observed": "没有观察到阈值：不知道其限流事件是否构成证据。",
    "known_limits.of_replicator": "没有计数器统计复制器的限流：要由用量来看它是否被限制。",
    "known_limits.none": "没有限流：没有事件。",
    "known_limits.evidence": "其限流事件构成证据：一个周期允许 {period}，不少于一次完整读取（{planned}）。",
    "known_limits.no_evidence": "其限流事件不能证明什么：一个周期允许 {period}，少于一次完整读取（{planned}）。",
}
