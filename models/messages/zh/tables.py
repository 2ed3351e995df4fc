"""Sentences of ``models/messages/en/tables.py`` in Simplified Chinese. In: nothing. Out: the same keys and placeholders."""

from __future__ import annotations

SENTENCES = {
    "tables.utc": "时间为 UTC。",
    "tables.more_in_json": "另有 {more} 个积压更小的：--format json 给出全部。",
    "tables.sql.left_out": "另有 {rows}：--format json 或 csv 会给出全部。",
    # How fresh the data is.
    "tables.freshness.none": "尚无数据。",
    "tables.freshness.until": "数据截至 {newest} UTC。时间为 UTC。",
    "tables.freshness.age": "数据截至 {newest} UTC（{age}前）。时间为 UTC。",
    "tables.freshness.ahead": "数据截至 {newest} UTC（晚于本机时钟）。时间为 UTC。",
    # A run.
    "tables.run.idle": "空闲时段：数据湖中没有 {start} 至 {end}（UTC）的样本；没有做任何计算。",
    "tables.run.note": "时间为 UTC；对 Prometheus 按完整的 UTC 小时读取，截止到当前时间。",
    "tables.run.warning": "质量门禁有 1 个警告：throttlescope quality --lake {lake}",
    "tables.run.warnings": "质量门禁有 {warnings} 个警告：throttlescope quality --lake {lake}",
    "tables.run.verdicts": "按原因统计的判定（窗口数）：{causes}。",
    "tables.run.results": "按状态统计的积压时段：{episodes}；{incidents} 个共同故障，{forecasts} 个预测，{anomalies}。",
    "tables.run.next": "下一步：throttlescope verdicts --lake {lake}，或 throttlescope serve --lake {lake}",
    # A run in chunks.
    "tables.backfill.done": "{start} 至 {end}（UTC）：{chunks}，用时 {took}。",
    "tables.backfill.idle": "{chunks}，其中 {idle} 个没有样本",
    "tables.backfill.samples": "{samples} 个样本（其中 {written} 个是新的），{requests} 个请求，{mb:,.1f} MB。",
    "tables.backfill.hours": "已计算的小时：{hours}。",
    "tables.backfill.chunk": "一个分块用时中位数为 {median_s:.1f} 秒，最长 {longest_s:.1f} 秒。",
    "tables.backfill.also": "还诊断了此前没有运行诊断过的：{spans}。",
    "tables.backfill.also_left": "还诊断了此前没有运行诊断过的：{spans}；另有 {hours}留给下次运行。",
    "tables.backfill.plan": "将要读取的内容，最早的在前",
    "tables.backfill.plan.note": "估计值：时间序列数取自数据源在整个范围的几个时刻的统计。没有读取任何数据。",
    # Changes of limits.
    "tables.changes.title": "生效的限流有 {changes}",
    "tables.changes.note": (
        "seen：第一个带有新阈值的 admin API 应答；改动发生在上一个应答之后的某个时间。用量/阈值、限流事件、结束时的可投递积压、其多数时间"
        "的变化速度（条目/s）、发布的消息和原因：改动前 -> 改动后，各最多 15 分钟。仅凭事件不能证明什么：没有积压的订阅可能有更多事件。"
    ),
    "tables.changes.note_assumed": (
        "seen：第一个带有新阈值的 admin API 应答；改动发生在上一个应答之后的某个时间。用量/阈值、限流事件、结束时的可投递积压、其多数时间"
        "的变化速度（条目/s）、发布的消息和原因：改动前 -> 改动后，各最多 15 分钟。仅凭事件不能证明什么：没有积压的订阅可能有更多事件。~："
        "没有应答说明这些分钟的限流仍然相同。"
    ),
    "tables.changes.none": "限流由 admin API 的前后应答对比得出：数据湖至少需要两次带 --pulsar-admin 的运行。",
    # Limits of a scalable topic, which count in each segment.
    "tables.now.per_segment": "{level}限流：每个分段 {limit}，共 {segments} 个分段。",
    "tables.now.no_limit_per_segment": "没有读到主题或订阅的限流，共 {segments} 个分段。如果设置，它会在每个分段中分别计算。",
    # Consumers and partitions.
    "tables.consumers.title": "{subscription}，{start} 至 {end} UTC。{summary}",
    "tables.consumers.note": "slow：broker 在等待它，而它的处理量不到最快者的一半；no permits：其 permit 已用尽的样本所占的比例。",
    "tables.consumers.note_more": (
        "slow：broker 在等待它，而它的处理量不到最快者的一半；no permits：其 permit 已用尽的样本所占的比例。另有 {more} 个。"
    ),
    "tables.partitions.note": "worst：在每个分区的最新窗口中，不健康的分区里可投递积压最大的。{freshness}",
    # Verdicts.
    "tables.verdicts.summary_note": "cause：该范围内的主要原因；confidence：其平均值；backlog：该范围内的最大值，按可投递条目（批次）计；duration：它作为原因的时长；now：最新窗口的原因及其限流器。",
    "tables.verdicts.left_out": "略去：Pulsar 自身的 {hidden} 个健康订阅。",
    "tables.verdicts.window_note": "backlog：窗口结束时的可投递条目（批次）；duration：该原因不间断地持续了多久。",
    "tables.verdicts.naive": "朴素规则：可投递积压 > 1000 时，只要有限流事件就是 throttle，没有就是 consumer_capacity。",
    "tables.verdicts.demo": "在真实 broker 上录制：{recorded}。由模拟器生成，用于需要数周数据的功能：{synthetic}。",
    "tables.verdicts.demo_next": "下一步：{program} serve --lake {lake}",
    # A diagnosis now.
    "tables.now.no_window": "它还没有完整的窗口：没有判定。",
    "tables.now.healthy": "健康：{subscriptions}。",
    "tables.now.healthy_more": "健康：{subscriptions}，另有 {more} 个。",
    "tables.now.window": "{start} 至 {end} UTC；可投递积压 {backlog} 个条目；朴素规则的结论为 {naive}",
    "tables.now.window_grown": "{start} 至 {end} UTC；可投递积压 {backlog} 个条目，窗口内 {grown}；朴素规则的结论为 {naive}",
    "tables.now.basis": (
        "{freshness}{series} 条时间序列的 {samples} 个样本，{requests} 个请求，{admin_requests} 次 admin API 调用，{took_s:.1f} 秒。规则"
        "版本 {rules}。"
    ),
    # A past verdict.
    "tables.reopen.title": "{subscription}，{start} 至 {end}",
    "tables.reopen.written": "写于 {written}，依据 signals 的版本 {version}。",
    "tables.reopen.repaired": "写于 {written}，依据 signals 的版本 {version}。此后修复过这些分钟；两列都使用当时的分钟数据。",
    "tables.reopen.same": "判定相同。",
    "tables.reopen.different": "不同之处：{names}。",
    "tables.reopen.note": "in、out：该分钟的消息数；no permits：占消费者样本的比例；rho：用量 / 阈值。{freshness}",
    # Anomalies.
    "tables.anomalies.note": (
        "usual：前几周中每周同一小时的值，取最严重的那一分钟。score：偏差累计值与引发告警的累计值之比。learned：它已成为新的水平。"
    ),
    "tables.anomalies.basis": "{freshness}星期按 {zones} 计算。方法版本 {versions}。",
    "tables.anomalies.learning": "学习中：{series}，第一个到 {until} UTC 为止。",
    "tables.anomalies.learning_open": "学习中：{series}，尚无一整天的样本。",
    "tables.anomalies.late_signals": "{signals}个后来才到达的信号",
    # Forecasts.
    "tables.forecast.none": "没有需要预测的积压",
    "tables.forecast.note": (
        "when：从作出预测的时间算起，按此速率。probability：对于消化，是此类预测最终消化完的比例；对于截止时间，是它早于消化完的概率。"
    ),
    "tables.back_test.title": "从 {start} 至 {end} UTC 对消化的预测，每 {every} 一次",
    "tables.back_test.title_stored": "从 {start} 至 {end} UTC 对消化的预测，以存储的为准",
    "tables.back_test.counts": (
        "共 {made:,} 次：{expected:,} 次给出时间，{never:,} 次认为按此速率不会消化完，{unknown:,} 次没有可依据的趋势。认为不会的当中，"
        "{drained:,} 次在看到任何变化之前就消化完了。"
    ),
    "tables.back_test.intervals": (
        "Wilson：按预测相互独立计算；over clusters：以整个集群重新抽样。Kaplan-Meier 计入先遇到变化或历史末尾的预测；其前面的比例不含它们。"
    ),
    "tables.back_test.losses": "{losses:,} 次预测因 TTL 丢失，已有结果的 {decided:,} 次中有 {inside:,} 次落在其区间内。",
    "tables.back_test.calibrated": (
        "有 {clusters} 个集群是用来得出区间的录制数据：它们的数值不能证明什么。docs/accuracy/forecasts.md 评判每一份时不使用它自己。"
    ),
    # PromQL.
    "tables.promql.at": "{expression}，{time}",
    "tables.promql.range": "{expression}，从 {start} 至 {end}，每 {step_s:g} 秒",
    "tables.promql.shared": "每条时间序列：{labels}",
    "tables.promql.left_out": "另有 {lines} 行未显示；--format csv 或 json 给出全部。",
    "tables.promql.empty": "当时没有时间序列有值",
    "tables.promql.evaluated": "求值时间为 {newest}，即数据湖最新样本的时间。",
    "tables.promql.range_ends": "范围结束于 {newest}，即数据湖最新样本的时间。",
    # Rules.
    "tables.rules.accepted": "{fault}；Prometheus 会加载它",
    "tables.rules.good": "{files} 个文件中有 {good} 个正确",
    "tables.rules.written": "已写出 {files} 个文件",
    "tables.rules.evaluated": "{rules} 条规则，{start} 至 {end} UTC",
    "tables.rules.failed": "{rule} 首次失败于 {error}",
    # The quarantine.
    "tables.quarantine.note": "时间为 UTC。throttlescope quarantine show ID 输出完整的一行。",
    "tables.quarantine.readmitted": "重新接纳 {rows}，含 {samples} 个新的样本或行；运行 {run}。",
    "tables.quarantine.recompute": "重新计算由它们得出的内容：{command}",
    # The lake.
    "tables.lake.samples": "samples：{samples} 个，每个 {bytes:.2f} 字节。",
    "tables.lake.samples_counted": "samples：{samples} 个，每个 {bytes:.2f} 字节，统计自 {files} 个文件。",
    "tables.lake.title": "{lake}：{tables} 个表，{size}",
    "tables.lake.history": "{table}：最新的 {versions} 个版本",
    "tables.lake.no_faults": "{lake}：日志中的每个文件都存在、未改变，并与其表的契约和日志一致。",
    "tables.lake.no_faults_quick": "{lake}：日志中的每个文件都存在。",
    "tables.lake.faults.note": "throttlescope lake repair 会重新读取数据源仍有的内容；或者从副本恢复该目录。",
    "tables.lake.nothing_to_compact": "没有需要合并的小文件。",
    "tables.lake.compactable": "需要合并的文件",
    "tables.lake.hours_left": "留给其他运行的小时",
    "tables.lake.would_compact": "将会合并",
    "tables.lake.nothing_old": "没有那么旧的行。",
    "tables.lake.expired.note": "throttlescope lake vacuum 会删除它们的文件。",
    "tables.lake.nothing_changed": "没有任何改动；加上 --yes 才会执行。",
    "tables.lake.vacuumed": "未被引用的文件",
    "tables.lake.nothing_to_vacuum": "没有未被引用的文件。",
    "tables.lake.deleted": "已删除 {files} 个文件，{size}；已从日志移除 {commits} 次提交。",
    # A repair of the lake.
    "tables.repair.nothing": "{lake}：没有需要修复的内容。",
    "tables.repair.read": "从数据源重新读取",
    "tables.repair.computed": "重新计算",
    "tables.repair.gone": "不处理：无法重新读取",
    "tables.repair.damaged": "{lake}：损坏的文件",
    "tables.repair.log": "{table} 的日志。",
    "tables.repair.nothing_changed": "没有任何改动；加上 --yes 和数据源才会执行。",
    "tables.repair.short": "数据源已没有这些行",
    "tables.repair.short.row": "已恢复 {rows} 行",
    "tables.repair.left": "这些行无法恢复；--forget 会移除它们",
    "tables.repair.forgotten": "已永久移除",
    "tables.repair.whole": "{lake}：已恢复 {files}；数据湖完好。",
    "tables.repair.not_whole": "{lake}：已恢复 {files}；仍有部分损坏。",
    # Recordings and reports.
    "tables.recordings.note": "每一份是以自己名称命名的集群。时间为 UTC。",
    "tables.incident.about": "{path}：{subscription}，{verdict}，截至 {time}。",
    "tables.incident.size": "{files} 个文件，{bytes:,} 字节。请先阅读 README.md 或 incident.html。时间为 UTC。",
    "tables.incident.left_out": "略去：{reason}",
    # Users of the web app.
    "tables.users.added": "已在 {file} 中添加 {name}。",
    "tables.users.changed": "已修改 {file} 中 {name} 的密码。",
    "tables.users.removed": "已从 {file} 中移除 {name}。",
    # A Spark cluster.
    "tables.spark.package": "{path}：{mb:.0f} MB，解压后 {unpacked_mb:.0f} MB，Python {python}",
    "tables.spark.executors": "同时 {tasks} 个任务，启动用时 {seconds} 秒",
    "tables.spark.executor": "{host}，进程 {process}：Python {python}，{folder} 中的 throttlescope {version}",
    # A simulation.
    "tables.simulation.title": "{scenario}：模拟 {seconds:g} 秒，限流引擎 {engine}，Pulsar {version}，种子 {seed}",
    "tables.simulation.partition": "{subscription}，{type}：平均派发 {msg_per_s:,.1f} msg/s",
    "tables.simulation.no_step": "没有改动",
    "tables.simulation.note": (
        "秒数从开始算起，drained after 从该状态开始算起。积压不超过一秒的发布量或该状态峰值的 {share} 时，即视为消化完。"
    ),
    "tables.simulation.rest": "没有一行涵盖最后 {seconds:g} 秒。",
    "tables.tdmq.title": "{scenario}：TDMQ 的 {throttle} 限流，模拟 {seconds} 秒，种子 {seed}",
    "tables.tdmq.note": "秒数从运行开始算起。对于消费，一个请求是一条消息，processed 表示已推送。",
    "tables.tdmq.later": "略去了后面的 {windows:,} 个窗口：--format csv 给出全部。",
    "tables.tdmq.quiet": "略去了没有任何动静的 {windows:,} 个窗口。",
    "tables.tdmq.after_close": "其中关闭之后的",
    # An age objective.
    "tables.slo.title": "{subscription}，{span}，至 {end}：平均发布 {published} msg/s，有消息等待时派发 {dispatched} msg/s",
    "tables.slo.age": "最早消息的时长",
    "tables.slo.quantile": "在 {share} 的分钟里不超过",
    "tables.slo.kept": "达到目标的分钟",
    "tables.slo.objective": "目标",
    "tables.slo.recorded": "记录值：由积压和到达量得出",
    "tables.slo.measured": "由 broker 报告：订阅的，否则为主题的",
    "tables.slo.as_is": "按现有的限流和消费者",
    "tables.slo.none": "试过的值都达不到目标。",
    "tables.slo.check": "从 {start} 至 {end}，流体模型与回放相差峰值的 {fluid:.1f} %，回放与记录相差 {replay:.1f} %。",
    # A What-if answer.
    "tables.whatif.title": "{cluster} 上的 {subscription}，从 {time} 起",
    "tables.whatif.backlog": "{entries} 个条目；不多于 {drained} 个时视为消化完",
    "tables.whatif.units": "时间为 UTC；积压按条目（批次）计，速率按消息计。",
    "tables.whatif.interval": "最好到最差是样本无法确定的部分：到达量、处理能力、broker 的读取速度。不包含回放自身的误差。",
    # Recommendations.
    "tables.advice.title": "{subscription}：{time} 有 {entries} 个条目，{horizon}后",
    "tables.advice.less": "减少量",
}
