"""Sentences of ``models/messages/en/pipeline.py`` in Simplified Chinese. In: nothing. Out: the same keys and placeholders."""

from __future__ import annotations

SENTENCES = {
    # Steps.
    "pipeline.step.chunks": "正在规划分段",
    "pipeline.starting_spark": "正在启动 Spark",
    "pipeline.step.anomalies": "正在与前几周对比",
    "pipeline.step.history": "正在加入由模拟器生成的合成历史数据",
    "pipeline.step.whole_range": "整个范围的积压时段和异常",
    "pipeline.no_samples": "该范围内没有样本",
    "pipeline.no_samples.gap": "该范围内没有样本；已记录一处空缺",
    "pipeline.samples.all_new": "{series} 条时间序列的 {samples} 个样本",
    "pipeline.samples.some_new": "{series} 条时间序列的 {samples} 个样本，其中 {new} 个是新的",
    "pipeline.samples.shared_all_new": "{series} 条时间序列的 {samples} 个样本；已重新读取，因为 {other} 正在读取同样的数据",
    "pipeline.samples.shared_some_new": (
        "{series} 条时间序列的 {samples} 个样本，其中 {new} 个是新的；已重新读取，因为 {other} 正在读取同样的数据"
    ),
    "pipeline.commit_conflict": "另一次运行写入了相同的小时；正在重新计划",
    "pipeline.anomalies": "{anomalies} 个异常",
    "pipeline.anomalies.no_history": "{anomalies} 个异常，{series} 条时间序列的历史数据不够（需要两周）",
    "pipeline.anomalies.no_history_until": "{anomalies} 个异常，{series} 条时间序列在 {until} 之前历史数据不够",
    "pipeline.admin.unanswered": "{failures} 个请求没有应答，例如 {subject} 的 {scope}：{reason}",
    "pipeline.admin.expected": "每个请求都有应答；没有应答时，相关的限流未知",
    # Following.
    "pipeline.follow.away": "{source} 没有应答，{wait_s:.0f} 秒后再次尝试：{error}",
    "pipeline.follow.back": "{source} 在 {away_s:.0f} 秒后恢复应答；现在读取错过的数据",
    "pipeline.follow.conflict": "{source}：{error}；{wait_s:.0f} 秒后再次尝试",
    "pipeline.follow.ended": "{cycles} 个周期后结束；读取的数据都已写入数据湖",
    "pipeline.follow.no_backlog": "尚未看到积压",
    "pipeline.follow.limits.away": "暂时无法读取限流，继续使用已知的限流：{error}",
    "pipeline.follow.limits.back": "限流已恢复读取",
    "pipeline.follow.stats.away": "暂时无法读取主题统计：{error}",
    "pipeline.follow.stats.back": "主题统计已恢复读取",
    # A backfill's plan.
    "pipeline.plan.nothing": "所有分块都已在数据湖中；没有需要读取的。",
    "pipeline.plan.chunks": (
        "需要读取 {chunks} 个分块中的 {left} 个，最早的在前，从 {start} 起：约 {samples:,} 个样本，{requests:,} 个请求。"
    ),
    "pipeline.plan.bytes": "约读取 {read_mb:,.1f} MB，存储 {stored_mb:,.1f} MB，按以往每个样本的读取量估算。",
    "pipeline.plan.bytes_unknown": "字节数未知：该数据湖中还没有读入过任何数据。",
}
