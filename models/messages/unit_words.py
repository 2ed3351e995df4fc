"""Words of units, by language. In: nothing. Out: :data:`WORDS`.

Symbols of the field (``msg/s``, ``B``, ``%``) are the same in every language and are not here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class UnitWords:
    """How one language writes durations, limits with a period, and counts.

    Attributes
    ----------
    ms, s, min, h, d, short_min : str
        Symbols of durations, as ``2 h 14 min``; the last one is that of pages, ``2 h 14 m``.
    over_a_year, below_1_percent, above_99_percent, unknown, not_measured : str
        Values that are no figure.
    until : str
        Between the start and the end of a range.
    rate_per_period : str
        A limit of more than a second, by ``limit`` (with its unit) and ``period`` (seconds).
    list_separator : str
        Between the names of a list.
    nouns : mapping
        What is counted, by its English singular or plural; for a language without plurals.
    """

    ms: str
    s: str
    min: str
    h: str
    d: str
    short_min: str
    over_a_year: str
    below_1_percent: str
    above_99_percent: str
    unknown: str
    not_measured: str
    until: str
    rate_per_period: str
    list_separator: str
    nouns: Mapping[str, str] = field(default_factory=dict)


WORDS: Mapping[str, UnitWords] = {
    "en": UnitWords(
        ms="ms", s="s", min="min", h="h", d="d", short_min="m", until="to", not_measured="not measured", over_a_year="more than a year", below_1_percent="less than 1 %",
        above_99_percent="more than 99 %", unknown="unknown", rate_per_period="{limit} per {period} s", list_separator=", ",
    ),
    "zh": UnitWords(
        ms="毫秒", s="秒", min="分钟", h="小时", d="天", short_min="分钟", until="至", not_measured="未测量", over_a_year="一年以上", below_1_percent="不到 1 %",
        above_99_percent="超过 99 %", unknown="未知", rate_per_period="每 {period} 秒 {limit}", list_separator="、",
        nouns={
            "anomaly": "个异常", "change": "处变化", "chunk": "个分块", "consumer": "个消费者", "episode": "个积压时段", "error": "个错误",
            "fault": "处故障", "file": "个文件", "finding": "项问题", "forecast": "项预测", "hour": "小时", "incident": "个故障",
            "partition": "个分区", "refused row": "行被拒绝的数据", "row": "行", "shared incident": "个共同故障",
            "acked / dispatched": "确认 / 派发", "capacity / publishing": "处理能力 / 发布", "deviation / mean": "偏差 / 均值",
            "dispatched / published": "派发 / 发布", "now / before": "现在 / 此前", "refused / processed": "拒绝 / 处理",
            "slowest / fastest": "最慢 / 最快", "use / limit": "用量 / 阈值", "used / quota": "已用 / 配额", "share of minutes": "分钟占比",
            "consumers": "个消费者", "events": "个事件", "events/min": "个事件/分钟", "entries/s": "条目/s", "evictions": "次淘汰", "restarts": "次重启",
            "entries": "个条目", "findings": "项问题", "groups": "组", "kept rows": "行被保留的数据", "message": "条消息", "messages": "条消息", "runs": "次运行",
            "subscription": "个订阅", "subscription partition": "个订阅分区", "verdict": "条判定", "warning": "个警告",
        },
    ),
}  # fmt: skip
