"""Sentences of ``models/messages/en/exported_rules.py`` in Simplified Chinese. In: nothing. Out: the same keys and placeholders."""

from __future__ import annotations

SENTENCES = {
    # Causes.
    "exported_rules.alert.PulsarSubscriptionThrottled.summary": "{subject} 被 {limiter}限制",
    "exported_rules.alert.PulsarSubscriptionThrottled.description": (
        "积压由 broker 的限流器造成：共享该限流的全部对象已用去 {limiter}的 {share}，且该限流器持续限流读取。增加消费者不会有帮助。"
    ),
    "exported_rules.alert.PulsarSubscriptionThrottled.first_action": (
        "先确认对该订阅设置这条限流是否有意。如果不是，就提高阈值；如果配额是被共享它的其他对象用掉的，就给对方单独设置限流。"
    ),
    "exported_rules.alert.PulsarSubscriptionThrottledAndSlow.summary": "{subject} 已达到 {limiter}阈值，其消费者也已达到处理能力上限",
    "exported_rules.alert.PulsarSubscriptionThrottledAndSlow.description": (
        "{limiter}已用去 {share}，而消费者的队列已满。只提高其中一侧作用不大。"
    ),
    "exported_rules.alert.PulsarSubscriptionThrottledAndSlow.first_action": "两项一起规划：提高限流阈值，并使用更快或更多的消费者。",
    "exported_rules.alert.PulsarSubscriptionNoConsumers.summary": "{subject} 没有消费者",
    "exported_rules.alert.PulsarSubscriptionNoConsumers.description": "有 {count} 个条目在等待，但没有消费者连接。",
    "exported_rules.alert.PulsarSubscriptionNoConsumers.first_action": (
        "查明没有消费者连接的原因：日志、部署、权限。如果不再需要该订阅，就删除它。"
    ),
    "exported_rules.alert.PulsarSubscriptionBlockedOnUnacked.summary": "{subject} 因未确认消息而阻塞",
    "exported_rules.alert.PulsarSubscriptionBlockedOnUnacked.description": (
        "有 {count} 个条目在等待。Pulsar 已停止派发，直到消费者确认消息。"
    ),
    "exported_rules.alert.PulsarSubscriptionBlockedOnUnacked.first_action": "找出收到消息却不确认的消费者；重启或修复它们。",
    "exported_rules.alert.PulsarSubscriptionRedelivering.summary": "{subject} 派发的大部分是重投的消息",
    "exported_rules.alert.PulsarSubscriptionRedelivering.description": "有 {count} 个条目在等待，而派发的消息大部分是重投。",
    "exported_rules.alert.PulsarSubscriptionRedelivering.first_action": "查找反复失败的消息，以及过短的确认超时；考虑使用死信主题。",
    "exported_rules.alert.PulsarSubscriptionSlowConsumers.summary": "{subject}：消费者跟不上",
    "exported_rules.alert.PulsarSubscriptionSlowConsumers.description": (
        "有 {count} 个条目在等待，且没有派发限流在起限制作用：消费者的处理量低于发布量。"
    ),
    "exported_rules.alert.PulsarSubscriptionSlowConsumers.first_action": (
        "增加消费者或让它们更快。Exclusive 或 Failover 订阅每个分区只使用一个消费者：请增加分区。"
    ),
    "exported_rules.alert.PulsarReplicatorDisconnected.summary": "{subject} 没有连接到其远端集群",
    "exported_rules.alert.PulsarReplicatorDisconnected.description": "有 {count} 个条目等待复制，而到远端集群的生产者没有连接。",
    "exported_rules.alert.PulsarReplicatorDisconnected.first_action": (
        "检查远端集群是否在运行、能否访问，主题是否存在，以及那里的积压配额是否已满。"
    ),
    # Symptoms.
    "exported_rules.alert.PulsarReplicationBacklogGrows.summary": "{subject}：复制量低于发布量",
    "exported_rules.alert.PulsarReplicationBacklogGrows.description": (
        "比 {window}前多了 {count} 个条目。可能是复制器自身的限流、远端集群的发布限流，或者通往远端的链路慢。"
    ),
    "exported_rules.alert.PulsarReplicationBacklogGrows.first_action": "打开页面：它会给出原因。在原因明确之前不要提高限流阈值。",
    "exported_rules.alert.PulsarBacklogOld.summary": "{subject}：积压中最早的条目已等待 {duration}",
    "exported_rules.alert.PulsarBacklogOld.description": (
        "据 broker 报告，最早的条目已存在 {duration}，超过目标 {objective}。无论等待的条目多少，消费者都没有处理到它。"
    ),
    "exported_rules.alert.PulsarBacklogOld.first_action": "打开页面：它说明为什么有积压。又少又旧的积压往往只是一条没有消费者确认的消息。",
    "exported_rules.alert.PulsarTopicBacklogOld.summary": "{subject}：积压中最早的条目已等待 {duration}",
    "exported_rules.alert.PulsarTopicBacklogOld.description": (
        "据 broker 报告，某个订阅尚未确认的最早条目已存在 {duration}，超过目标 {objective}。broker 只给出主题的时长，即其中最慢订阅的时长。"
    ),
    "exported_rules.alert.PulsarTopicBacklogOld.first_action": (
        "打开页面，找出积压最旧的订阅。自 Pulsar 4.0.14、4.2.5 和 5.0 起，设置 exposeSubscriptionBacklogAgeInPrometheus=true 可得到每个订"
        "阅的时长。"
    ),
    "exported_rules.alert.PulsarBacklogGrowsUnexplained.summary": "{subject}：积压增长，原因不明",
    "exported_rules.alert.PulsarBacklogGrowsUnexplained.description": (
        "比 {window}前多了 {count} 个条目。从这些指标既不能认定限流器是原因，也不能认定消费者是原因。"
    ),
    "exported_rules.alert.PulsarBacklogGrowsUnexplained.first_action": "打开页面：它列出缺失的证据。在原因明确之前不要增加消费者。",
    "exported_rules.alert.PulsarThrottlingWhileBacklogGrows.summary": "{subject}：积压增长，同时有读取被限流",
    "exported_rules.alert.PulsarThrottlingWhileBacklogGrows.description": (
        "每秒有 {count} 次读取被某个限流器限流。仅凭这一点不能证明什么：阈值小的限流也会限流健康订阅的读取。"
    ),
    "exported_rules.alert.PulsarThrottlingWhileBacklogGrows.first_action": "等待给出原因的告警，并打开页面。",
    "exported_rules.alert.PulsarDispatchThrottled.summary": "{subject} 时而被 {limiter}限制",
    "exported_rules.alert.PulsarDispatchThrottled.description": (
        "每秒有 {count} 次读取被 {limiter}限流。阈值大于一次读取，所以无论该分钟的平均值多低，都有某些秒用尽了配额。"
    ),
    "exported_rules.alert.PulsarDispatchThrottled.first_action": "如果消息不能等到下一个周期，就提高阈值或延长其周期。",
    "exported_rules.alert.PulsarDispatchLimitNearlyUsed.summary": "{subject} 已用去 {limiter}的 {share}",
    "exported_rules.alert.PulsarDispatchLimitNearlyUsed.description": "消费已达到 {limiter}的 {share}。目前还没有因此产生积压。",
    "exported_rules.alert.PulsarDispatchLimitNearlyUsed.first_action": "在流量增长之前提高阈值，或者接受届时会被限流。",
    "exported_rules.alert.PulsarPublishThrottled.summary": "{subject} 的生产者被 broker 限流",
    "exported_rules.alert.PulsarPublishThrottled.description": (
        "最近 {window}内，broker 在一分钟里最多将其生产者的连接暂停了 {count} 次；超过发布限流阈值时它就会这样做。一次暂停会计入在该连接"
        "上有生产者的每个主题。没有发布出去的消息不在任何积压中。"
    ),
    "exported_rules.alert.PulsarPublishThrottled.first_action": (
        "检查该主题、其命名空间和 broker 的发布限流，以及生产者与它共用客户端的其他主题的发布限流。"
    ),
    "exported_rules.alert.PulsarBacklogQuotaStopsProducers.summary": "{subject} 没有任何发布：其积压配额已满",
    "exported_rules.alert.PulsarBacklogQuotaStopsProducers.description": (
        "该主题的积压已达到配额，有 {value} 字节在等待，且没有任何发布：配额使生产者等待或被拒绝（producer_request_hold、"
        "producer_exception）。这不是没有流量。"
    ),
    "exported_rules.alert.PulsarBacklogQuotaStopsProducers.first_action": "找出该主题积压最大的订阅；消费它，如果没有人需要就跳过它。",
    # Limits that throttlescope reads.
    "exported_rules.alert.ThrottlescopeLimitsMissing.summary": "不知道 {subject} 的派发限流",
    "exported_rules.alert.ThrottlescopeLimitsMissing.description": (
        "抓取到 {value} 个订阅分区，但其集群没有 throttlescope_dispatch_limit：没有告警能够区分是限流器还是消费者慢。"
    ),
    "exported_rules.alert.ThrottlescopeLimitsMissing.first_action": (
        "让这个 Prometheus 抓取 throttlescope serve，并让 throttlescope run 读取 admin API。"
    ),
    "exported_rules.alert.ThrottlescopeLimitsOld.summary": "{subject} 的派发限流已过时",
    "exported_rules.alert.ThrottlescopeLimitsOld.description": "它们读取于 {duration}前，此后可能已改动。",
    "exported_rules.alert.ThrottlescopeLimitsOld.first_action": "检查 throttlescope run 为什么不再读取 admin API。",
    # Specified capacity: the first action differs by scope.
    "exported_rules.alert.PulsarSpecificationNearlyUsed.summary": "{subject} 的{flow}已达到规格的 {share}",
    "exported_rules.alert.PulsarSpecificationNearlyUsed.description": "{flow}已达到配置中 {rate}的 {share}。",
    "exported_rules.alert.PulsarSpecificationNearlyUsed.first_action.cluster": (
        "在集群对客户端限流之前升配，或迁走部分负载。一分钟的平均值会掩盖最忙的那一秒：也请检查限流次数。"
    ),
    "exported_rules.alert.PulsarSpecificationNearlyUsed.first_action.topic_partition": (
        "在该分区被限流之前为主题增加分区；请先检查是否只有一个分区是热点。"
    ),
    # Words inside these.
    "exported_rules.limiter": "{level} 的{message_or_byte}限流",
    "exported_rules.broker": "{cluster} 的某个 broker",
    "exported_rules.rate": "每秒{messages_or_bytes}",
    # Comments of the rules file.
    "exported_rules.file.rules": (
        "throttlescope 的实时规则，由 `throttlescope rules export` 写出：Pulsar 订阅为什么有积压。\n用 rule_files 加载。它读取 Pulsar 自身"
        "的指标，以及 `throttlescope serve` 在 /metrics 提供的 throttlescope_dispatch_limit：抓取时请设置 honor_labels: true。请勿编辑；"
        "需要时重新导出。"
    ),
    "exported_rules.file.inhibit": "throttlescope 的抑制规则：请加入 Alertmanager 配置的 inhibit_rules。",
    "exported_rules.file.one_alert": "导出规则中的一条告警；它读取导出的记录规则。",
    "exported_rules.rule.alert_without_comparison": "这里不缺少比较：这些记录的时间序列仅在其自身条件成立时存在。",
    "exported_rules.rule.read_entries": "一次读取就能清空的不算积压；条目为批次时按消息计数。",
    "exported_rules.rule.undelivered_entries": "未确认消息计入 Pulsar 的积压，但它们已经投递。不含内部主题和内部订阅。",
    "exported_rules.rule.backlog": "只有当等待的条目多于一次读取能清空的数量，且多于几秒的发布量时才有值。",
    "exported_rules.rule.backlog_gone_in": "只有当积压缩小时才有值。",
    "exported_rules.rule.consumers_starved": "1：broker 在等待 permit。Shared 订阅有未确认消息；其他订阅只有一个活跃消费者。",
    "exported_rules.rule.dispatch_limit_set": "已设置的限流；按条目计数的会折算为消息。使用 max by：可能有多个服务端导出同一条限流。",
    "exported_rules.rule.dispatch_limit": "每秒。相对于发布速率的限流会加在该速率之上。",
    "exported_rules.rule.dispatch_use": "共享某个限流器的全部对象对它的每秒用量：订阅、主题分区、broker。",
    "exported_rules.rule.rho": "没有设置限流或限流未知时，没有时间序列。",
    "exported_rules.rule.own_rho": "共享限流中该订阅自己的部分。",
    "exported_rules.rule.throttling_limiters": (
        "用量 / 阈值，只含限流读取的频率与起限制作用的限流器相当的限流器：每个一秒周期约一次。高于上界时，已知的阈值不是实际生效的阈值。"
    ),
    "exported_rules.rule.limiter_binds": "共享限流即使被其他对象用尽，也不会限制自身队列已满的消费者。",
    "exported_rules.rule.limiter_open": "可能造成积压且无法排除的限流器：此时不归因于消费者。",
    "exported_rules.rule.limiters_known": "{limiters}，适用于每个限流器都已读取的情况，包括没有设置限流的。",
    "exported_rules.rule.no_consumers": "有任意大小的积压，且没有消费者连接。",
    "exported_rules.rule.slow_consumers": "每个限流器都已知且已排除，而积压没有在消化。如果 broker 没有读取，计数器为零不能证明什么。",
    "exported_rules.rule.flow_rate": "每秒的发布量和派发量。",
    "exported_rules.rule.specification_use": "配置中没有该集群的规格数值时，没有时间序列。",
    "exported_rules.inhibit.throttled": "限流告警会抑制那些要求增加消费者的告警：增加消费者没有帮助。请给您自己的告警设置相同的标签。",
    "exported_rules.inhibit.cause": "给出原因的告警会抑制只报告症状的告警。",
    "exported_rules.inhibit.limit_nearly_used": "如果限流已在限制某个订阅，那么“即将用尽”的告警没有更多信息。",
    # Completes "a firing is real where the verdict then names ...".
    "exported_rules.real_if.limit": "派发限流导致积压（侧为 throttle 或 both）",
    "exported_rules.real_if.consumers": "消费者导致积压（侧为 consumer_capacity 或 both）",
    "exported_rules.real_if.both": "限流和消费者同时导致积压（侧为 both）",
    "exported_rules.real_if.any": "任何问题，即除 healthy 之外的所有原因",
    "exported_rules.real_if.cause": "原因 {cause}",
}
