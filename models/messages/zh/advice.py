"""Sentences of ``models/messages/en/advice.py`` in Simplified Chinese. In: nothing. Out: the same keys and placeholders."""

from __future__ import annotations

SENTENCES = {
    # What to do.
    "advice.limit.raise": "将{limiter:limiter}阈值从 {now:limit} 提高到 {value:limit}。",
    "advice.limit.lower": "可以将{limiter:limiter}阈值从 {now:limit} 降低到 {value:limit}。",
    "advice.limit.keep": "将{limiter:limiter}阈值保持在 {now:limit}：更低的阈值达不到目标。",
    "advice.period.lengthen": "保持{limiter:limiter}的平均速率，将其周期从 {now} 秒延长到 {value} 秒：{rate:limit}。",
    "advice.partitions.add": "将该主题的分区数从 {now} 增加到 {value}：每个分区都有完整的{limiter:limiter}配额。",
    "advice.consumers.connect_one": "连接 1 个消费者：目前没有消费者连接。",
    "advice.consumers.connect": "连接 {value:number} 个消费者：目前没有消费者连接。",
    "advice.consumers.change": "将消费者从 {now:number} 个改为 {value:number} 个，每个与现有的一样快。",
    "advice.consumers.keep": "保持 {now:number} 个消费者：更少的消费者达不到目标。",
    "advice.processing.faster": (
        "让每个消费者更快：每条消息 {value:number} 毫秒，而不是现在的 {now:number} 毫秒。更多的消费者无法同时工作。"
    ),
    "advice.together": "只做一项改动不够。",
    # What the change achieves; see also Recommendation.
    "advice.age": "在目标要求比例的分钟里，积压时长最多会是 {p99_age_s:age}。",
    # What it costs.
    "advice.risk.load_on_broker": (
        "积压消化期间，broker 的读取和发送从 {before:number} msg/s 变为 {after:number} msg/s；缓存中没有的条目要从 bookie 读取。"
    ),
    "advice.risk.faster_drain": "积压消化期间，broker 的读取和发送从 {before:number} msg/s 变为最多 {after:number} msg/s。",
    "advice.risk.slower_drain": "积压的消化速率从 {before:number} msg/s 变为 {after:number} msg/s：在更忙的日子，消息会等待更久。",
    "advice.risk.shared_topic_limit": "其他订阅共享该限流，也可能用掉配额：{others:names}。",
    "advice.risk.shared_broker_limit": "每个 broker 的所有订阅都共享该限流。",
    "advice.risk.burst_msg": "可能一次派发多达 {value:number} msg。",
    "advice.risk.burst_bytes": "可能一次派发多达 {value:number} B。",
    "advice.risk.burst": "一个周期的全部消息可能一次派发出去。",
    "advice.risk.downstream": "消费者调用的下游（数据库、服务）必须承受相应的负载。",
    "advice.risk.backlog_stays": "现有积压留在原来的分区；只有新消息会分散开。",
    "advice.risk.keys_move": "key 会迁移到其他分区，而且分区数不能减少。",
    # How to check it: what the query should show.
    "advice.check.backlog_gone": "应以 {entries_per_s:number} 条目/s 下降，并在 {drain_s:duration}后降到零",
    "advice.check.backlog_falls": "应下降",
    "advice.check.dispatched": "应约为 {msg_per_s:number} msg/s",
    "advice.check.replicated": "应约为 {entries_per_s:number} 条目/s",
    "advice.check.dispatched_draining": "积压消化期间应约为 {msg_per_s:number} msg/s",
    "advice.check.age": "应保持不高于 {target_s:number}（主题积压中最早的消息，取其全部订阅）",
    # What does not help.
    "advice.no_help.consumers": "增加消费者不会有帮助：无论消费者多快，积压都受{factor:factor}限制。",
    "advice.no_help.limit": "提高{limiter:limiter}阈值不会有帮助：没有该限流时，积压受{factor:factor}限制。",
    "advice.not_enough.consumers": (
        "仅增加消费者达不到目标：受{factor:factor}限制，在目标要求比例的分钟里积压时长最多会到 {p99_age_s:age}。"
    ),
    "advice.not_enough.limit": (
        "仅提高{limiter:limiter}阈值达不到目标：受{factor:factor}限制，在目标要求比例的分钟里积压时长最多会到 {p99_age_s:age}。"
    ),
    # Commands: what they change, and what else they do.
    "advice.place.subscription": "{topic} 的订阅 {subscription}",
    "advice.place.all_subscriptions": "{topic} 的所有订阅",
    "advice.place.replicators": "{topic} 通往所有远端集群的复制器",
    "advice.place.topic": "主题 {topic}，由其所有订阅共享",
    "advice.place.namespace": "命名空间 {namespace} 的每个主题",
    "advice.place.brokers": "集群的每个 broker",
    "advice.note.per_segment": "该命名空间每个主题的每个分段和分区各自单独计算限流。",
    "advice.note.overrides_namespace": "现有限流由命名空间设置；该策略只在这里覆盖它。",
    "advice.note.overrides_broker_dynamic": "现有限流由 broker 的动态配置设置；该策略只在这里覆盖它。",
    "advice.note.overrides_broker_file": "现有限流由 broker 的配置文件设置；该策略只在这里覆盖它。",
    "advice.note.buckets_refill": "任何策略改动都会重新填满该主题的令牌桶：预计会有一个周期的突发。",
    "advice.note.every_broker": "对集群的每个 broker 生效；每个 broker 都有完整的限流配额。",
    "advice.note.override_until_restart": "删除的覆盖值在 broker 重启之前仍然生效：要立即回滚，请设置原来的值。",
    "advice.no_command": "没有 pulsar-admin 命令可以做到：请在运行消费者的地方改动和回滚。",
    "advice.no_roll_back": "没有命令可以回滚。",
    # What the replays say as a whole.
    "advice.primary.limiter": "主要限制因素是限流器：解除它能消化最多的积压。",
    "advice.primary.consumers": "主要限制因素是消费者：更快的消费者能消化最多的积压。",
    "advice.primary.both": "限流器和消费者共同限制：任何一项单独改动都不能消化积压，两项一起才能。",
    "advice.primary.none": "尝试过的改动都没有使积压发生可测量的变化。",
    "advice.primary.small": "每项改动的收益都小于这段时间内派发量的 5 %：增长缓慢，无法确定哪项改动收益最大。",
    "advice.not_modelled.blocked_on_unacked": "未确认的消息太多，broker 不再派发。回放把处理完的消息视为已确认，因此无法比较各项改动。",
    "advice.not_modelled.redelivery": "派发的消息中有很大一部分是重投。回放中每条消息只投递一次，因此无法比较各项改动。",
    "advice.none_not_modelled.blocked_on_unacked": "不建议改动限流或消费者数量。请先查明消费者为何不确认；重启它们会使其持有的消息被重投。",
    "advice.none_not_modelled.redelivery": "不建议改动限流或消费者数量。请先查明消息为何被重投：否定确认、确认超时过短，或消费者反复重连。",
    "advice.none_drained": "此刻没有需要消化的积压。选择更早的时刻（命令行用 --at TIME）可以看到当时什么能消化它。",
    "advice.none_found": "尝试过的改动都不能在 {target_s:duration}内将其消化完。",
    "advice.far_off": "回放与记录相差太大，无法比较各项改动。",
    "advice.none_far_off": "回放与记录相差太大，因此不建议任何改动。窗口内的情况发生了变化，或者积压受到样本中没有的因素限制。请选择另一个窗口或时刻。",
    "advice.replay_error": "最近 {window_s:duration}的回放与记录的积压平均相差其峰值的 {percent:.1f} %。",
    # When the backlog is gone with a change.
    "advice.gone.open": "取决于消费者，没有观察到它们的速度",
    "advice.gone.earliest": "最早 {low_s:duration}，前提是消费者能够承受",
    "advice.gone.likely_no_end": "{likely_s:duration}（最早 {low_s:duration}）",
    "advice.gone.interval": "{likely_s:duration}（{low_s:duration}到 {high_s:duration}）",
    "advice.gone.exact": "{likely_s:duration}",
    # What a replay took away.
    "advice.lever.limiter": "{limiter:limiter}",
    "advice.lever.consumers": "消费者的处理耗时",
    "advice.lever.together": "所有限流以及消费者的处理耗时",
    # The age objective over weeks.
    "advice.slo.minutes_missing": "缺少 {percent:.1f} % 的分钟：按其他日子的同一分钟计入，且不计入任何百分位数。",
    "advice.slo.capacity_unknown": "从未观察到消费者满负荷运行：假定它们跟得上，因此不评判其数量。",
    "advice.slo.producers_limited": "发布限流减慢了生产者：否则发布量会更高。",
    "advice.slo.partitions_together": "各分区合并计算：流量高于其他分区的分区，等待会更久。",
    "advice.slo.fluid": "这几周按流体模型以一分钟为步长计算，使用现有的限流和消费者（{minutes:,} 分钟）；不模拟秒级的突发。",
    "advice.slo.no_backlog": "没有记录到积压：流体模型没有可对比的对象。",
    "advice.slo.worst_not_replayed": "积压最大的半小时（截至 {until}）无法回放：{reason}。",
}
