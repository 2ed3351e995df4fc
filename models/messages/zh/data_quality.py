"""Sentences of ``models/messages/en/data_quality.py`` in Simplified Chinese. In: nothing. Out: the same keys and placeholders."""

from __future__ import annotations

SENTENCES = {
    "data_quality.title": "数据质量与运行",
    "data_quality.search": "搜索订阅、主题、集群",
    "data_quality.search.label": "搜索要打开其判定的订阅",
    "data_quality.parts": "本页各部分",
    # Runs.
    "data_quality.no_run": "尚无运行。",
    "data_quality.no_run.manifest": "数据湖 {lake} 中没有运行清单。",
    "data_quality.no_run.start": (
        "每次运行都会写一份：throttlescope run --prometheus URL --pulsar-admin URL --lake DIR，或 throttlescope demo。"
    ),
    "data_quality.runs.note": "最新的在前；点击时间可打开该次运行",
    "data_quality.runs.samples": "样本（新的 / 收到的）",
    "data_quality.runs.requests": "{source} 个发往数据源，{admin} 个发往 admin API",
    "data_quality.runs.not_checked": "没有做任何检查",
    "data_quality.unknown_run": "没有这次运行。",
    "data_quality.unknown_run.why": "数据湖中没有名为 {run} 的运行。可能是从另一个数据湖的链接打开的。",
    "data_quality.run.source_requests": "发往数据源的请求",
    "data_quality.run.admin_requests": "admin API 调用",
    "data_quality.run.gates": "门禁的发现",
    "data_quality.run.refused": "拒绝的内容",
    "data_quality.run.details": "详情：数据源、修复或保留的内容、版本、设置",
    "data_quality.run.details_unreadable": "无法读取详情：{details}",
    "data_quality.run.no_details": "没有存储详情。",
    # Gates.
    "data_quality.not_checked": "没有门禁做过任何检查。",
    "data_quality.not_checked.run": "没有门禁检查过运行 {run} 的任何内容。",
    "data_quality.not_checked.why": (
        "门禁在用数据进行任何计算之前检查运行所读取的内容。更早失败的运行没有发现，而 throttlescope run --follow 不经门禁判定。"
    ),
    "data_quality.gates.counts": "{passed} 项通过，警告：{warnings}，错误：{errors}。",
    "data_quality.gates.counts_run": "{passed} 项通过，警告：{warnings}，错误：{errors}，属于运行 {run}。",
    "data_quality.gates.passed": "✓ 所有检查均通过。",
    "data_quality.gates.all_runs": "所有运行的发现",
    "data_quality.gates.note": "错误会在进行任何计算之前停止运行；有警告时运行继续，并列入判定的证据",
    # Refused rows.
    "data_quality.refused.none": "没有拒绝任何内容。",
    "data_quality.refused.none_run": "运行 {run} 没有拒绝任何内容。",
    "data_quality.refused.none.why": "各次运行读取的每一行都有效。被拒绝的行会完整存储，并附上原因。",
    "data_quality.refused.all": "全部被拒绝的内容",
    "data_quality.refused.lost": "随之丢失的行",
    "data_quality.refused.unknown_reason": "本版本不认识的原因",
    "data_quality.refused.repair": (
        "被拒绝的行可以修复并重新校验：throttlescope quarantine readmit。请在数据源处修正问题；下次运行会替换它读取的内容。{command} "
        "{copy}"
    ),
    "data_quality.refused.counts.note": "行被拒绝不会使其运行失败",
    "data_quality.refused.none_for_reason": "没有行因该原因被拒绝。",
    "data_quality.refused.selected": "已选择：{reason}。",
    "data_quality.refused.title": "被拒绝的行：{reason}",
    "data_quality.refused.note": "最新的在前",
    "data_quality.refused.note_run": "最新的在前；由运行 {run} 拒绝",
    # Freshness.
    "data_quality.no_data": "尚无数据。",
    "data_quality.no_data.why": "数据湖中没有任何集群的分钟数据或判定。",
    "data_quality.freshness.recordings": "这些是录制数据：时间为录制时的时间，不是今天的。",
    "data_quality.freshness.more": "另有 {clusters} 个分钟数据更新的集群没有列出。",
    "data_quality.freshness.title": "各集群、各表的最新行",
    "data_quality.freshness.note": "全部中最新的：{newest}；括号内为落后于该集群分钟数据的时间",
    # Blind spots.
    "data_quality.blind.title": "不作判定的内容",
    "data_quality.blind.note": "以及本数据湖看到了其中多少",
    "data_quality.blind.cost": "缺少抓取、限流阈值或消费者指标会损失多少准确度，已有测量：{less}。",
    "data_quality.blind.cost.less": "证据较少时",
    "data_quality.old_brokers": "4.0.4 之前的 broker",
    "data_quality.old_brokers.seen": "本数据湖中：版本已知的 {known} 个 broker 里有 {old} 个。",
    "data_quality.old_brokers.seen_one_unknown": "本数据湖中：版本已知的 {known} 个 broker 里有 {old} 个；另有 1 个集群版本未知。",
    "data_quality.old_brokers.seen_unknown": "本数据湖中：版本已知的 {known} 个 broker 里有 {old} 个；另有 {clusters} 个集群版本未知。",
    "data_quality.old_brokers.means": (
        "它们没有限流计数器（pulsar_subscription_dispatch_throttled_*；4.1 系列自 4.1.0 起提供）。此时只有用量 / 阈值能显示限流器，没有限"
        "流阈值就无法确定。对这类 broker，判定能认定的原因较少，并会说明缺少什么。"
    ),
    "data_quality.non_persistent": "非持久化主题",
    "data_quality.non_persistent.seen": "本数据湖中：看到 {topics} 个。",
    "data_quality.non_persistent.seen_judged": "本数据湖中：看到 {topics} 个，其中仍有 {judged} 个订阅作了判定。",
    "data_quality.non_persistent.means": "它们不保留积压：消费者来不及接收的会被丢弃。不读取它们的限流，对它们的判定也不涵盖被丢弃的消息。",
    "data_quality.replicators": "复制器",
    "data_quality.replicators.seen": "本数据湖中：看到 {series} 条时间序列。",
    "data_quality.replicators.not_read": (
        "本数据湖中：没有它们的时间序列。要么没有复制，要么 broker 没有提供（replicationMetricsEnabled）。"
    ),
    "data_quality.replicators.means": (
        "复制器与订阅一样，按自己的积压和自己的限流判定。它是否受远端集群的发布限流或通往远端的慢链路所限，只有当数据湖中也有远端集群的指"
        "标时才能知道。"
    ),
    "data_quality.not_loaded": "没有加载的主题",
    "data_quality.not_loaded.seen": "本数据湖中：{judged} 个已判定的订阅里，有 {gone} 个的最新判定比其集群的最新判定早 {age} 以上。",
    "data_quality.not_loaded.means": (
        "broker 只提供它已加载的内容。已卸载主题的积压会在看不见的情况下增长，直到有客户端连接：它完全没有时间序列，如果没有运行看到过它，"
        "就从未有过。这里统计的是曾经看到、后来结束、被卸载或被过滤掉的。"
    ),
    "data_quality.own_topics": "Pulsar 自身的主题",
    "data_quality.own_topics.seen": "本数据湖中：看到 {subscriptions} 个订阅。",
    "data_quality.own_topics.means": (
        "在 __change_events 等主题上或为 __compaction 等待的内容不算故障：它们的判定为健康，不读取它们的限流，表格也不列出它们。{show}"
    ),
    "data_quality.own_topics.show": "显示它们",
    "data_quality.versions.note": "以 admin API 或 pulsar_version_info 最近一次报告为准",
    # A past verdict.
    "data_quality.choose": "哪个订阅？",
    "data_quality.choose.none": "没有订阅符合这些词。",
    "data_quality.choose.note": "{total} 个中的 {shown} 个",
    "data_quality.choose.note_more": "{total} 个中的 {shown} 个：搜索可查看其他订阅",
    "data_quality.windows.none": "没有存储该订阅的判定。",
    "data_quality.windows.none_then": "{at} 前后数小时内没有存储该订阅的判定。",
    "data_quality.windows.none.why": "当时没有判定它，或者那一小时后来以别的窗口重新判定过。",
    "data_quality.windows.newest": "其最新的窗口",
    "data_quality.windows.note": "这里有 {windows} 个；由规则版本 {rules:names} 判定",
    "data_quality.windows.note_newest": "最新的 {windows} 个；由规则版本 {rules:names} 判定",
    "data_quality.windows.note_nearest": "最接近的 {windows} 个；由规则版本 {rules:names} 判定",
    "data_quality.reopened.title": "当时与现在",
    "data_quality.reopened.rule": "认定它的规则",
    "data_quality.reopened.same": "现行规则对相同的分钟给出相同的判定。",
    "data_quality.reopened.same_newer": "现行规则更新，对相同的分钟给出相同的判定。",
    "data_quality.reopened.differs": "现行规则对相同的分钟给出不同的判定：{differences:names}。",
    "data_quality.reopened.written": "写于 {at}，依据分钟数据的版本 {version}。",
    "data_quality.reopened.repaired": "此后修复过这些分钟；两列都按当时的数据判定。",
    "data_quality.reopened.evidence_then": "当时存储的证据",
    "data_quality.reopened.evidence_today": "现行规则看到的内容",
    "data_quality.minutes.title": "它看到的分钟",
    "data_quality.minutes.none": "无：该窗口没有抓取到任何内容。",
    "data_quality.minutes.use": "{limiter}的用量",
    "data_quality.minutes.note": "当时的 {rows} 行 signals，{range}；in 和 out 是该分钟的消息数，no permits 是占消费者样本的比例",
    "data_quality.windows.rules": "规则 {version}",
    "data_quality.run.entries": "{number} 项",
}
