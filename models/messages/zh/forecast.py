"""Sentences of ``models/messages/en/forecast.py`` in Simplified Chinese. In: nothing. Out: the same keys and placeholders."""

from __future__ import annotations

SENTENCES = {
    # When it happens; times are texts of the reader's zone.
    "forecast.when.drain": "积压将在 {length_s:duration}后消化完，即 {at}（90 % 区间：{interval}）。",
    "forecast.when.ttl": "消息 TTL 将在 {length_s:duration}后丢弃消息，即 {at}（90 % 区间：{interval}）。",
    "forecast.when.quota_size": "将在 {length_s:duration}后达到按大小的积压配额，即 {at}（90 % 区间：{interval}）。",
    "forecast.when.quota_age": "将在 {length_s:duration}后达到按时长的积压配额，即 {at}（90 % 区间：{interval}）。",
    "forecast.never.drain": "按当前速率，积压不会消化完。",
    "forecast.never.ttl": "按当前速率，消息 TTL 不会丢弃消息。",
    "forecast.never.quota_size": "按当前速率，不会达到按大小的积压配额。",
    "forecast.never.quota_age": "按当前速率，不会达到按时长的积压配额。",
    "forecast.not_before": "10 次中有 9 次不早于 {at}。",
    "forecast.unknown.drain": "尚不知道积压何时消化完：没有趋势。",
    "forecast.unknown.ttl": "尚不知道消息 TTL 何时丢弃消息：没有趋势。",
    "forecast.unknown.quota_size": "尚不知道何时达到按大小的积压配额：没有趋势。",
    "forecast.unknown.quota_age": "尚不知道何时达到按时长的积压配额：没有趋势。",
    # What happens.
    "forecast.drain.expected": "可投递的积压消化完毕。",
    "forecast.drain.never": "按当前速率，积压不会消化完。",
    "forecast.drain.unknown": "限制因素刚刚变化，或积压时升时降，或其最新样本过旧。",
    "forecast.drain.capacity_unknown": "从未观察到消费者的处理能力上限；区间的起点是最早时间。",
    "forecast.ttl": "broker 会丢弃早于 {limit_s:exact_duration}的每条消息。消费者再也收不到它们。",
    "forecast.quota.producer_request_hold": (
        "broker 断开该主题分区的生产者，并挂起重新连接的生产者：在积压降到配额以下之前，发送会阻塞或超时。积压中的消息不会丢失。"
    ),
    "forecast.quota.producer_exception": (
        "broker 断开该主题分区的生产者，并拒绝重新连接的生产者：在积压降到配额以下之前，发送会失败。积压中的消息不会丢失。"
    ),
    "forecast.quota.consumer_backlog_eviction": "broker 跳过最慢订阅中最早的消息，直到积压降到配额的 90 %。其消费者再也收不到它们。",
    "forecast.quota.eviction_by_ledger": "broker 将最慢的订阅移过关闭时间超过配额的每个 ledger。其消费者再也收不到其中的消息。",
    "forecast.quota.policy_unknown": "已超过配额；没有记录到规定 broker 此时如何处理的策略。",
    # What retention keeps of dropped messages.
    "forecast.retention.unknown": "不知道保留策略（retention）是否将它们留在磁盘上。",
    "forecast.retention.none": "没有保留策略（retention）留住它们：一旦没有订阅需要其所在的 ledger，它们就会被删除。",
    "forecast.retention.endless": "保留策略（retention）将它们无限期留在磁盘上：重置游标即可找回。",
    "forecast.retention.time": "保留策略（retention）将它们在磁盘上保留 {keep_s:exact_duration}：在此之前重置游标即可找回。",
    "forecast.retention.size": (
        "只要该主题分区保留的数据少于 {keep_mb:,} MB，保留策略（retention）就将它们留在磁盘上：在此之前重置游标即可找回。"
    ),
    "forecast.retention.time_and_size": (
        "保留策略（retention）将它们在磁盘上保留 {keep_s:exact_duration}，且仅当该主题分区保留的数据少于 {keep_mb:,} MB：在此之前重置游标"
        "即可找回。"
    ),
    # What a forecast rests on.
    "forecast.basis.too_few": "自上次变化以来的样本少于 {least} 个。",
    "forecast.basis.line": "由 {span_s:,.0f} 秒内的 {points} 个样本拟合的直线。",
    "forecast.basis.not_straight": "它在下降，但不是直线，或者最新样本上升了。",
    "forecast.basis.interval": "区间是同样时间跨度的 {forecasts} 次预测的偏差，取自真实 broker 的 {recordings} 份录制数据。",
    "forecast.basis.open_end": (
        "它向前预测的长度是已看到时间的 {reach:.1f} 倍；录制数据最多只有 {farthest_reach:.1f} 倍，所以没有给出终点。"
    ),
    "forecast.basis.age_unknown": "积压比已知的到达更早：不知道最早消息的时长。",
    "forecast.basis.age": (
        "最早消息的时长由到达量推算，精确到 {step_s:g} 秒；消费者继续以 {usual:,.4g} 条目/s 处理（最近一段的各分钟为 {slow:,.4g} 至 "
        "{fast:,.4g}）；每 {check_s:g} 秒检查一次。"
    ),
    "forecast.basis.size_unknown": "没有抓取主题以字节计的积压（pulsar_storage_backlog_size）。",
    "forecast.basis.size_exceeded": "目前已超过配额；每 {check_s:g} 秒检查一次。",
    "forecast.basis.size_no_trend": "主题以字节计的积压尚无趋势。",
    "forecast.basis.size_not_growing": "主题以字节计的积压没有增长。",
    "forecast.basis.size": "由 {points} 个值拟合的直线；区间为此类直线在其他录制数据的消化过程中的偏差；每 {check_s:g} 秒检查一次。",
    "forecast.basis.ledger_open": (
        "broker 从最早消息所在 ledger 的关闭时间起计时，而该 ledger 仍打开：最迟在开始后 {rollover_min:g} 分钟关闭。"
    ),
    "forecast.basis.ledger_moving": (
        "最早消息所在的 ledger 关闭以来的时间，由 broker 报告；消费者可能在此之前到达下一个 ledger；每 {check_s:g} 秒检查一次。"
    ),
    "forecast.basis.ledger_idle": "最早消息所在的 ledger 关闭以来的时间，由 broker 报告；没有确认任何消息；每 {check_s:g} 秒检查一次。",
    "forecast.basis.policies_later": "策略的观察时间晚于这一时刻。",
    "forecast.basis.replay": (
        "按现有的限流和消费者回放，受{factor:factor}限制：范围为样本所允许的最好到最差，未经校准。最多向前 {horizon_h:g} 小时。"
    ),
}
