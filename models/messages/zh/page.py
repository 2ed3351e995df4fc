"""Sentences of ``models/messages/en/page.py`` in Simplified Chinese. In: nothing. Out: the same keys and placeholders."""

from __future__ import annotations

SENTENCES = {
    # The frame.
    "page.skip": "跳到正文",
    "page.zone_hint": "UTC 或本浏览器的时区（t）",
    "page.scheme_hint": "浅色或深色",
    "page.keys.worst": "打开总览中最差的订阅",
    "page.keys.next": "表格的下一行和上一行",
    "page.keys.range": "前一个范围、后一个范围",
    "page.keys.zone": "时间按 UTC 或本浏览器的时区显示",
    "page.overview_link": "打开总览",
    # Where the data comes from and how new it is.
    "page.data.none": "尚无数据",
    "page.data.up_to": "数据截至 {at}",
    "page.data.recordings_hint": "时间为录制时的时间",
    "page.data.simulated": "{cluster} 是模拟数据，不是测量值",
    "page.data.synthetic": "合成数据：由模拟器生成",
    "page.data.synthetic_hint": "该集群没有任何测量值",
    # What cannot be shown.
    "page.no_verdicts.title": "尚无判定。",
    "page.no_verdicts.lake": "数据湖 {path} 中没有判定。",
    "page.no_verdicts.fix": (
        "写入数据：throttlescope run --prometheus URL --pulsar-admin URL --start -6h --end now --lake DIR；或查看录制数据：throttlescope "
        "demo。"
    ),
    "page.no_samples.title": "尚无样本。",
    "page.no_samples.lake": "数据湖 {path} 中没有样本{consequence}。",
    "page.no_samples.fix": (
        "写入数据：throttlescope ingest --prometheus URL --start -6h --end now --lake DIR；或查看录制数据：throttlescope demo。"
    ),
    "page.not_found.title": "没有这个页面。",
    "page.not_found.why": "本应用在该地址没有页面。",
    "page.failed.title": "无法生成本页。",
    "page.failed.why": "错误记录在服务器日志中。其他页面可能仍然可用。",
    # A range and the views of a table.
    "page.range.cut": "长于 {length}：只保留末尾部分",
    "page.view.now": "每个订阅在最新窗口的原因",
    "page.view.recent": "每个订阅在其集群最近 {length}内的主要原因",
    "page.chart.save": "将该图保存为 {form}",
    "page.chart.toggle": "在本页所有图中隐藏或显示",
    # Pages of a table.
    "page.pager.all": "{number} {noun}",
    "page.pager.some": "第 {first} 至 {last}，共 {number} {noun}",
    "page.pager.beyond": "共有 {number} {noun}；本页已超过最后一页。",
    "page.pager.label": "分页，共 {number} {noun}",
    # What several backlogs share.
    "page.shared.broker": "该 broker",
    "page.shared.broker_limiter": "该 broker 的限流",
    "page.shared.namespace_policy": "该命名空间的限流",
    "page.shared.topic_limiter": "该主题的限流",
}
