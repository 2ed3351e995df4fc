"""Sentences of ``models/messages/en/doctor.py`` in Simplified Chinese. In: nothing. Out: the same keys and placeholders."""

from __future__ import annotations

SENTENCES = {
    "doctor.note": "ok：正常；warning：判定的证据较少；failed：修复之前没有判定；skipped：无法检查。时间为 UTC。",
    # Configuration.
    "doctor.configuration.file": "{file} 有效",
    "doctor.configuration.no_file": "没有配置文件；使用命令行选项和默认值",
    "doctor.configuration.no_source": "没有可检查的数据源",
    "doctor.configuration.no_source.fix": "加上 --prometheus URL，或在 throttlescope.toml 中加上 [clusters.NAME.prometheus] 表",
    "doctor.configuration.no_admin": "没有 admin API：限流、订阅类型和每条目消息数仍然未知",
    "doctor.configuration.no_admin.fix": "加上 --pulsar-admin URL，或 [clusters.NAME.pulsar_admin]",
    "doctor.configuration.no_path": "{path} 不存在",
    "doctor.configuration.no_path.fix": "改正路径",
    "doctor.configuration.not_verified": "没有校验服务器的证书",
    "doctor.configuration.not_verified.fix": "用 ca_file 指定其签发机构，并去掉 verify = false",
    "doctor.configuration.no_tls": "密钥未经 TLS 发送",
    "doctor.configuration.no_tls.fix": "使用 https:// 地址",
    # Spark.
    "doctor.spark.not_needed": "不启动 Spark：{subscriptions:,} 个订阅分区，{most:,} 个以内在单个进程中计算",
    "doctor.spark.started": "启动 Spark，使用 {found_in} 中的 Java {version}",
    "doctor.spark.named": "在 {master} 上启动 Spark",
    "doctor.spark.no_java": "启动 Spark，需要 Java 17 或更高版本；找到：{got}",
    # This machine.
    "doctor.machine.compiled": "所有函数均已编译，位于 {folder}",
    "doctor.machine.not_compiled": "{folder} 中有 {functions} 个函数尚未编译：首次查询、运行或重放最多会多花一分钟",
    "doctor.machine.not_compiled.fix": "可选：python -m throttlescope.app.services.compile_ahead 可立即编译",
    "doctor.machine.not_kept": "没有可写的缓存文件夹：每个进程都要自行编译，最多一分钟",
    "doctor.machine.not_kept.fix": "将 THROTTLESCOPE_CACHE 设为可写的文件夹",
    # Prometheus: access.
    "doctor.prometheus.reachable": "{url}，版本 {version}",
    "doctor.prometheus.clock": "与本机时钟相差不超过 {seconds} 秒",
    "doctor.prometheus.clock_differs": "其时钟与本机相差 {skew_s:+.0f} 秒",
    "doctor.prometheus.clock_differs.fix": "将两者的时钟同步；-6h 之类的相对时间按本机时钟计算",
    "doctor.prometheus.remote_read": "支持：以流式读取样本，并保留 staleness 标记",
    "doctor.prometheus.remote_read_unused": '没有检查：reader = "api"',
    "doctor.prometheus.no_remote_read": "不支持：样本以 JSON 返回，更慢，且没有 staleness 标记",
    "doctor.prometheus.no_remote_read.fix.auto": "在其前面的代理中放行 POST /api/v1/read",
    "doctor.prometheus.no_remote_read.fix.remote_read": '在其前面的代理中放行 POST /api/v1/read，或设置 reader = "auto"',
    # Prometheus: content.
    "doctor.prometheus.names": "有 {names} 个名称以 pulsar_ 开头",
    "doctor.prometheus.no_names": "没有以 pulsar_ 开头的时间序列",
    "doctor.prometheus.no_names.fix": "抓取 broker 的 Web 端口（8080）上的 /metrics/，或配置抓取它们的那个 Prometheus",
    "doctor.prometheus.topic_level": "{subscriptions:,.0f} 个订阅分区有积压指标",
    "doctor.prometheus.no_samples": "{metric} 已有 5 分钟没有带订阅的样本",
    "doctor.prometheus.no_samples.fix": "检查 broker 的抓取目标是否为 up，主题是否已加载；或改正标签映射",
    "doctor.prometheus.only_sums": "只提供了总和：没有单个订阅的时间序列",
    "doctor.prometheus.only_sums.fix": "在 broker.conf 中设置 exposeTopicLevelMetricsInPrometheus=true，并重启 broker",
    "doctor.missing_metric.backlog": "缺少 {metrics}：没有积压，因此没有判定",
    "doctor.missing_metric.dispatch": "缺少 {metrics}：没有派发速率，因此用量 / 阈值未知",
    "doctor.missing_metric.publish": "缺少 {metrics}：没有发布速率，无法解释积压增长",
    "doctor.missing_metric.acks": "缺少 {metrics}：没有确认速率，只能从派发看到消费",
    "doctor.missing_metric.consumers": "缺少 {metrics}：无法区分 no_consumers 与 slow_consumers",
    "doctor.missing_metric.unacked": "缺少 {metrics}：Shared 订阅的队列占用情况仍然未知",
    "doctor.missing_metric.writes": "缺少 {metrics}：每条目消息数只能来自 admin API",
    "doctor.prometheus.missing_metric.fix": "检查是否有 metric_relabel_configs 将其丢弃",
    "doctor.prometheus.throttle_counters": "存在（Pulsar 4.0.4、4.1.0 或更高版本）",
    "doctor.prometheus.no_throttle_counters": "缺少 {metrics}；broker 的版本：{versions}",
    "doctor.prometheus.no_throttle_counters.fix": "将 broker 升级到 4.0.4、4.1.0 或更高版本；在此之前只有用量 / 阈值能够证明限流器",
    "doctor.prometheus.consumer_level": "提供了消费者的 permit",
    "doctor.prometheus.no_consumer_level": "没有提供消费者的 permit：只有 admin API 统计的样本能显示客户端队列已满",
    "doctor.prometheus.no_consumer_level.fix": (
        "在 broker.conf 中设置 exposeConsumerLevelMetricsInPrometheus=true，并重启 broker（每个消费者增加 9 条时间序列）"
    ),
    "doctor.prometheus.backlog_age": "提供了每个订阅最早消息的时长",
    "doctor.prometheus.no_backlog_age": "没有每个订阅的时长：它默认关闭；从缺失本身看不出是 broker 过旧还是开关未打开",
    "doctor.prometheus.no_backlog_age.fix": (
        "在 broker.conf 中设置 exposeSubscriptionBacklogAgeInPrometheus=true，并重启 broker（Pulsar 4.0.14、4.2.5、5.0 或更高版本），或指"
        "定 admin API，其统计也包含它"
    ),
    "doctor.prometheus.freshness": "最新样本在 {age}前",
    "doctor.prometheus.old.fix": "检查 broker 的抓取目标是否为 up",
    "doctor.prometheus.too_few_samples": "最近 10 分钟内的样本少于两个",
    "doctor.prometheus.scrape_interval": "{interval_s:.0f} 秒",
    "doctor.prometheus.lost_scrapes": "{interval_s:.0f} 秒，{scrapes} 次抓取中有 {lost} 次过迟或丢失",
    "doctor.prometheus.slow_scrapes.fix": "每 15 到 60 秒抓取一次 broker；更慢则看不到短暂的限流和重启",
    "doctor.prometheus.lost_scrapes.fix": "调大 scrape_timeout，或查看 broker 为何没有应答",
    "doctor.labels.both": "两种形式都有：各 broker 的 splitTopicAndPartitionLabelInPrometheus 不一致",
    "doctor.labels.split": "分开：主题在 {topic} 中，分区在 {partition} 中",
    "doctor.labels.joined": "合并：分区是 {topic} 的一部分",
    "doctor.labels.not_partitioned": "主题在 {topic} 中，没有看到分区主题",
    "doctor.labels.namespace": "{label} 中有 {namespaces} 个命名空间",
    "doctor.labels.no_namespace": "内容为 {found}，不是 tenant/namespace",
    "doctor.labels.no_namespace.fix": "在抓取配置中设置 honor_labels: true",
    "doctor.labels.exported_namespace.fix": (
        '在抓取配置中设置 honor_labels: true，或在 [clusters.{cluster}.labels] 中设置 namespace = "exported_namespace"'
    ),
    "doctor.labels.no_cluster": "缺失；用配置的名称 {cluster} 填充",
    "doctor.labels.other_cluster": "内容为 {found}，不是配置的 {cluster}",
    "doctor.labels.other_cluster.fix": "按标签的内容命名 throttlescope.toml 中的表（或 --cluster）",
    "doctor.prometheus.no_duplicates": "没有订阅被重复抓取",
    "doctor.prometheus.duplicates": "有订阅同时有 {most:.0f} 条时间序列",
    "doctor.prometheus.duplicates.fix": "每个 broker 只抓取一次，并给每个集群设置各自的标签；刚迁移的主题最多有 5 分钟会出现两次",
    "doctor.specification.dispatch": "各 broker 派发 {used:,.0f}，规格为 {rate:,.0f} {unit}（{percent:.0f} %）",
    "doctor.specification.publish": "各 broker 接收 {used:,.0f}，规格为 {rate:,.0f} {unit}（{percent:.0f} %）",
    "doctor.prometheus.specification.fix": "提升集群规格或迁走部分负载",
    # Admin API.
    "doctor.admin.reachable": "{urls}，Pulsar {version}",
    "doctor.admin.version": "{version} 有限流计数器",
    "doctor.admin.old_version": "{version} 没有限流计数器",
    "doctor.admin.old_version.fix": "升级到 4.0.4、4.1.0 或更高版本；在此之前只有用量 / 阈值能够证明限流器",
    "doctor.switch.exposeTopicLevelMetricsInPrometheus": "false：没有单个订阅的时间序列",
    "doctor.switch.exposeConsumerLevelMetricsInPrometheus": "false：没有提供消费者的 permit",
    "doctor.switch.exposePreciseBacklogInPrometheus": "false：积压由两个计数器相减得出；可能数小时不准",
    "doctor.switch.metricsBufferResponse": "true：一分钟之内的各次抓取返回相同的值",
    "doctor.switch.topicLevelPoliciesEnabled": "false：限流只能按命名空间和 broker 设置",
    "doctor.switch_fix.exposeTopicLevelMetricsInPrometheus": (
        "在 broker.conf 中设置 exposeTopicLevelMetricsInPrometheus=true，并重启 broker"
    ),
    "doctor.switch_fix.exposeConsumerLevelMetricsInPrometheus": (
        "在 broker.conf 中设置 exposeConsumerLevelMetricsInPrometheus=true，并重启 broker（每个消费者增加 9 条时间序列）"
    ),
    "doctor.switch_fix.exposePreciseBacklogInPrometheus": (
        "在 broker.conf 中设置 exposePreciseBacklogInPrometheus=true，并重启 broker（抓取会变慢）"
    ),
    "doctor.switch_fix.metricsBufferResponse": "在 broker.conf 中设置 metricsBufferResponse=false，并重启 broker",
    "doctor.switch_fix.topicLevelPoliciesEnabled": (
        "如果主题需要各自的限流，在 broker.conf 中设置 topicLevelPoliciesEnabled=true，并重启 broker"
    ),
    "doctor.admin.switches": "broker 的开关没有隐藏任何证据",
    "doctor.admin.caught_up_exempt": "false：已追上的订阅不受限流约束；判定会考虑这一点",
    "doctor.admin.rate_gauges": "每 {seconds} 秒刷新一次（statsUpdateFrequencyInSecs）",
    "doctor.admin.other_cluster": "admin API 给出 {listed}，指标给出 {scraped}",
    "doctor.admin.other_cluster.fix": "检查两个地址是否属于同一个集群；其限流按配置的名称关联",
    "doctor.admin.brokers_listed": "列出 {listed} 个",
    "doctor.admin.brokers": "列出 {listed} 个，抓取的数量相同",
    "doctor.admin.fewer_scraped": "{listed} 个 broker 中抓取了 {scraped} 个",
    "doctor.admin.fewer_scraped.fix": "抓取每个 broker：其余 broker 上的主题没有判定",
    "doctor.admin.more_scraped": "抓取了 {scraped} 个 broker，admin API 列出 {listed} 个",
    "doctor.admin.more_scraped.fix": "检查两个地址是否属于同一个集群，以及是否有两个集群共用一个 cluster 标签",
    "doctor.admin.tenants": "有权列出租户（{tenants}）；没有已知的主题可供进一步检查",
    "doctor.admin.policies": "有权读取 {namespace} 的策略",
    "doctor.admin.no_topic": "从 Prometheus 没有得知任何主题",
    "doctor.admin.topic_stats": "有权读取 {topic}：{subscriptions} 个订阅",
    "doctor.admin.no_counts": "{topic}：应答中没有限流计数",
    "doctor.admin.no_counts.fix": "升级到 4.0.4、4.1.0 或更高版本",
    "doctor.admin.not_allowed.fix": "为该 token 授予读取权限",
}
