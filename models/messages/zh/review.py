"""Sentences of ``models/messages/en/review.py`` in Simplified Chinese. In: nothing. Out: the same keys and placeholders."""

from __future__ import annotations

SENTENCES = {
    "review.title": "回顾 {start} 至 {end} UTC",
    "review.basis": "集群：{clusters}。规则版本 {rules}。区间为 95 %（Wilson），按各例相互独立计算。",
    "review.no_clusters": "该范围内没有集群有判定",
    "review.note": (
        "翻转是指从一个窗口到下一个窗口所认定原因的变化；其中有些是真实的。经滞回处理后：即积压时段所显示的。限流起限制作用，是指判定认定"
        "了它，或某一分钟用去了至少 90 %。"
    ),
    "review.flips": "每小时判定翻转次数",
    "review.flips.of": "{partitions} 个订阅分区的 {windows} 个窗口，{hours:,.1f} 小时",
    "review.flips.steady": "同上，经滞回处理后",
    "review.flips.most": "变化最多的判定",
    "review.flips.between": "最常见：{changes}",
    "review.drains": "在其 90 % 区间内消化完的",
    "review.drains.of": "共 {made} 次预测，其中 {expected} 次给出时间，这些当中 {decided} 次已有结果",
    "review.drains.error": "已消化完者的误差中位数",
    "review.drains.error.of": "相对于实际用时",
    "review.drains.never": "预测不会消化完，却消化完的",
    "review.drains.never.of": "{never} 次预测认为按此速率不会消化完",
    "review.losses": "在其区间内因 TTL 丢失的",
    "review.losses.of": "{forecasts} 次预测",
    "review.agreement": "判定与反事实推演一致",
    "review.agreement.of": "{episodes} 个积压时段，其中 {replays} 个两侧都被归因并要求回放",
    "review.agreement.of_failed": "{episodes} 个积压时段，其中 {replays} 个两侧都被归因并要求回放，{failed} 个无法回放",
    "review.agreement.disagreements": "判定与回放不一致的积压时段",
    "review.limits.bound": "起限制作用的限流",
    "review.limits.never": "从不起限制作用的限流",
    "review.limits.unknown": "用量未知的限流",
    "review.limits.of": "生效的限流器 {limiters} 个",
    "review.limits.most": "最常起限制作用的限流（{limits}）",
    "review.limits.least": "从不起限制作用的限流，用量最少的在前（{limits}）",
}
