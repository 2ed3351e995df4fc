"""Sentences of ``models/messages/en/alerts.py`` in Simplified Chinese. In: nothing. Out: the same keys and placeholders."""

from __future__ import annotations

SENTENCES = {
    # The form.
    "alerts.own.title": "自己的规则",
    "alerts.own.hint": (
        "一份 Prometheus 格式的规则文件，至少包含一条告警。它可以读取导出的记录规则（throttlescope:...）。预览会对它求值；不存储任何内容。"
    ),
    "alerts.size.one": "1 条规则，{moments} 个时刻，约 {samples} 个样本；从范围之前 {before} 开始，即规则回看的长度",
    "alerts.size.many": "{rules} 条规则，{moments} 个时刻，约 {samples} 个样本；从范围之前 {before} 开始，即规则回看的长度",
    "alerts.limits": (
        "一次预览最多可用 {timeout_s:g} 秒、约 {samples} 个样本、规则求值 {evaluations} 次、每次 {results} 个结果，并与 HTTP API 的查询共"
        "用并发上限。"
    ),
    "alerts.busy": "同时运行的查询过多。",
    "alerts.busy.waited": "预览等待过久。",
    "alerts.busy.shared": "预览、控制台和 HTTP API 共用一个并发上限；每个进程同时只运行一次预览。",
    "alerts.busy.again": "请稍后再次预览。",
    "alerts.not_evaluated": "在该范围内预览",
    # Exported alerts and files.
    "alerts.exported.title": "这些告警当时会触发吗？",
    "alerts.exported.note": "throttlescope rules export 写出的规则",
    "alerts.exported.choose": "选择一条告警，在 {range} 期间预览，或输入自己的规则。数据截至 {data_up_to}。",
    "alerts.exported.no_cause": "没有原因：它只报告症状",
    "alerts.exported.first": "首先做什么",
    "alerts.copy": "在副本上修改",
    "alerts.file.rules": "{file}，用于 Prometheus 的 rule_files",
    "alerts.file.inhibit": "{file}，用于 Alertmanager 的 inhibit_rules",
    "alerts.files": "这些告警中的链接指向本页的地址。throttlescope rules export 提供选项，可设置集群标签、抓取间隔、规格以及自己的标签。",
    "alerts.inhibit": "抑制规则：限流告警会抑制要求增加消费者的告警",
    "alerts.kind.rule": "按规则的定义",
    "alerts.kind.label": "什么算作真实",
    # What a preview found.
    "alerts.fired.not": "在 {range} 期间，{fired}。",
    "alerts.fired.not.strong": "它不会触发",
    "alerts.fired.once": "它会触发一次",
    "alerts.fired.times": "它会触发 {times} 次",
    "alerts.fired": "在 {range} 期间，{fired}。",
    "alerts.fired.judged": "在 {range} 期间，{fired}：{counts}。",
    "alerts.missed.none_there": "没有此类积压需要发现。",
    "alerts.missed.one": "1 个此类积压中会漏掉 {missed} 个。",
    "alerts.missed.many": "{backlogs} 个此类积压中会漏掉 {missed} 个。",
    "alerts.missed.at_least": "{backlogs} 个此类积压中至少会漏掉 {missed} 个。",
    "alerts.meaning": (
        "真实：从条件开始成立到告警结束之间，主要判定为{kind}。未定：该判定为“无法判定”，或当时没有判定。漏报：主要原因属于此类的积压，而"
        "其间告警没有为其订阅触发。"
    ),
    "alerts.meaning.none": "判定针对的是订阅的积压，而不是这条告警所报告的内容，所以不对触发评定真假。",
    "alerts.failed.title": "有些求值失败；告警当时保持了原状态。",
    "alerts.failed": "{rule} 失败 {times} 次，首次于 {error}",
    "alerts.firings.none": "该范围内没有。",
    "alerts.firings.not_judged": "判定不针对这条告警所报告的内容",
    "alerts.firings.first": "{firings} 次中的前 {shown} 次",
    "alerts.missed.not_known": "尚无积压时段。",
    "alerts.missed.not_known.compute": (
        "从开始到消化完的积压由下次运行计算，或运行 throttlescope episodes --store --lake DIR。没有它们，就不知道告警会漏掉什么。"
    ),
    "alerts.missed.note": "没有触发告警的此类积压，最早的在前",
    "alerts.missed.note_first": "没有触发告警的此类积压，最早的在前；{missed} 个中的前 {shown} 个",
    "alerts.why.short": "没有超过规则的 for，即 {hold}",
    "alerts.why.hold": "表达式没有持续成立 {hold}",
    "alerts.why.never": "表达式没有成立",
    "alerts.no_samples": "，因此无法对任何规则求值",
    "alerts.count.real": "{number} 次属实",
    "alerts.count.not_real": "{number} 次不属实",
    "alerts.count.undecided": "{number} 次未定",
    "alerts.outcome.real": "属实",
    "alerts.outcome.not_real": "不属实",
    "alerts.outcome.undecided": "未定",
}
