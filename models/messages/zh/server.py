"""Sentences of ``models/messages/en/server.py`` in Simplified Chinese. In: nothing. Out: the same keys and placeholders."""

from __future__ import annotations

SENTENCES = {
    # Help of metrics, by name.
    "server.metric.throttlescope_limits_observed_timestamp_seconds": "最近一次从 admin API 读取集群限流的时间",
    "server.metric.throttlescope_verdict": "1：该订阅积压的原因，或 healthy（最新判定）",
    "server.metric.throttlescope_verdict_confidence": "原因正确的概率，0 到 1",
    "server.metric.throttlescope_verdict_timestamp_seconds": "最新判定的窗口结束时间",
    "server.metric.throttlescope_backlog_consumers_could_drain_entries": (
        "增加消费者能够消化的可投递积压；如果限流器在起限制作用或原因未知，则为 0"
    ),
    "server.metric.throttlescope_verdicts_newest_timestamp_seconds": "集群中有判定的最新窗口的结束时间，无论多旧",
    "server.metric.throttlescope_run_last_end_timestamp_seconds": "命令最近一次运行的结束时间，按结果",
    "server.metric.throttlescope_runs_of_a_day": "最近 24 小时内结束的运行，按结果",
    "server.metric.throttlescope_run_last_duration_seconds": "最近一次成功运行的时长",
    "server.metric.throttlescope_run_last_samples_written": "最近一次成功运行提交的样本",
    "server.metric.throttlescope_run_last_quarantined_rows": "最近一次成功运行拒绝的行",
    "server.metric.throttlescope_samples_newest_timestamp_seconds": "数据湖中集群最新样本的时间",
    "server.metric.throttlescope_watermark_timestamp_seconds": "集群的样本已全部读取到的时间（*：含多个集群的数据源）",
    "server.metric.throttlescope_gaps_open": "数据源中没有样本、将再次请求的空缺",
    "server.metric.throttlescope_quarantined_rows": "隔离区中的行：被拒绝且未重新接纳的样本或行",
    "server.metric.throttlescope_quality_failed_checks": "七天之内，各门禁最近一次运行中未通过的检查",
    "server.metric.throttlescope_metrics_source_up": "1：该数据源的表可以读取",
    "server.metric.throttlescope_metrics_left_out_series": "因单次抓取过大而略去的时间序列",
    "server.metric.throttlescope_metrics_collected_seconds": "读取本次抓取的数据所用的时间",
    "server.metric.throttlescope_build_info": "throttlescope 的版本",
    # Refusals.
    "server.refused.wrong_password": "用户名未知或密码错误。",
    "server.refused.not_the_proxy": "该服务器只接受来自其代理的请求。",
    "server.refused.no_user": "代理必须在 {header} 中指明恰好一个用户。",
    "server.refused.unknown_host": "该服务器不响应此主机名的请求。如需允许某个主机名，请使用 --external-host NAME 启动。",
    "server.refused.too_large": "请求过大：正文超过 {bytes} 字节（{mebibytes} MiB）。",
    "server.refused.no_callback": "该请求不是本服务器的页面所发送的请求。",
    "server.refused.no_file": "没有这个文件。",
    # A downloaded notebook: its heading, and comments of its cells.
    "server.notebook.subscription": "一个订阅的积压",
    "server.notebook.subscription_range": "范围 {start} 至 {end}，不含末尾。时间为 UTC，积压按条目（批次）计。",
    "server.notebook.query": "对数据湖的 PromQL 查询",
    "server.notebook.query_range": "范围 {start} 至 {end}，每 {step:g} 秒。时间为 UTC。",
    "server.notebook.lake": "throttlescope run --lake 和 serve --lake 所指定的目录或 s3:// URI",
    "server.notebook.rows": "各行，以 Spark DataFrame 形式：其中第一个单元会启动 Spark。",
}
