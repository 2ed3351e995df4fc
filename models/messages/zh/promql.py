"""Sentences of ``models/messages/en/promql.py`` in Simplified Chinese. In: nothing. Out: the same keys and placeholders."""

from __future__ import annotations

SENTENCES = {
    # The form.
    "promql.query.placeholder": "PromQL 表达式，例如 sum by (topic) (rate(pulsar_in_messages_total[5m]))",
    "promql.query.keys": "提示指标、标签和函数；输入框为空时提示您最近的查询",
    "promql.tab.label": "结果的显示方式",
    "promql.tab.table": "在范围的末尾",
    "promql.tab.graph": "在整个范围内",
    "promql.tab.explain": "将如何运行；不求值",
    # Words that are completed.
    "promql.operator.by": "保留这些标签",
    "promql.operator.without": "去掉这些标签",
    "promql.operator.on": "按这些标签匹配",
    "promql.operator.ignoring": "按其余所有标签匹配",
    "promql.operator.group_left": "左侧为多",
    "promql.operator.group_right": "右侧为多",
    "promql.operator.and": "右侧存在时取左侧",
    "promql.operator.or": "取左侧，左侧没有时取右侧",
    "promql.operator.unless": "右侧不存在时取左侧",
    "promql.operator.bool": "返回 0 或 1，而不是过滤",
    "promql.operator.offset": "时间向过去平移",
    "promql.operator.atan2": "两个值的夹角",
    # Examples.
    "promql.examples.title": "示例",
    "promql.examples.note": "用数据湖中的样本回答，结果与 Prometheus 3.5 相同",
    "promql.example.largest_backlogs": "最大的十个积压，条目",
    "promql.example.in_per_topic": "每个主题流入的消息，msg/s",
    "promql.example.throttle_events": "按原因统计的限流事件，每秒",
    "promql.example.limits": "订阅的消息限流阈值，msg/s",
    # The answer.
    "promql.cost": "用时 {duration}，读取了 {series} 条时间序列的 {samples} 个样本",
    "promql.json_hint": "HTTP API 给出的同一结果",
    "promql.copy_command": "复制为命令",
    "promql.limits": (
        "一次查询最多可用 {timeout_s:g} 秒、{samples} 个样本和 {steps} 步；每个进程同时运行 {running} 个查询，包括 HTTP API 的查询。"
    ),
    "promql.table.line": "1 行，{at}",
    "promql.table.lines": "{number} 行，{at}",
    "promql.table.first_lines": "{number} 行，{at}；显示前 {shown} 行",
    "promql.graph.series": "{number} 条时间序列，每 {step} 一个点",
    "promql.graph.greatest": "显示值最大的 {shown} 条；另有 {more} 条已隐藏",
    "promql.graph.thinned": "相邻的点缩减为其最小值和最大值",
    "promql.graph.infinite": "{number} 个无穷值显示为空隙",
    "promql.graph.shared": "每条时间序列：",
    "promql.explain.note": "没有求值。时间为 UTC。",
    "promql.explain.label": "查询计划",
    "promql.empty.title": "该时间没有时间序列有值。",
    "promql.empty.at": "求值时间为 {at}；数据湖的最新样本是 {newest}。",
    "promql.empty.range": "求值范围为 {range}；数据湖的最新样本是 {newest}。",
    "promql.empty.why": "该指标可能没有抓取或没有读入数据湖，过滤条件可能没有留下任何内容，或者该时间不在数据湖的覆盖范围内。",
    # A query without an answer.
    "promql.busy.title": "同时运行的查询过多。",
    "promql.busy.waited": "查询等待过久。",
    "promql.busy.why": "控制台和 HTTP API 共用一个并发上限。",
    "promql.busy.next": "请稍后再次运行。",
    "promql.fix.samples": "请减少时间序列、缩短范围或加大步长",
    "promql.fix.timeout": "请缩短范围或加大步长；控制台允许 {timeout_s:g} 秒，命令 throttlescope promql 允许更久",
    "promql.place.label": "在查询中的位置",
    "promql.place.line": "第 {line} 行，第 {column} 列",
}
