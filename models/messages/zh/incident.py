"""Sentences of ``models/messages/en/incident.py`` in Simplified Chinese. In: nothing. Out: the same keys and placeholders."""

from __future__ import annotations

SENTENCES = {
    # The head.
    "incident.as_of.no_verdict": (
        "截至 {at}。数据截至 {until}。所有时间均为 UTC。积压按条目（批次）计，速率按消息或字节计。本报告没有执行任何操作。"
    ),
    "incident.as_of.verdict": (
        "截至 {at}。数据截至 {until}。判定针对 {start} 至 {end} 的窗口。所有时间均为 UTC。积压按条目（批次）计，速率按消息或字节计。本报"
        "告没有执行任何操作。"
    ),
    "incident.link": "在 throttlescope 中查看该订阅和该范围",
    # What.
    "incident.backlog.not_measured": "没有测得 {at} 的积压。",
    "incident.backlog.ready": "积压：{at} 有 {entries}可投递。",
    "incident.backlog.ready_and_growth": "积压：{at} 有 {entries}可投递，窗口内的趋势：每 {length:duration} {growth}。",
    "incident.backlog.end_of_data": "{at}（数据的末尾）",
    "incident.backlog.entry_is_message": "一个条目是一个批次，这里每批一条消息。",
    "incident.backlog.entry_is_batch": "一个条目是一个批次，这里每批约 {messages} 条消息。",
    "incident.backlog.delayed": "另有 {entries}是有意延迟的。",
    "incident.backlog.age": "主题积压中最早的消息已存在 {age:duration}。",
    "incident.newest.backlog": "数据末尾：{at} 有 {entries}可投递。",
    "incident.newest.backlog_and_verdict": "数据末尾：{at} 有 {entries}可投递。最新判定：{cause}。",
    # Since when.
    "incident.since.no_episode": "没有覆盖这一时刻的积压时段。",
    "incident.since.began": "{at}，已持续 {length:duration}（{how}）。",
    "incident.since.began_before": "{at} 或更早，至少已持续 {length:duration}（{how}）。",
    "incident.since.how.change_point": "由积压增长的变化点检测得出",
    "incident.since.how.first_minute": "积压首次高于正常范围的分钟；此前没有明显的变化",
    "incident.since.how.start_of_data": "数据的第一分钟积压就已在增长，所以可能开始得更早",
    "incident.since.drained": "于 {at} 消化完。",
    "incident.since.not_drained": "{at} 时未消化完。",
    "incident.since.no_data": "到其最新样本时未消化完；此后没有数据。",
    "incident.since.normal": "自 {at} 起积压处于正常范围，但时间太短，还不能认为已消化完。",
    "incident.since.peak": "最大：{at} 有 {entries} 个可投递条目。",
    "incident.since.cause": "该原因：始于 {at}，已持续 {length:duration}。",
    "incident.since.cause_before": "该原因：始于 {at} 或更早，至少已持续 {length:duration}。",
    "incident.since.other_causes": "此次积压期间的其他判定：{causes}。",
    # Why, and how sure.
    "incident.why.no_verdict": "未判定：到这一时刻为止，数据湖中没有该订阅的判定。",
    "incident.why.rule": "{answer}规则：{why}。",
    "incident.why.known_bug": "该 broker 版本的已知缺陷：{bug}",
    "incident.why.consumers": "消费者：{consumers}",
    "incident.why.main_cause": "整个积压时段的主要原因：{cause}。",
    "incident.why.main_cause_and_limiter": "整个积压时段的主要原因：{cause}（{limiter}）。",
    "incident.sure.no_verdict": "没有判定。",
    "incident.sure.rules": "{confidence}，规则版本 {rules}。",
    "incident.sure.against": "反面证据：{evidence}",
    "incident.recomputed.same": "用规则版本 {rules} 对相同的分钟重新计算：结果相同。",
    "incident.recomputed.different": "用规则版本 {rules} 对相同的分钟重新计算：{changes:names}。",
    "incident.recomputed.change": "{name}：当时 {then}，现在 {now}",
    "incident.recomputed.repaired": "此后数据湖修复过这些分钟。",
    # The limiter.
    "incident.limiter.set": "{limiter}：{limit}。",
    "incident.limiter.set_by": "{amount}，设置者：{who}",
    "incident.limiter.used": "{limit}，最高用量 {share}",
    "incident.limiter.lifted": "该限流于 {at} 解除。",
    "incident.limiter.not_observed": "{limiter}；没有观察到其阈值大小。",
    "incident.limiter.not_read": "未认定限流器；没有读取限流。",
    "incident.limiter.none_named": "未认定限流器。已设置：{limits}。",
    "incident.limiter.none_limiting": "没有限流器在起限制作用。已设置：{limits}。",
    # Deadlines.
    "incident.deadlines.heading": "截止时间",
    "incident.deadlines.not_computed": "未计算：{why}。",
    "incident.deadlines.not_read": "不知道消息 TTL 或积压配额是否适用：没有读取它们的策略。",
    "incident.deadlines.list": "TTL 和积压配额：{deadlines:names}。",
    "incident.deadlines.unknown": "{name}未知",
    "incident.deadlines.not_set": "{name}未设置",
    "incident.deadlines.set": "{name}为 {value}（{set_by}）",
    "incident.deadlines.drained": "这是报告时刻的预测。积压已于 {at} 消化完。",
    # Do first.
    "incident.first.no_verdict": "先计算判定：throttlescope run --lake DIR。",
    "incident.first.change": "最小改动：{change}",
    "incident.first.gone_in": "改动后积压消化完所需时间：{gone_in}。",
    "incident.first.command": "命令和回滚方法见“需要改什么”。",
    # Missing.
    "incident.missing.evidence": "{what}修复方法：{fix}",
    "incident.missing.minutes": "分钟数据：数据湖中没有该范围的 signals。",
    "incident.missing.limits": "限流：没有从 admin API 读到任何限流。修复方法：为 throttlescope run 指定 --pulsar-admin URL。",
    "incident.missing.cut": "积压时段长于这些文件的范围，文件只包含这一时刻前后的 7 天。",
    "incident.missing.replay": "准确的回放：它与最大积压相差 {share}，因此不建议任何改动。",
    "incident.missing.picture": "图表的图片（plots.png）：{why}。",
    "incident.missing.chromium": "图表的图片（plots.png）：生成报告包的机器上需要 Chromium 和 Playwright。",
    # Parts that could not be computed, and why.
    "incident.not_computed.forecasts": "无法计算预测：{why}。",
    "incident.not_computed.advice": "无法计算反事实推演和建议：{why}。",
    "incident.not_computed.counterfactuals": "无法计算反事实推演：{why}。",
    "incident.not_computed.recommendations": "无法计算建议：{why}。",
    "incident.not_computed.deadlines": "无法计算消息 TTL 和积压配额：{why}。",
    "incident.not_computed.neighbours": "无法计算该限流由谁共享：{why}。",
    "incident.not_computed.consumers": "无法列出各个消费者：{why}。",
    "incident.not_computed.again": "无法用现行规则重新计算判定：{why}。",
    "incident.no_advice.time_limit": "耗时超过 {limit:duration}",
    "incident.no_advice.process_ended": "其进程以代码 {code} 结束",
    "incident.no_advice.no_minute": "此前没有已知的有积压的分钟",
    "incident.no_advice.healthy": "该订阅在这一时刻是健康的",
    # Timeline.
    "incident.timeline.range": "从 {start} 到 {end}。",
    "incident.timeline.minutes_from": "自 {at} 起有分钟数据。",
    "incident.timeline.episode": "原因取自积压时段：只闪现一两个窗口的原因已略去。",
    "incident.event.report": "本报告的时刻。",
    "incident.event.begins": "积压开始增长（{how}）。",
    "incident.event.peak": "积压达到最大值：{entries} 个条目可投递。",
    "incident.event.drained": "积压已消化完：此后正常。",
    "incident.event.mark.gap": "没有测得任何数据：{what}。",
    "incident.event.mark.limit_changed": "限流有改动：{what}。",
    "incident.event.mark.counter_reset": "主题被卸载、其 broker 重启或换了新的派发器：{what}。",
    "incident.event.mark.moved": "主题迁移到了另一个 broker：{what}。",
    "incident.event.expired": "{messages} 条消息因消息 TTL 过期。",
    "incident.event.evicted": "该主题的积压配额淘汰了消息。",
    "incident.event.consumers": "已连接的消费者：之前 {before} 个，此后 {after} 个。",
    "incident.event.more_consumers": "消费者还有 {changes} 次变化：见 signals.csv。",
    # An answer of the admin API that differs from the one before.
    "incident.policy.of.broker_configuration_runtime": "admin API 的应答有变化，broker {named} 的运行时配置：",
    "incident.policy.of.broker_dynamic_configuration": "admin API 的应答有变化，broker {named} 看到的动态配置：",
    "incident.policy.of.broker_version": "admin API 的应答有变化，broker {named} 的版本：",
    "incident.policy.of.namespace": "admin API 的应答有变化，命名空间 {named} 的策略：",
    "incident.policy.of.topic_owner": "admin API 的应答有变化，主题 {named} 的所属 broker：",
    "incident.policy.of.partition_count": "admin API 的应答有变化，主题 {named} 的分区数：",
    "incident.policy.of.other": "admin API 的应答有变化，{named} 的策略 {scope}：",
    "incident.policy.field": "{field} 之前为 {before}，之后为 {after}",
    "incident.policy.whole": "之前为 {before}，之后为 {after}",
    "incident.policy.more_fields": "另有 {count} 个字段不同，见 policies.jsonl",
    "incident.policy.when": "改动发生在 {start} 至 {end} 之间。",
    "incident.policy.unreadable": "无法读取的应答",
    # Plots.
    "incident.plots.caption": (
        "从上到下：判定随时间的变化；积压（条目）；流入、流出和确认的消息及所有已知的限流阈值；字节；限流事件；未确认消息和 permit。各项"
        "仅在有测量时显示。时间为 UTC；虚线是本报告的时刻。"
    ),
    "incident.plots.no_data": "该范围内没有可绘制的数据。",
    # Evidence.
    "incident.evidence.none": "没有判定，因此没有证据。",
    "incident.evidence.window": "窗口 {start} 至 {end}，规则版本 {rules}。最强的在前。",
    "incident.evidence.weight.for": "支持它的证据",
    "incident.evidence.weight.against": "反对它的证据",
    "incident.evidence.weight.neutral": "看到了，但既不支持也不反对",
    "incident.evidence.promql": "在 Prometheus 中查看同样的数据",
    "incident.evidence.promql_hint": "每条查询显示上述某个值在给定时刻的情况。",
    "incident.evidence.naive_agrees": (
        "朴素规则（可投递积压超过 1000 个条目：只要有限流事件就归因于限流，否则归因于消费者）的结论相同：{side}。"
    ),
    "incident.evidence.naive_differs": (
        "朴素规则（可投递积压超过 1000 个条目：只要有限流事件就归因于限流，否则归因于消费者）的结论不同：{side}。"
    ),
    "incident.evidence.contributing": "次要原因：{cause}（置信度 {confidence}）：{why}。",
    # Limits, and who uses them.
    "incident.limits.not_read": (
        "未读取：数据湖中没有来自 admin API 的该订阅的限流。修复方法：为 throttlescope run 指定 --pulsar-admin URL。"
    ),
    "incident.limits.most_use": "该范围内的最高用量 / 阈值",
    "incident.limits.lifted": "{amount}；于 {at} 解除",
    "incident.limits.changed": "{amount}；在该范围内有改动",
    "incident.limits.none_set": "未设置限流：{limits:names}。",
    "incident.limits.unobserved": "未观察到：{limits:names}。",
    "incident.limits.observed_later": "限流是在其中部分分钟之后才首次读取的；这些分钟按首次读到的值处理。",
    "incident.users.heading": "该限流由谁共享",
    "incident.users.shared": "{limiter}是共享的。在该窗口中有 {count} 个订阅使用了它。",
    "incident.users.share": "占全部用量的比例",
    "incident.more_rows": "另有 {count} 个。",
    # Counterfactuals.
    "incident.counterfactuals.heading": "如果去掉某个原因会怎样",
    "incident.counterfactuals.replay": (
        "用 Pulsar 限流器的模拟器回放 {at} 之前的 {window_s:duration}，然后从 {entries} 个条目开始继续 {length:duration}，每次去掉一个原因。{primary}"
    ),
    "incident.counterfactuals.backlog": "{length:duration}后的积压（条目）",
    "incident.counterfactuals.gain": "减少量（条目）",
    # Forecasts.
    "incident.forecasts.none": "无：没有需要预测的积压。",
    "incident.forecasts.made": "根据 {at} 已知的数据作出。概率：对于消化，是此类预测最终消化完的比例；对于截止时间，是它早于消化完的概率。",
    "incident.forecasts.state.never": "按当前速率不会",
    "incident.forecasts.state.unknown": "尚无趋势",
    "incident.forecasts.kind.drain": "积压消化完",
    "incident.forecasts.kind.ttl": "消息 TTL",
    "incident.forecasts.kind.quota_size": "按大小的积压配额",
    "incident.forecasts.kind.quota_age": "按时长的积压配额",
    # What to change.
    "incident.changes.hint": "能让积压在 {target:duration}内消化完的最小改动，最佳的在前。没有执行：throttlescope 从不改动集群。",
    "incident.changes.not_helping": "哪些改动没有帮助",
    # Other partitions, and the files.
    "incident.partitions.hint": "本报告针对分区 {partition}，即积压最大的分区。要查看其他分区，请选择 topic-partition-N#subscription。",
    "incident.files.page": "本页面，图表可缩放；需要浏览器，不需要网络。",
    "incident.files.picture": "同样的图表，图片格式。",
    "incident.files.verdicts": "每个窗口的判定及其依据。",
    "incident.files.signals": "每分钟一行；其中 minute 列为 UTC。",
    "incident.files.limits": "解析得出的限流，以及它们所依据的 admin API 应答，不含密钥。",
    "incident.files.commands": "供逐行复制；其中没有任何内容会自动运行。",
    "incident.files.manifest": "版本、范围以及每个文件的 SHA-256。",
    # Comments in the file of queries.
    "incident.queries.head": (
        "# PromQL，一条查询接一条查询。没有写 cluster 标签：您的 Prometheus 可能用别的名称。\n# 范围：{start} 至 {end}。"
    ),
    "incident.queries.query.backlog": "可投递的积压，条目",
    "incident.queries.query.flow": "发布减派发，每秒消息数",
    "incident.queries.query.events": "5 分钟内各限流器的限流事件",
    "incident.queries.check": "用来查看改动是否有效",
    # Comments in the file of commands.
    "incident.commands.of": "订阅 {subscription}，集群 {cluster}，截至 {at}。",
    "incident.commands.executed": "没有执行任何操作：每一行都是注释。请先阅读并选择，再运行。",
    "incident.commands.invisible": "名称中含有不可见字符；这里以转义形式显示，使用时必须换回真实的字符。",
    "incident.commands.none": "改动：没有建议，{why}。",
    "incident.commands.roll_back": "回滚命令：",
}
