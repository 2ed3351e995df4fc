"""Sentences of ``models/messages/en/whatif.py`` in Simplified Chinese. In: nothing. Out: the same keys and placeholders."""

from __future__ import annotations

SENTENCES = {
    # What differs in a run, one clause per setting.
    "whatif.change.limit": "{setting} 从 {now} 改为 {value}",
    "whatif.change.limit_lifted": "{setting} 从 {now} 改为解除",
    "whatif.change.consumers": "消费者从 {now} 个改为 {value} 个",
    "whatif.change.processing": "消费者处理每条消息需要 {value}",
    "whatif.change.rate": "向该主题发布 {value}",
    "whatif.change.load": "发布量为原来的 {value:g} 倍",
    "whatif.change.batching": "每个条目从 {now} 条消息改为 {value} 条",
    "whatif.change.nothing": "没有任何改动",
    "whatif.headline": "假设：{changes}，会怎样？",
    # When the backlog is gone.
    "whatif.gone.nothing_to_drain": "没有需要消化的积压",
    "whatif.gone.after": "{after}",
    "whatif.gone.at_the_earliest": "最早 {after}",
    "whatif.gone.never": "{horizon}内不会消化完",
    "whatif.gone.never_growing": "{horizon}内不会消化完，以 {rate} 增长",
    "whatif.gone.never_falling": "{horizon}内不会消化完，以 {rate} 下降",
    "whatif.gone.never_steady": "{horizon}内不会消化完，保持不变",
    # What limits the drain.
    "whatif.limited_by.consumers": "消费者",
    "whatif.limited_by.no_consumer": "没有消费者连接",
    "whatif.limited_by.reads": "broker 的读取速度",
    "whatif.limited_by.arrivals": "无：没有需要消化的积压",
    "whatif.limited_by.limit": "{limiter:limiter}（{value}）",
    "whatif.next_limit": "{factor}，从 {rate} 起",
    "whatif.next_limit_unknown": "未知：从未观察到消费者满负荷",
    # What the change does.
    "whatif.effect.open": "可能有帮助。帮助有多大取决于消费者的处理能力，而它从未被观察到：请设置 processing_ms。",
    "whatif.effect.no_backlog": "没有区别：没有需要消化的积压。",
    "whatif.effect.none": "没有区别：无论如何都受{factor}限制。",
    "whatif.effect.helps": "有帮助：{then}。现状：{now}。",
    "whatif.effect.not_enough": "不够：{then}。现状：{now}。",
    "whatif.effect.worse": "会更糟：{then}。现状：{now}。",
    "whatif.drained_after": "{after}后消化完",
    # What it is based on.
    "whatif.arrivals.exact": "{rate}",
    "whatif.arrivals.interval": "{rate}（各分钟为 {low} 至 {high}）",
    "whatif.arrivals.lower_bound": "至少 {rate}（各分钟为 {low} 至 {high}）：发布限流减慢了生产者",
    "whatif.capacity.any": "任意速率，按 processing_ms 为{consumers:consumers}假定",
    "whatif.capacity.given": "{rate}，按 processing_ms 为{consumers:consumers}假定",
    "whatif.capacity.unknown": "从未观察到",
    "whatif.capacity.at_least": "至少 {low}；从未观察到满负荷",
    "whatif.capacity.now": "{rate}（{low} 至 {high}），{consumers:consumers}，直到窗口结束都处于饱和",
    "whatif.capacity.before": "{rate}（{low} 至 {high}），{consumers:consumers}，饱和至 {seen}，即结束前 {age}",
    "whatif.capacity.bursts": "{rate}（{low} 至 {high}），{consumers:consumers}，由处理一次突发所需的时间估算；从未观察到满负荷",
    "whatif.error.small": "与记录的积压平均相差不到其峰值的 1 %",
    "whatif.error.share": "与记录的积压平均相差其峰值的 {share}",
    # Notes.
    "whatif.replay_far_off": (
        "回放与窗口峰值相差 {percent:.0f} %：有样本中没有的因素限制了积压，或者窗口内条件发生了变化（缩短窗口可能有帮助）。"
    ),
    "whatif.capacity_never_seen": (
        "在 {seen_s:span} 内从未观察到消费者满负荷：不知道它们的处理能力。设置 processing_ms 可以假定每条消息的处理耗时。"
    ),
    "whatif.capacity_at_least": (
        "在 {seen_s:span} 内从未观察到消费者满负荷：它们至少处理 {msg_per_s:,.0f} msg/s，也许远不止。设置 processing_ms 可以假定每条消息"
        "的处理耗时。"
    ),
    "whatif.capacity_from_bursts": (
        "从未观察到消费者满负荷：它们的处理能力由限流器最后一次投递与其最后一次确认之间的时间估算。设置 processing_ms 可以改为假定每条消息的"
        "处理耗时。"
    ),
    "whatif.capacity_of_others": "观察到处理能力时有 {then} 个消费者连接，现在有 {now} 个：假定每个的处理量相同。",
    "whatif.limit_unchanged": "{setting}={value} 就是现有的值。",
    "whatif.no_limit_to_lift": "没有可以解除的 {setting} 限流。",
    "whatif.limit_cannot_bind": "{setting}={value} 不可能起限制作用：消费者最多处理 {msg_per_s:,.0f} msg/s。",
    "whatif.partitions_limit_cannot_bind": (
        "{partitions} 个分区各设 {setting}={value} 不可能起限制作用：消费者最多处理 {msg_per_s:,.0f} msg/s。"
    ),
    "whatif.type_serves_fewer": "{type} 类型的订阅只为 {consumers} 个消费者中的 {active} 个服务。",
    "whatif.batching": "假定等待的消息也按 {batch_msg:,} 条一批；积压仍按记录时的条目计。",
    "whatif.limits_per_partition": "主题限流和订阅限流在 {partitions} 个分区上分别生效。",
    "whatif.other_topics": "该 broker 的其他主题使用其限流中的 {msg_per_s:,.0f} msg/s，为窗口平均值。",
    "whatif.gap": "窗口的样本有一处 {missing_s:,.0f} 秒的空缺：其间的发布量均匀摊入该空缺。",
    "whatif.gaps": "窗口的样本有 {gaps} 处空缺，共 {missing_s:,.0f} 秒：其间的发布量均匀摊入这些空缺。",
    "whatif.restarts": "计数器于 {times:names} UTC 重启（卸载、迁移或 broker 重启）：缺少最后一次抓取与重启之间的计数。",
    "whatif.many_restarts": (
        "计数器于 {times:names} UTC 以及另外 {more} 次重启（卸载、迁移或 broker 重启）：缺少最后一次抓取与重启之间的计数。"
    ),
    "whatif.producers_limited": "发布限流减慢了生产者：到达量是下界，可能有更多消息在生产者中等待。",
    "whatif.producers_unknown": "没有记录发布限流是否减慢了生产者；如果是，到达量就是下界。",
    "whatif.delayed": "{entries:,.0f} 个条目在等待投递时间：假定它们可以投递。",
    "whatif.expired": "{entries:,.0f} 个条目在窗口内过期：回放中没有条目过期。",
    "whatif.blocked": "在窗口结束时，未确认的消息太多，broker 不再派发：回放把处理完的消息视为已确认，因此会消化实际上仍在等待的积压。",
    "whatif.redelivered": "重投速率为 {msg_per_s:.1f} msg/s：回放中每条消息只投递一次。",
    "whatif.batches_vary": "条目平均包含 {messages:.2f} 条消息：回放中所有条目都一样。",
    "whatif.limits_never_read": "从未读取限流（数据湖中没有 admin API 的应答）：假定没有限流。",
    "whatif.limits_read_later": "限流是在窗口之后才读取的：假定它们在窗口内也适用。",
    "whatif.throttling_not_counted": "该 broker 不统计自己的限流：限流器是否起限制作用由其用量推断。",
    "whatif.replicator": "复制器按 Exclusive 订阅模拟：其唯一的消费者是远端集群，其限流按条目计，而它发送的量只知道每分钟的平均值。",
    "whatif.type_unknown": "没有读到该订阅的类型：假定为 Shared。",
    "whatif.version_unknown": "没有读到 broker 的版本：假定为当前版本。",
}
