"""Sentences of ``models/messages/en/missing.py`` in Simplified Chinese. In: nothing. Out: the same keys and placeholders."""

from __future__ import annotations

SENTENCES = {
    "missing.coverage.what": "样本只有应有数量的 {seen:share}",
    "missing.coverage.fix": "在 Prometheus 中检查对该 broker 的抓取是否失败或过迟：up、scrape_duration_seconds",
    "missing.serving_broker.what": "多个 broker 同时显示该订阅，由其中哪一个提供服务",
    "missing.serving_broker.fix": "为每个集群设置各自的 cluster 标签（每个数据源用 --cluster NAME），或用 --match 只读取其中一个",
    "missing.backlog.what": "该订阅的积压（pulsar_subscription_back_log_no_delayed）",
    "missing.backlog.fix": "在 broker 上设置 exposeTopicLevelMetricsInPrometheus=true，并让采集匹配该指标",
    "missing.throttle_counters.what": "限流计数器（pulsar_subscription_dispatch_throttled_*_events）",
    "missing.throttle_counters.fix": "Pulsar 4.0.4、4.1.0 及更高版本提供，需设置 exposeTopicLevelMetricsInPrometheus=true",
    "missing.limits.what": "{levels}限流阈值：没有指标提供它们",
    "missing.limits.fix": "指定该集群的 --pulsar-admin URL，以读取生效的限流阈值",
    "missing.backlog_age.what": "该订阅自己最早一条消息的时长；主题给出的是其中最慢订阅的时长",
    "missing.backlog_age.fix": (
        "指定 --pulsar-admin URL，或在 broker 上设置 exposeSubscriptionBacklogAgeInPrometheus=true：需要 Pulsar 4.0.14、4.2.5、5.0 或更高"
        "版本"
    ),
    "missing.limits_in_window.what": "该窗口当时的限流阈值；它们在窗口之后才首次读取",
    "missing.limits_in_window.fix": "定期带 --pulsar-admin 运行采集，例如每小时一次",
    "missing.recent_limits.before": "该窗口中生效的限流阈值：读取时间比窗口结束早 {age_s:duration}",
    "missing.recent_limits.after": "该窗口中生效的限流阈值：读取时间比窗口结束晚 {age_s:duration}",
    "missing.recent_limits.fix": "用 --pulsar-admin 重新读取，并定期读取，例如每小时一次",
    "missing.contradicted_limit.what": "实际生效的{limiter}限流阈值：计数器与已知的阈值矛盾",
    "missing.contradicted_limit.before": "实际生效的{limiter}限流阈值：计数器与已知的阈值矛盾；读取时间比窗口结束早 {age_s:duration}",
    "missing.contradicted_limit.after": "实际生效的{limiter}限流阈值：计数器与已知的阈值矛盾；读取时间比窗口结束晚 {age_s:duration}",
    "missing.contradicted_limit.fix": "用 --pulsar-admin 重新读取限流阈值，并让采集匹配共享该限流的全部对象",
    "missing.topic_traffic.what": "只读到该主题的一部分流量；主题限流按全部流量计算",
    "missing.topic_traffic.share": "只读到该主题的一部分流量：其订阅的 {read:share}；主题限流按全部流量计算",
    "missing.topic_traffic.fix": "不带 --match 运行，或使用不指定订阅的 --match",
    "missing.broker_rate.what": "读到了该 broker 多少流量：缺少它自己的数值（pulsar_broker_rate_out）",
    "missing.broker_rate.fix": "让采集匹配 pulsar_broker_rate_out",
    "missing.broker_traffic.what": "只读到该 broker 的一部分流量：{read:share}；broker 限流按全部流量计算",
    "missing.broker_traffic.fix": "不带 --match 运行，或使用不遗漏该 broker 任何命名空间的 --match",
    "missing.enforced_limit.what": "broker 实际执行的限流阈值",
    "missing.enforced_limit.fix": "用 --pulsar-admin 重新读取限流阈值；限流也可能是直接在 broker 上设置的",
    "missing.consumer_ages.ahead": "消费者上次请求和确认消息距今多久：broker 的时钟至少快 {off_s:duration}",
    "missing.consumer_ages.behind": "消费者上次请求和确认消息距今多久：broker 的时钟至少慢 {off_s:duration}",
    "missing.consumer_ages.fix": "让 broker 和 Prometheus 使用相同的时间服务器（NTP）校时",
    "missing.broker_reads.what": "broker 是否在读取，以及积压是否真实",
    "missing.broker_reads.fix": "查看 `pulsar-admin topics stats-internal`；设置 exposePreciseBacklogInPrometheus=true",
    "missing.permits.what": "消费者的 permit（pulsar_consumer_available_permits）",
    "missing.permits.fix": (
        "在 broker 上设置 exposeConsumerLevelMetricsInPrometheus=true：每个消费者增加九条时间序列；或为 run --follow 或 now 指定 "
        "--pulsar-admin URL，它们会从主题统计中采样"
    ),
    "missing.permits_at_scrapes.what": (
        "每次抓取时消费者的 permit（pulsar_consumer_available_permits）；admin API 的统计只提供了 {samples} 个时刻"
    ),
    "missing.permits_at_scrapes.fix": "在 broker 上设置 exposeConsumerLevelMetricsInPrometheus=true：每个消费者增加九条时间序列",
    "missing.unacked.what": "消费者手中有多少消息：Exclusive 和 Failover 订阅不统计未确认消息",
    "missing.unacked.fix": "消费者指标可以用 permit 代替说明；见上文",
    "missing.subscription_type.what": "该订阅的类型：没有指标提供它",
    "missing.subscription_type.fix": "指定 --pulsar-admin URL，统计信息中包含它",
}
