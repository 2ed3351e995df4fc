"""Sentences of ``models/messages/en/causes.py`` in Simplified Chinese. In: nothing. Out: the same keys and placeholders."""

from __future__ import annotations

SENTENCES = {
    # Throttled
    "cause.throttled.label": "被限流",
    "cause.throttled.answer": "派发限流正在限制该订阅",
    "cause.throttled.first": "先确认这条限流是否有意设置：由谁设置，保护的是什么。",
    "cause.throttled.never": "不要增加消费者：它们共用同一个限流配额。",
    # Throttled in bursts
    "cause.micro_burst_throttled.label": "突发被限流",
    "cause.micro_burst_throttled.answer": "平均速率低于派发限流阈值，但短时突发会触及它",
    "cause.micro_burst_throttled.first": "查看短于一分钟的峰值，以及限流的周期。",
    "cause.micro_burst_throttled.never": "不要增加消费者，也不要用每分钟的平均值来判断限流。",
    "cause.micro_burst_throttled.because.bursts": "短时突发用尽了限流配额",
    # Limit and consumers
    "cause.both.label": "限流与消费者",
    "cause.both.answer": "派发限流正在起限制作用，而且即使没有它，消费者也跟不上",
    "cause.both.first": "两步一起规划：提升消费能力，并提高限流阈值。",
    "cause.both.never": "不要只改一侧：另一侧会立刻成为瓶颈。",
    "cause.both.because.capacity_short": "{limit}；即使没有限流，消费者也跟不上",
    "cause.both.because.never_idle": "{limit}；消费者手中始终有消息，所以它们等待的不只是限流器",
    # Slow consumers
    "cause.slow_consumers.label": "消费者过慢",
    "cause.slow_consumers.answer": "消费者跟不上",
    "cause.slow_consumers.first": "查看每条消息的处理耗时和消费者数量。",
    "cause.slow_consumers.never": "不要提高限流阈值：原因不是任何限流。",
    "cause.slow_consumers.because.acks_behind": "消息投递与发布一样快，但确认更慢",
    "cause.slow_consumers.because.acknowledge_only": "没有派发任何消息，而消费者仍在确认手中的消息",
    "cause.slow_consumers.because.never_idle": "{limit}；消费者手中始终有消息",
    "cause.slow_consumers.because.storage_faster": "{limit}；存储能够提供的读取速度更高",
    # Hung consumers
    "cause.hung_consumers.label": "消费者卡死",
    "cause.hung_consumers.answer": "消费者已连接，但没有任何进展",
    "cause.hung_consumers.first": "查看消费者进程在做什么：线程转储，以及是否有依赖卡住。",
    "cause.hung_consumers.never": "不要提高限流阈值：原因不是任何限流。",
    "cause.hung_consumers.because.queues_full": "消费者手中有消息，却既不请求、不接收，也不确认",
    "cause.hung_consumers.because.nothing_moves": "消费者既不请求、不接收，也不确认消息",
    # No consumers
    "cause.no_consumers.label": "无消费者",
    "cause.no_consumers.answer": "没有消费者连接",
    "cause.no_consumers.first": "检查应用是否在运行、能否连接；再确认该订阅是否仍然需要。",
    "cause.no_consumers.never": "不要改动限流：没有消费者来接收消息。消息过期和积压配额仍然生效。",
    "cause.no_consumers.because.not_connected": "有条目在等待，但没有消费者连接",
    "cause.no_consumers.because.abandoned": "有条目在等待，且至少一天没有消费者连接",
    # Blocked on unacked
    "cause.blocked_on_unacked.label": "未确认消息阻塞",
    "cause.blocked_on_unacked.answer": "broker 已停止派发：未确认的消息过多",
    "cause.blocked_on_unacked.first": "找出确认没有返回的原因。",
    "cause.blocked_on_unacked.never": "不要提高派发限流阈值：让 broker 停下的是未确认消息数上限。",
    "cause.blocked_on_unacked.because.subscription_limit": "Pulsar 已停止派发，直到消息被确认",
    "cause.blocked_on_unacked.because.consumer_limit": "每个消费者都达到了自己的未确认消息数上限",
    # Redelivery
    "cause.redelivery.label": "反复重投",
    "cause.redelivery.answer": "同一批消息被一再投递",
    "cause.redelivery.first": "找出处理失败的消息：查看否定确认、确认超时和死信主题。",
    "cause.redelivery.never": "不要增加消费者：它们收到的还是同一批失败的消息。",
    "cause.redelivery.because.mostly_again": "大部分派发都花在反复返回的消息上",
    # Key_Shared blocked
    "cause.key_shared_blocked.label": "Key_Shared 阻塞",
    "cause.key_shared_blocked.answer": "按 key 保序阻塞了投递",
    "cause.key_shared_blocked.first": "找出持有最早未确认消息的消费者，以及正在排空的哈希。",
    "cause.key_shared_blocked.never": "不要急于增加或重启消费者：每次变动都会迁移 key，可能阻塞更多的 key。",
    "cause.key_shared_blocked.because.one_consumer": "条目在等待拥有其 key 且没有 permit 的消费者；另一些消费者有余力",
    # Delayed on purpose
    "cause.delayed_delivery.label": "有意延迟",
    "cause.delayed_delivery.answer": "消息尚未到投递时间",
    "cause.delayed_delivery.first": "将延迟条目与生产者设定的投递时间进行对比。",
    "cause.delayed_delivery.never": "不要扩容消费者：这些消息在等待各自的投递时间。",
    "cause.delayed_delivery.because.not_due": "等待的消息尚未到投递时间",
    # Publish burst
    "cause.publish_burst.label": "发布突增",
    "cause.publish_burst.answer": "发布量高于平常",
    "cause.publish_burst.first": "找出是哪个生产者发布得更多，以及是否会持续。",
    "cause.publish_burst.never": "不要为正在消化的突增改动限流或消费者。",
    "cause.publish_burst.because.began_with_burst": "积压始于一次发布突增",
    "cause.publish_burst.because.keep_up_with_usual": "积压始于一次发布突增；消费者能跟上平常的速率",
    # Cold reads
    "cause.cold_reads.label": "冷读",
    "cause.cold_reads.answer": "积压要从存储读取，瓶颈就在这里",
    "cause.cold_reads.first": "查看 bookie 的读取时延和该 broker 的缓存未命中。",
    "cause.cold_reads.never": "不要增加消费者：它们等待的是同样的读取。",
    "cause.cold_reads.because.from_storage": "消费者有余力，也没有接近任何限流阈值，但大部分条目来自存储",
    # Broker read limit
    "cause.read_limit.label": "broker 读取上限",
    "cause.read_limit.answer": "broker 对在途读取的上限限制了派发",
    "cause.read_limit.first": "查看 broker 的在途读取用量和直接内存。",
    "cause.read_limit.never": "不要提高派发限流阈值：这个上限先于它起作用。",
    "cause.read_limit.because.memory_used_up": "消费者有余力，而 broker 用于读取的内存已用尽",
    # Connection paused
    "cause.connection_paused.label": "连接被暂停",
    "cause.connection_paused.answer": "broker 暂停了消费者的连接，因为该连接上有生产者超过了发布限流阈值",
    "cause.connection_paused.first": "让生产者和消费者各用自己的客户端，不再共用连接；或者查看证据中所列主题的发布限流。",
    "cause.connection_paused.never": "不要在同一个客户端上增加消费者，也不要提高派发限流阈值：确认和请求都排在发布的消息之后。",
    "cause.connection_paused.because.waits": "消费者的 permit 已用尽，而 broker 暂停了它们与生产者共用的连接",
    "cause.connection_paused.because.takes_less": "没有接近任何派发限流阈值，而 broker 暂停了消费者与生产者共用的连接",
    # Remote publish limit
    "cause.remote_publish_limit.label": "远端发布限流",
    "cause.remote_publish_limit.answer": "远端集群的发布限流正在限制该复制器",
    "cause.remote_publish_limit.first": "查看远端集群中该主题的发布限流：由谁设置，保护的是什么。",
    "cause.remote_publish_limit.never": "不要提高复制器自身的限流阈值：它的发送已经快于远端集群的接收。",
    "cause.remote_publish_limit.because.paused": "已发送的消息在等待应答，而远端集群暂停了向该主题的发布",
    # Remote slow
    "cause.remote_slow.label": "远端过慢",
    "cause.remote_slow.answer": "远端集群或通往它的网络跟不上",
    "cause.remote_slow.first": "测量到远端集群的时延和带宽，以及那里的发布时延。",
    "cause.remote_slow.never": "不要提高限流阈值：原因不是任何限流。",
    "cause.remote_slow.because.answers_late": "已发送的消息在等待应答，而远端集群没有暂停任何生产者",
    # Remote quota
    "cause.remote_quota.label": "远端配额已满",
    "cause.remote_quota.answer": "远端集群拒收消息：那里的积压已达到配额",
    "cause.remote_quota.first": "在远端集群中找出没有被消费的订阅，以及它的积压配额。",
    "cause.remote_quota.never": "不要提高复制器的限流阈值：远端集群什么都不接收。",
    "cause.remote_quota.because.full": "没有发送任何消息，且该主题在远端集群的积压已达到配额",
    # Remote disconnected
    "cause.remote_disconnected.label": "远端未连接",
    "cause.remote_disconnected.answer": "复制器没有连接到远端集群",
    "cause.remote_disconnected.first": (
        "检查远端集群是否在运行、能否从该 broker 访问，主题是否存在且分区数相同，以及那里的积压配额是否已满。"
    ),
    "cause.remote_disconnected.never": "不要改动限流：什么都发不出去。消息过期和积压配额仍在计算。",
    "cause.remote_disconnected.because.not_connected": "有条目在等待，但到远端集群的生产者没有连接",
    # Refused by the remote
    "cause.schema_refused.label": "被远端拒绝",
    "cause.schema_refused.answer": "远端集群拒绝发给它的内容",
    "cause.schema_refused.first": (
        "在 broker 日志中查找 'message schema incompatible'，并对比该主题在两个集群中的 schema。远端集群接受该 schema 之后，在本集群卸载"
        "该主题。"
    ),
    "cause.schema_refused.never": "不要提高限流阈值：那只会让同样的条目被发送更多次。",
    "cause.schema_refused.because.takes_nothing": "远端集群已连接且没有暂停任何生产者，而已发送的内容都没有离开积压",
    # Replicator stuck
    "cause.replicator_stuck.label": "复制器卡住",
    "cause.replicator_stuck.answer": "复制器已连接，但停止了发送",
    "cause.replicator_stuck.first": "在 broker 日志中查看该复制器的错误，然后卸载该主题：这会重新启动复制器。",
    "cause.replicator_stuck.never": "不要等它恢复：它不会自己重新启动。",
    "cause.replicator_stuck.because.reads_nothing": "它已连接，没有发送任何消息，也没有在等待应答",
    # Permit drift
    "cause.permit_drift.label": "permit 计数偏差",
    "cause.permit_drift.answer": "broker 对消费者 permit 的计数已经不准",
    "cause.permit_drift.first": "卸载该主题：它的派发器会从零开始计数。然后把 broker 升级到已修复的版本。",
    "cause.permit_drift.never": "不要增加消费者，也不要提高限流阈值：broker 派发的少于消费者请求的。",
    "cause.permit_drift.because.unacked_negative": "broker 的未确认消息计数小于零，说明它重复减过",
    "cause.permit_drift.because.permits_lost": "所有消费者欠的 permit 都多于手中的消息，尽管它们仍在请求更多",
    "cause.permit_drift.because.dispatch_below_before": "消费者有 permit，也没有限流器在起作用，而自它们重新连接以来派发量低于从前",
    # Dispatch contention
    "cause.dispatch_contention.label": "派发争用",
    "cause.dispatch_contention.answer": "一个热点主题的发布与派发在争用 broker 的同一个线程",
    "cause.dispatch_contention.first": "把流量分散到更多分区，或以更大的批次发布：每个分区有自己的线程。",
    "cause.dispatch_contention.never": "不要增加消费者，也不要提高限流阈值：现有的消费者还能接收更多。",
    "cause.dispatch_contention.because.hot_topic": "单个主题分区的发布量非常大，其中只有少量从缓存派发出去，而消费者有 permit",
    # Snapshot markers
    "cause.snapshot_markers.label": "快照标记",
    "cause.snapshot_markers.answer": "占满积压的是复制订阅的快照，而不是消息",
    "cause.snapshot_markers.first": "用 throttlescope analyze-backlog 统计标记数量；然后消费该订阅、停止复制它，或者删除它。",
    "cause.snapshot_markers.never": "不要为此增加消费者或改动限流：没有消息在等待。",
    "cause.snapshot_markers.because.nothing_published": "没有发布任何消息，而一个复制订阅的积压在增长",
    # Topic moved
    "cause.segment_blocked.label": "等待父分段",
    "cause.segment_blocked.answer": "该分段在等待它的来源分段",
    "cause.segment_blocked.first": "查看该主题已封闭的分段：造成它们积压的原因，也推迟了这一个。",
    "cause.segment_blocked.never": "不要为该分段增加消费者或提高限流阈值：父分段消化完之后才会读取它。",
    "cause.segment_blocked.because.parents_wait": "没有消费者连接到该分段，而它的来源分段仍有积压",
    "cause.segment_blocked.because.parents_drained": "没有消费者连接到该分段，而它的来源分段在最近 15 分钟内才结束",
    "cause.topic_moved.label": "主题已迁移",
    "cause.topic_moved.answer": "主题发生了迁移，或者它的 broker 重启了",
    "cause.topic_moved.first": "等主题稳定下来；观察它是否再次迁移。",
    "cause.topic_moved.never": "不要根据迁移前后的几分钟采取行动：其间计数器重启过。",
    "cause.topic_moved.because.unloaded": "主题被卸载或迁移，没有其他因素能解释积压",
    # Filter rejects
    "cause.filter_rejects.label": "过滤器拒绝",
    "cause.filter_rejects.answer": "broker 上的条目过滤器拒绝或推迟了条目",
    "cause.filter_rejects.first": "查看过滤器的拒绝数和推迟数。",
    "cause.filter_rejects.never": "不要增加消费者：这些条目到不了消费者。",
    "cause.filter_rejects.because.mostly_rejected": "读出的条目大部分被条目过滤器拒绝或推迟",
    # Gone by expiry
    "cause.healed_by_loss.label": "因过期消失",
    "cause.healed_by_loss.answer": "积压下降是因为消息过期，而不是被消费",
    "cause.healed_by_loss.first": "查清丢失了哪些消息，能否重新发布。",
    "cause.healed_by_loss.never": "不要把它当作已恢复而关闭。",
    "cause.healed_by_loss.because.quota_evicted": "积压配额清除了从未被消费的条目",
    "cause.healed_by_loss.because.expired": "积压因过期而下降，不是因为消费",
    # Phantom backlog
    "cause.phantom_backlog.label": "虚假积压",
    "cause.phantom_backlog.answer": "积压数值不真实",
    "cause.phantom_backlog.first": "与 admin API 的精确积压对比。",
    "cause.phantom_backlog.never": "不要为此扩容或放宽限流。",
    "cause.phantom_backlog.because.stays": "消费者有余力，发布的消息都已取走，而积压数值不变：它可能并不存在",
    # Unknown
    "cause.unknown.label": "无法判定",
    "cause.unknown.answer": "现有证据不足以判定",
    "cause.unknown.first": "补上缺失的证据：下面逐项列出，并附补充方法。",
    "cause.unknown.never": "不要仅凭这一结果改动限流或消费者。",
    "cause.unknown.because.little_seen": "该窗口中看到的数据太少",
    "cause.unknown.because.served_twice": "有多个 broker 同时显示该订阅",
    "cause.unknown.because.backlog_not_measured": "没有测得积压",
    "cause.unknown.because.limits_old": "读取限流阈值的时间离该窗口太远，无法据此排除限流",
    "cause.unknown.because.partly_read": "只读到该{level}的一部分流量，因此不知道其限流的用量",
    "cause.unknown.because.dispatch_stuck": "消费者有 permit，却没有派发任何消息：要么 broker 的派发卡住了，要么积压并不存在",
    "cause.unknown.because.hang_or_stuck": "没有派发任何消息：要么消费者卡死，要么 broker 的派发卡住；消费者的 permit 可以说明是哪一种",
    "cause.unknown.because.dispatch_stopped": "没有派发任何消息，而原因既不是消费者已满，也不是限流配额用尽",
    "cause.unknown.because.consumers_or_storage": "要么消费者慢，要么从存储读取慢：消费者的 permit 可以说明是哪一种",
    "cause.unknown.because.bursts_under_unread_limit": "突发时有时无，同时有读取被限流：不知道限流阈值，就无法判断突发是否由它造成",
    "cause.unknown.because.room_unused": "消费者有余力，也没有接近任何限流：要么 broker 的 permit 计数不准，要么它的读取慢",
    "cause.unknown.because.no_cause": "没有哪个原因能解释该积压",
    "cause.unknown.because.remote_not_seen": (
        "已发送的消息在等待远端集群，而没有读到远端集群的任何数据：可能是那里的发布限流，也可能是网络或集群慢"
    ),
    "cause.unknown.because.segment_left": (
        "该分段已封闭且没有消费者，而由它产生的分段有消费者：队列消费者可能把最后的条目留在这里，直到客户端再次连接"
    ),
    "cause.unknown.because.unlikely": "可能是{cause}，但把握不足，不予认定",
    # Healthy
    "cause.healthy.label": "健康",
    "cause.healthy.answer": "未发现该订阅有问题",
    "cause.healthy.first": "无需处理。",
    "cause.healthy.never": "不要仅凭限流事件采取行动：即使一切正常，小阈值的限流也会产生这些事件。",
    "cause.healthy.because.no_backlog": "没有需要解释的积压",
    "cause.healthy.because.of_pulsar_itself": "该订阅属于 Pulsar 自身：其中等待的内容会在 Pulsar 需要时读取",
    "cause.healthy.because.draining": "积压正在消化，没有限流器在限制它",
}
