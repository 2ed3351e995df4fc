"""Sentences of ``models/messages/en/symptoms.py`` in Simplified Chinese. In: nothing. Out: the same keys and placeholders."""

from __future__ import annotations

SENTENCES = {
    # Is there a backlog, and which way does it go?
    "symptom.coverage.seen": "看到了预期样本的 {seen:share}。",
    "symptom.coverage.never_measured": "从未测得不含延迟条目的积压。",
    "symptom.served_twice.not_measured": "不知道有多少个 broker 显示该订阅。",
    "symptom.served_twice.one": "有一个 broker 显示该订阅。",
    "symptom.served_twice.several": (
        "在 {twice:share} 的分钟里有 {brokers:number} 个 broker 同时显示该订阅，就像两个集群共用一个 cluster 标签那样。"
    ),
    "symptom.backlog_present.not_measured": "没有测得积压。",
    "symptom.backlog_present.waiting": "窗口结束时有 {waiting:entries} 个未投递条目在等待。",
    "symptom.backlog_present.waiting_of_publishing": (
        "窗口结束时有 {waiting:entries} 个未投递条目在等待，相当于 {publishing_s:duration}的发布量。"
    ),
    "symptom.backlog_old.not_measured": "没有测得积压。",
    "symptom.backlog_old.hardly_any": "积压有时几乎为空。",
    "symptom.backlog_old.some_delayed": "等待的条目中有一部分是延迟条目，可能尚未到投递时间。",
    "symptom.backlog_old.of_reader": "reader 只在应用需要时读取消息。",
    "symptom.backlog_old.own_age": "该订阅最早的消息已存在 {age_s:duration}，有 {waiting:entries} 个条目在等待。",
    "symptom.backlog_old.dispatch_not_measured": "对是否有消息派发的测量时间不够长。",
    "symptom.backlog_old.moved": "半小时内有消息被派发或确认。",
    "symptom.backlog_old.still_by_stats": "没有派发或确认任何消息，而有 {waiting:entries} 个条目在等待，最早的已等待 {age_s:duration}。",
    "symptom.backlog_old.still_by_topic": (
        "没有派发或确认任何消息，而有 {waiting:entries} 个条目在等待；该主题积压中最早的消息已存在 {age_s:duration}。"
    ),
    "symptom.backlog_old.still_by_history": (
        "连续 {known_s:duration}没有派发任何消息，其间有 {waiting:entries} 个条目在等待，并发布了 {published:number} 条消息。"
    ),
    "symptom.backlog_old.age_not_measured": "没有测得它已等待多久。",
    "symptom.backlog_growing.not_measured": "样本太少，看不出积压是否在增长。",
    "symptom.backlog_growing.growing": "积压在 {length_s:duration}内增长了 {growth:entries} 个条目。",
    "symptom.backlog_growing.little_growth": "积压的增长不超过噪声（{length_s:duration}内 +{growth:entries} 个条目）。",
    "symptom.backlog_growing.not_growing": "积压没有增长（{length_s:duration}内 {growth:entries} 个条目）。",
    "symptom.backlog_draining.not_measured": "样本太少，看不出积压是否在消化。",
    "symptom.backlog_draining.draining": "积压在下降，按此速度将在 {left_s:duration}后消化完。",
    "symptom.backlog_draining.not_draining": "积压没有在消化。",
    "symptom.backlog_draining.nothing_left": "没有剩余的积压需要消化。",
    "symptom.backlog_sawtooth.not_measured": "样本太少，看不出突发。",
    "symptom.backlog_sawtooth.bursts": "积压升至 {peak:entries} 个条目，又在窗口内消化完。",
    "symptom.backlog_sawtooth.no_bursts": "积压没有以突发的形式时有时无。",
    "symptom.backlog_delayed.not_measured": "没有测得延迟条目。",
    "symptom.backlog_delayed.delayed": "积压的 {backlog:entries} 个条目中，有 {delayed:entries} 个是延迟条目，尚未到投递时间。",
    "symptom.expiring.not_measured": "没有测得过期情况。",
    "symptom.expiring.nothing": "没有消息过期。",
    "symptom.expiring.fell": "{expired:entries} 个条目未被读取就已过期，同时积压下降了 {fall:entries} 个。",
    "symptom.expiring.level_kept": "{expired:entries} 个条目未被读取就已过期；若非如此，积压的变化会是 {change:entries} 个。",
    "symptom.evicting.not_measured": "没有测得淘汰情况。",
    "symptom.evicting.not_counted": "发布和派发的数量没有计数。",
    "symptom.evicting.nothing": "没有积压配额淘汰任何消息。",
    "symptom.evicting.evicted": "该主题的积压配额执行了淘汰；{lost:entries} 个条目未经投递就离开了积压。",
    # What do the consumers do?
    "symptom.no_consumers.not_measured": "没有测得消费者数量。",
    "symptom.no_consumers.none": "没有消费者连接（占窗口的 {away:share}）。",
    "symptom.no_consumers.one": "窗口结束时有 {consumers:number} 个消费者连接。",
    "symptom.no_consumers.several": "窗口结束时有 {consumers:number} 个消费者连接。",
    "symptom.parent_segments.none": "没有已知的来源分段。",
    "symptom.parent_segments.wait": "它的来源分段还有 {entries:number} 个条目，会先读取它们。",
    "symptom.parent_segments.drained": "它的来源分段已消化完；broker 可能还不知道。",
    "symptom.successors_read.none": "没有已知的由它产生的分段。",
    "symptom.successors_read.read": "有 {consumers:number} 个消费者连接到由它产生的分段。",
    "symptom.successors_read.not_read": "由它产生的分段也没有消费者连接。",
    "symptom.blocked_on_unacked.not_measured": "没有测得未确认消息是否阻塞了它。",
    "symptom.blocked_on_unacked.blocked": "Pulsar 阻塞了该订阅，直到消费者确认（占窗口的 {blocked:share}）。",
    "symptom.blocked_on_unacked.blocked_with": (
        "该订阅有 {unacked:number} 条未确认消息，Pulsar 将其阻塞，直到消费者确认（占窗口的 {blocked:share}）。"
    ),
    "symptom.blocked_on_unacked.not_blocked": "未确认消息没有阻塞该订阅。",
    "symptom.consumer_queue_full.not_measured": "没有测得消费者队列有多满。",
    "symptom.consumer_queue_full.yes.starved": "broker 在等待消费者：在 {share:share} 的样本中它们的 permit 已用尽。",
    "symptom.consumer_queue_full.yes.starved_in_stats": "broker 在等待消费者：在 {share:share} 的样本中它们的 permit 已用尽（{origin}）。",
    "symptom.consumer_queue_full.yes.fill": "broker 在等待消费者：它们的队列有 {share:share} 被未确认消息占用。",
    "symptom.consumer_queue_full.yes.fill_in_stats": "broker 在等待消费者：它们的队列有 {share:share} 被未确认消息占用（{origin}）。",
    "symptom.consumer_queue_full.yes.unacked": "broker 在等待消费者：它们手中有 {unacked:number} 条未确认消息。",
    "symptom.consumer_queue_full.no.starved": "队列未满：消费者在 {share:share} 的样本中 permit 已用尽。",
    "symptom.consumer_queue_full.no.starved_in_stats": "队列未满：消费者在 {share:share} 的样本中 permit 已用尽（{origin}）。",
    "symptom.consumer_queue_full.no.fill": "队列未满：{share:share} 被未确认消息占用。",
    "symptom.consumer_queue_full.no.fill_in_stats": "队列未满：{share:share} 被未确认消息占用（{origin}）。",
    "symptom.consumer_queue_full.no.idle": "队列未满：在 {idle:share} 的分钟里没有未确认消息。",
    "symptom.consumer_queue_full.no.busy": "队列未满：{minutes} 分钟里每一分钟结束时都有未确认消息。",
    "symptom.consumer_queue_empty.not_measured": "没有测得消费者队列有多空。",
    "symptom.consumer_queue_empty.yes.starved": "消费者有余力：它们的 permit 只在 {share:share} 的样本中用尽。",
    "symptom.consumer_queue_empty.yes.starved_in_stats": "消费者有余力：它们的 permit 只在 {share:share} 的样本中用尽（{origin}）。",
    "symptom.consumer_queue_empty.yes.fill": "消费者有余力：它们的队列只有 {share:share} 被未确认消息占用。",
    "symptom.consumer_queue_empty.yes.fill_in_stats": "消费者有余力：它们的队列只有 {share:share} 被未确认消息占用（{origin}）。",
    "symptom.consumer_queue_empty.yes.idle": "消费者有余力：在 {idle:share} 的分钟里没有未确认消息。",
    "symptom.consumer_queue_empty.no.starved": "消费者余力很小：它们的 permit 在 {share:share} 的样本中用尽。",
    "symptom.consumer_queue_empty.no.starved_in_stats": "消费者余力很小：它们的 permit 在 {share:share} 的样本中用尽（{origin}）。",
    "symptom.consumer_queue_empty.no.fill": "消费者余力很小：它们的队列有 {share:share} 被未确认消息占用。",
    "symptom.consumer_queue_empty.no.fill_in_stats": "消费者余力很小：它们的队列有 {share:share} 被未确认消息占用（{origin}）。",
    "symptom.consumer_queue_empty.no.unacked": "消费者余力很小：它们手中有 {unacked:number} 条未确认消息。",
    "symptom.consumer_queue_empty.no.busy": "消费者余力很小：{minutes} 分钟里每一分钟结束时都有未确认消息。",
    "symptom.consumers_busy.not_measured": "没有测得未确认消息。",
    "symptom.consumers_busy.idle_at_times": "消费者有时空闲，或观察的时间不够长。",
    "symptom.consumers_busy.never_idle": (
        "消费者从不空闲：{minutes} 分钟里每一分钟结束时都有未确认消息，并以恒定速率接收 {rate:number} msg/s。"
    ),
    "symptom.connection_paused.not_measured": "不知道 broker 是否暂停了消费者的连接：该窗口的 admin API 统计可以说明谁与谁共用连接。",
    "symptom.connection_paused.not_paused": "没有消费者与被 broker 暂停的生产者共用连接。",
    "symptom.connection_paused.paused": (
        "{part:share} 的消费者与 {topic} 的生产者共用连接，broker 在一分钟内将其暂停了 {pauses:number} 次：它们的确认和请求都在等待。"
    ),
    "symptom.connection_paused.paused_at_times": (
        "平均 {part:share} 的消费者与 {topic} 的生产者共用连接，broker 在一分钟内最多将其暂停 {pauses:number} 次。"
    ),
    "symptom.unacked_steady.not_measured": "没有测得消费者手中的消息数，或没有派发任何消息。",
    "symptom.unacked_steady.unacked": (
        "消费者手中有 {least:number} 到 {most:number} 条未确认消息，至少相当于 {dispatching_s:duration}的派发量。"
    ),
    "symptom.redelivering.not_measured": "没有测得重投。",
    "symptom.redelivering.redelivered": "派发的消息中有 {part:share} 是重投。",
    "symptom.acks_behind.not_measured": "没有测得确认。",
    "symptom.acks_behind.behind": "派发与发布一样多（{dispatched:number} msg/s），但确认只有 {acked:number} msg/s。",
    "symptom.acks_behind.not_behind": "派发 {dispatched:number} msg/s，确认 {acked:number} msg/s。",
    "symptom.dispatch_stopped.not_measured": "派发的消息没有计数。",
    "symptom.dispatch_stopped.nothing": "没有派发任何消息。",
    "symptom.dispatch_stopped.dispatched": "派发速率为 {rate:number} msg/s。",
    "symptom.acks_stopped.not_measured": "没有测得确认。",
    "symptom.acks_stopped.nothing": "没有确认任何消息。",
    "symptom.acks_stopped.acknowledged": "确认速率为 {rate:number} msg/s。",
    "symptom.acks_stopped.last": "最近一次确认在 {age_s:duration}前。",
    "symptom.flow_stopped.not_measured": "没有测得消费者上次请求消息的时间。",
    "symptom.flow_stopped.clock_ahead": "不知道消费者上次请求消息的时间：broker 的时钟至少快 {off_s:duration}。",
    "symptom.flow_stopped.clock_behind": "不知道消费者上次请求消息的时间：broker 的时钟至少慢 {off_s:duration}。",
    "symptom.flow_stopped.last": "消费者最近一次请求消息在 {age_s:duration}前。",
    "symptom.dispatch_flat.not_measured": "有消息派发的分钟太少，无法比较。",
    "symptom.dispatch_flat.varies": "各分钟的派发速率在 {rate:number} msg/s 上下波动 {variation:share}。",
    "symptom.consumers_blocked.not_measured": "没有测得消费者是否被阻塞。",
    "symptom.consumers_blocked.blocked": (
        "{consumers:number} 个消费者中有 {blocked:number} 个被阻塞，直到它们确认消息（在窗口的 {part:share} 中全部被阻塞）。"
    ),
    "symptom.consumers_blocked.none_blocked": "没有消费者因未确认消息而阻塞。",
    "symptom.consumers_blocked.all_blocked_in_stats": "在 {part:share} 的样本中，每个消费者都被阻塞，直到它确认消息（{origin}）。",
    "symptom.consumers_blocked.not_all_blocked_in_stats": "并非所有消费者都因未确认消息而阻塞（{origin}）。",
    "symptom.consumers_uneven.not_measured": "没有测得每个消费者的确认量，或者消费者不足两个。",
    "symptom.consumers_uneven.rates": "最慢的消费者确认 {slowest:number} msg/s，最快的确认 {fastest:number} msg/s。",
    "symptom.hash_blocked.not_key_shared": "只有在 Key_Shared 订阅上，同一个 key 的条目才会等待某一个消费者。",
    "symptom.hash_blocked.not_measured": "没有测得该订阅的类型或其重投队列。",
    "symptom.hash_blocked.waiting": "{replay:number} 个条目在重投队列中等待；没有测得它们在等待哪个消费者。",
    "symptom.hash_blocked.waiting_without_permits": (
        "{replay:number} 个条目在重投队列中等待，而 {consumers:number} 个消费者中有 {without:number} 个没有 permit。"
    ),
    "symptom.hash_blocked.waiting_in_stats": (
        "{replay:number} 个条目在重投队列中等待，而在 {uneven:share} 的样本中，有的消费者没有 permit，有的有余力（{origin}）。"
    ),
    "symptom.hash_blocked.waiting_and_draining_in_stats": (
        "{replay:number} 个条目在重投队列中等待，而在 {uneven:share} 的样本中，有的消费者没有 permit，有的有余力，在 {draining:share} 的"
        "样本中有哈希正在排空（{origin}）。"
    ),
    # Where shares of snapshots come from
    "snapshots.at_no_known_time": "admin API，{samples} 个样本",
    "snapshots.before_end": "admin API，{samples} 个样本，最新的一个比窗口结束早 {apart_s:duration}",
    "snapshots.after_end": "admin API，{samples} 个样本，最新的一个比窗口结束晚 {apart_s:duration}",
    # What do the limiters do?
    "symptom.limiter_at_limit.no_limit": "没有设置限流。",
    "symptom.limiter_at_limit.not_known": "不知道限流配额用了多少。",
    "symptom.limiter_at_limit.used": "{level}{kind}限流（{limit:limit}）已用 {rho:share}。",
    "symptom.limiter_at_limit.used_shared": (
        "{level}{kind}限流（{limit:limit}）已被读到的各订阅用去 {rho:share}，其中该订阅用去 {own:share}。"
    ),
    "symptom.limits_far.no_limit": "该订阅、其主题和其 broker 都没有设置派发限流。",
    "symptom.limits_far.not_known": "不知道派发限流阈值。",
    "symptom.limits_far.used_most": "用量占比最高的是{level}{kind}限流（{limit:limit}）：{rho:share}。",
    "symptom.throttle_events.no_counters": "broker 没有提供限流计数器。",
    "symptom.throttle_events.none": "没有读取被任何限流器限流。",
    "symptom.throttle_events.none_of_limiter": "{level}{kind}限流没有使任何读取被限流。",
    "symptom.throttle_events.sparse": "{level}{kind}限流使 {events:number} 次读取被限流（{rate:number}/s），少于真正起限制作用的限流器。",
    "symptom.throttle_events.in_bursts": (
        "{level}{kind}限流使 {events:number} 次读取被限流（{rate:number}/s），但只出现在过少的抓取间隔中：真正起限制作用的限流器几乎在每个抓取间隔都会限流读取。"
    ),
    "symptom.throttle_events.every_period": (
        "{level}{kind}限流使 {events:number} 次读取被限流（{rate:number}/s），约每个周期一次：每个周期的配额都用尽了。"
    ),
    "symptom.throttle_events.often_every_period": (
        "{level}{kind}限流使 {events:number} 次读取被限流（{rate:number}/s），每个周期至少两次：每个周期的配额都用尽了。"
    ),
    "symptom.throttle_events.as_if_exhausted": (
        "{level}{kind}限流使 {events:number} 次读取被限流（{rate:number}/s），与每个周期都用尽配额的限流器一样多。"
    ),
    "symptom.throttle_events.every_read": (
        "{level}{kind}限流使 {events:number} 次读取被限流（{rate:number}/s）。这不能证明什么：一个周期的配额小于一次完整读取，所以健康订"
        "阅的每次读取同样会被限流。"
    ),
    "symptom.throttle_events.limit_old": (
        "{level}{kind}限流使 {events:number} 次读取被限流（{rate:number}/s）；限流阈值是很久以前读取的，无法判断这是否说明问题。"
    ),
    "symptom.throttle_events.batch_not_read": (
        "{level}{kind}限流使 {events:number} 次读取被限流（{rate:number}/s）；这是否说明问题取决于 dispatcherMaxReadBatchSize，而它没有被"
        "读取。"
    ),
    "symptom.throttle_events.limit_not_read": (
        "{level}{kind}限流使 {events:number} 次读取被限流（{rate:number}/s）；不知道限流阈值，就无法判断这是否说明问题。"
    ),
    "symptom.limit_changed.changed": "派发限流在该窗口中有过改动；改动之后，broker 从一个完整周期的令牌开始。",
    "symptom.limit_changed.unchanged": "派发限流没有改动过。",
    "symptom.limit_observed_later.not_read": "没有读取限流阈值。",
    "symptom.limit_observed_later.in_time": "限流阈值是在该窗口之前或其间读取的。",
    "symptom.limit_observed_later.later": "限流阈值是在该窗口之后读取的；当时的值可能不同。",
    "symptom.limits_old.not_read": "没有读取限流阈值。",
    "symptom.limits_old.before": "限流阈值的读取时间比窗口结束早 {age_s:duration}。",
    "symptom.limits_old.after": "限流阈值的读取时间比窗口结束晚 {age_s:duration}。",
    "symptom.limit_not_in_force.none": "没有哪个限流在整个窗口中一直被超过。",
    "symptom.limit_not_in_force.exceeded": (
        "整个窗口的用量是{level}{kind}限流（{limit:limit}）的 {rho:number} 倍，所以它不是 broker 实际执行的阈值。"
    ),
    # What do the hours before the window show?
    "symptom.capacity_short.not_seen": "最近一天没有观察到消费者的处理能力上限。",
    "symptom.capacity_short.nothing_published": "没有发布任何消息。",
    "symptom.capacity_short.seen_now": (
        "{consumers:consumers}在该窗口中满负荷处理了 {capacity:number} msg/s；发布速率为 {published:number} msg/s。"
    ),
    "symptom.capacity_short.seen_before": (
        "{consumers:consumers}在窗口结束前 {ago_s:duration}（{at}）满负荷处理了 {capacity:number} msg/s；发布速率为 {published:number} "
        "msg/s。"
    ),
    "symptom.publishing_burst.none": "没有发布突增：发布量不高于平常。",
    "symptom.publishing_burst.lasting": (
        "从 {start} 起发布速率为 {rate:number} msg/s；平常为 {usual:number} msg/s（{minutes} 分钟的中位数）。"
    ),
    "symptom.publishing_burst.over": (
        "从 {start} 到 {end} 发布速率为 {rate:number} msg/s；平常为 {usual:number} msg/s（{minutes} 分钟的中位数）。"
    ),
    "symptom.abandoned.connected": "最近一天有消费者连接过。",
    "symptom.abandoned.away": "已有 {away_s:duration}没有看到消费者。",
    # What else happened?
    "symptom.cold_reads.not_measured": "没有测得缓存未命中。",
    "symptom.cold_reads.misses": "每秒有 {misses:number} 个条目从存储读取，而不是从 broker 的缓存读取。",
    "symptom.storage_faster.not_measured": "没有测得从存储读取了多少。",
    "symptom.storage_faster.faster_before": "存储此前向该订阅提供过 {before:number} 条目/s；现在的派发速率为 {now:number} 条目/s。",
    "symptom.storage_faster.length_of_read": (
        "派发速率为 {now:number} 条目/s：如果瓶颈是存储，那么一次 {entries:number} 个条目的读取要用 {read_s:number} 秒。"
    ),
    "symptom.replication_markers.not_read": "不知道该订阅是否为复制订阅：没有查询 admin API。",
    "symptom.replication_markers.not_replicated": "该订阅不是复制订阅。",
    "symptom.replication_markers.not_measured": "没有测得是否有消息发布。",
    "symptom.replication_markers.replicated": (
        "该订阅是复制订阅；发布速率为 {published:number} msg/s，而其积压增长了 {growth:number} 个条目。复制订阅的快照标记也是积压中的条目。"
    ),
    "symptom.unacked_negative.not_measured": "没有测得未确认消息。",
    "symptom.unacked_negative.least": "broker 的未确认消息计数最低为 {unacked:number}。",
    "symptom.permits_lost.not_measured": "没有同时测得 permit、未确认消息（Shared 或 Key_Shared）和消费者的请求。",
    "symptom.permits_lost.requests_stopped": "消费者最近一次请求消息在 {age_s:duration}前。",
    "symptom.permits_lost.all_below_zero": (
        "消费者在每一分钟都请求消息，而 permit 最多的消费者也只有 {permits:number}，未确认消息却只有 {unacked:number} 条。"
    ),
    "symptom.permits_lost.not_all": "permit 最多的消费者最多有 {permits:number}。",
    "symptom.dispatch_below_before.not_measured": "没有同时得知 broker 等待消费者时它们的接收量，以及它们现在的 permit。",
    "symptom.dispatch_below_before.few_reconnects": "自观察到消费者的处理能力上限以来，其数量变化了 {changes} 次。",
    "symptom.dispatch_below_before.rates": (
        "每个消费者都有 permit，派发速率为 {now:number} msg/s；此前消费者接收过 {before:number} msg/s。此后其数量变化了 {changes} 次。"
    ),
    "symptom.dispatch_contention.not_measured": "没有同时测得发布、派发、从存储的读取和 permit。",
    "symptom.dispatch_contention.not_hot": "向该主题分区写入 {written:number} 条目/s。",
    "symptom.dispatch_contention.rates": (
        "向该主题分区写入 {written:number} 条目/s，派发 {dispatched:number} 条目/s，其中 {misses:number} 条目/s 从存储读取。"
    ),
    "symptom.counters_restarted.stayed": "主题没有迁移，其计数器也没有重启。",
    "symptom.counters_restarted.moved": "主题在该窗口中迁移到了 {broker}；其计数器重启了。",
    "symptom.counters_restarted.moved_elsewhere": "主题在该窗口中迁移到了另一个 broker；其计数器重启了。",
    "symptom.counters_restarted.restarted": "主题的计数器在该窗口中重启了：主题被卸载，或其 broker 重启了。",
    "symptom.filtering.not_measured": "没有测得条目过滤器。",
    "symptom.filtering.none": "条目过滤器没有拒绝任何条目。",
    "symptom.filtering.filtered": "在 {processed:number} 条目/s 中，条目过滤器拒绝了 {rejected:number}，推迟了 {postponed:number}。",
    "symptom.reads_wait.no_limit": "broker 没有提供在途读取的上限。",
    "symptom.reads_wait.free": "broker 用于在途读取的内存有 {free:share} 空闲。",
    # Replicators
    "symptom.replicator_disconnected.no_replicator": "这不是复制器。",
    "symptom.replicator_disconnected.not_measured": "没有测得远端集群是否已连接。",
    "symptom.replicator_disconnected.connected": "远端集群已连接。",
    "symptom.replicator_disconnected.disconnected": "远端集群在 {away:share} 的分钟里没有连接。",
    "symptom.sends_wait.no_replicator": "这不是复制器。",
    "symptom.sends_wait.not_measured": "没有测得发送等待应答的时间。",
    "symptom.sends_wait.answered": "最早的一次发送已等待应答 {delay_s:number} 秒。",
    "symptom.sends_wait.waiting": "最早的一次发送等待远端集群的应答已有 {delay_s:number} 秒。",
    "symptom.sends_nothing.no_replicator": "这不是复制器。",
    "symptom.sends_nothing.not_measured": "没有测得发送量。",
    "symptom.sends_nothing.nothing": "没有向远端集群发送任何消息。",
    "symptom.sends_nothing.sends": "向远端集群最多发送 {rate:number} 条目/s。",
    "symptom.unanswered.no_replicator": "这不是复制器。",
    "symptom.unanswered.not_measured": "没有测得是否有发送得到应答。",
    "symptom.unanswered.between": "从最早一次发送的等待时长看不出是否有发送得到应答。",
    "symptom.unanswered.none": "最近 {passed_s:duration}没有发送得到应答：最早一次发送的等待时长随时钟同步增长。",
    "symptom.unanswered.some": "有些发送得到了应答：最早一次发送的等待时长增长得比时钟慢。",
    "symptom.remote_pauses.no_replicator": "这不是复制器。",
    "symptom.remote_pauses.remote_not_seen": "没有读到该主题在远端集群的任何数据。",
    "symptom.remote_pauses.pauses": "远端集群在 {paused:share} 的分钟里暂停了向该主题的发布。",
    "symptom.remote_pauses.none": "远端集群没有暂停向该主题的发布。",
    "symptom.remote_quota_full.no_replicator": "这不是复制器。",
    "symptom.remote_quota_full.remote_not_seen": "没有读到该主题在远端集群的积压配额。",
    "symptom.remote_quota_full.full": "该主题在远端集群的积压已达到配额（{used:share}）。",
    "symptom.remote_quota_full.room": "该主题在远端集群的积压占其配额的 {used:share}。",
    # The rule by which no cause is named, or a backlog is no incident
    "symptom.rule.no_cause": "未认定原因：{why}。",
    "symptom.rule.no_incident": "这不算故障：{why}。",
}
