"""Names of limits and of what limits the drain of a backlog."""

from __future__ import annotations

SENTENCES = {
    "limiting.limiter": "{level}{kind}限流",
    "limiting.level.broker": "broker",
    "limiting.level.topic": "主题",
    "limiting.level.subscription": "订阅",
    "limiting.level.replicator": "复制器",
    "limiting.kind.msg": "消息",
    "limiting.kind.bytes": "字节",
    # What limits the drain of a backlog.
    "limiting.factor.limiter": "{limiter}",
    "limiting.factor.consumers": "消费者",
    "limiting.factor.reads": "broker 的读取速度",
    "limiting.factor.arrivals": "发布速率",
}
