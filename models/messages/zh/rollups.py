"""Sentences of ``models/messages/en/rollups.py`` in Simplified Chinese. In: nothing. Out: the same keys and placeholders."""

from __future__ import annotations

SENTENCES = {
    # The table.
    "rollups.search": "搜索名称、集群",
    "rollups.status.one": "1 个{by}，最差的在前。按 Enter 或点击可打开。",
    "rollups.status.many": "{number} 个{plural}，最差的在前。按 Enter 或点击可打开。",
    "rollups.filtered": "没有汇总项符合这些筛选条件。",
    "rollups.filtered.others": "数据湖中有 {partitions} 个订阅分区；没有{by}符合搜索和所选的集群。",
    "rollups.column.worst": "不健康的订阅中积压最大者的原因；点击可打开",
    "rollups.column.causes.now": "按最新窗口的原因统计的订阅分区",
    "rollups.column.causes.recent": "按{recent}的主要原因统计的订阅分区",
    "rollups.column.backlog.now": "可投递条目（批次），不是消息，为其各订阅分区之和",
    "rollups.column.backlog.recent": "可投递条目（批次），不是消息，为其各订阅分区之和；每个取{recent}的最大值",
    "rollups.column.share": "最近 {length}内某一分钟的最大用量 / 阈值，以及是哪个限流器",
    "rollups.row.causes.one_topic": "{causes:names}；在 1 个主题上",
    "rollups.row.causes.topics": "{causes:names}；在 {topics} 个主题上",
    "rollups.row.backlog": "{entries} 个条目，{subscriptions} 个中测得 {measured} 个",
    "rollups.row.no_share": "没有限流，或没有观察到",
    "rollups.row.share": "{limiter}，最多用去 {share}",
    "rollups.row.healthy": "全部健康",
    "rollups.row.worst": "{subscription}（{topic}）：{verdict}",
    "rollups.unknown_name": "未知（抓取数据中没有名称）",
    # One of them opened.
    "rollups.blind_spots": (
        "这里看不到：没有 broker 加载的主题（它们没有时间序列）、非持久化主题和复制器（没有限流计数器），以及无法读取运行时配置的 broker "
        "的限流。"
    ),
    "rollups.no_cluster": "数据湖中没有集群 {cluster} 的判定。",
    "rollups.no_cluster.so": "因此对其{plural}一无所知。",
    "rollups.no_cluster.open": "打开{plural}的表格",
    "rollups.size.one": "· 1 个主题上的 1 个订阅分区",
    "rollups.size.one_topic": "· 1 个主题上的 {partitions} 个订阅分区",
    "rollups.size.topics": "· {topics} 个主题上的 {partitions} 个订阅分区",
    "rollups.cards": "按原因统计的订阅分区",
    "rollups.compared.nothing": "没有 24 小时之前的判定可供对比。",
    "rollups.compared.one": "与 24 小时之前对比的变化（当时有 1 个订阅分区）。",
    "rollups.compared.many": "与 24 小时之前对比的变化（当时有 {partitions} 个订阅分区）。",
    "rollups.backlog": "积压 {backlog}：可投递条目（批次），为全部订阅分区之和。截至 {at}。",
    "rollups.backlog.compared": "积压 {backlog}，与 24 小时之前对比 {change}；可投递条目（批次），为全部订阅分区之和。截至 {at}。",
    "rollups.backlog.not_measured": "没有测得积压。截至 {at}。",
    "rollups.not_judged": "该{by}在其集群的最近一天没有任何判定。",
    "rollups.not_judged.why": "该集群的最新判定结束于 {at}。它可能已被删除或卸载（此时没有时间序列），也可能名称不同。",
    "rollups.not_judged.below": "数据湖对该范围所知的内容见下方。",
    "rollups.members.note": "最差的在前；积压按可投递条目（批次）计，并给出其在最新窗口内的变化；以及最近几分钟用量占比最高的限流",
    "rollups.members.note_first": (
        "{total} 个中最差的 {shown} 个；积压按可投递条目（批次）计，并给出其在最新窗口内的变化；以及最近几分钟用量占比最高的限流"
    ),
    "rollups.member.started": "开始于 {at}",
    "rollups.member.started_before": "开始于 {at} 或更早",
    # Its limits over time.
    "rollups.heat.title": "其限流用量随时间的变化",
    "rollups.heat.note": "用量 / 阈值，用量为共享该限流的全部对象之和；每格为 {cell}内最高的一分钟",
    "rollups.heat.note_first": (
        "用量 / 阈值，用量为共享该限流的全部对象之和；每格为 {cell}内最高的一分钟；{total} 个限流器中的 {shown} 个：起限制作用时间最长的，"
        "其次是用量最高的"
    ),
    "rollups.heat.note_topics": (
        "用量 / 阈值，用量为共享该限流的全部对象之和；每格为 {cell}内最高的一分钟；只读取了 {topics} 个主题，即其限流在该范围内起限制作用"
        "或目前用量最高的：主题太多，无法全部读取"
    ),
    "rollups.heat.note_first_topics": (
        "用量 / 阈值，用量为共享该限流的全部对象之和；每格为 {cell}内最高的一分钟；{total} 个限流器中的 {shown} 个：起限制作用时间最长的，"
        "其次是用量最高的；只读取了 {topics} 个主题，即其限流在该范围内起限制作用或目前用量最高的：主题太多，无法全部读取"
    ),
    "rollups.heat.empty": "空白：没有已知的限流，或没有测得用量",
    "rollups.heat.bound": "带线：根据这些分钟的判定，该限流起了限制作用",
    "rollups.heat.key": "颜色和标记",
    "rollups.heat.numbers": "同样的内容，以数值显示",
    "rollups.heat.none": "该范围内没有已知的限流。",
    "rollups.heat.none.why": "要么没有设置，要么没有读取，要么当时没有抓取到任何内容：订阅的页面会说明是哪一种。",
    "rollups.heat.none.read": "限流来自 admin API：throttlescope run --pulsar-admin URL。",
    # Its backlogs, and what they share.
    "rollups.backlogs.title": "该范围内的积压",
    "rollups.backlogs.not_known": "尚无积压时段。",
    "rollups.backlogs.not_known.compute": "下次运行会计算，或运行 throttlescope episodes --store --lake DIR。",
    "rollups.backlogs.none": "无：该范围内其订阅都没有积压。",
    "rollups.backlogs.counted": "共 {total} 个，其中 {open} 个未消化完，涉及 {partitions} 个订阅分区。按原因统计的时间：{causes}。",
    "rollups.backlogs.counted_largest": (
        "共 {total} 个，其中 {open} 个未消化完，涉及 {partitions} 个订阅分区。按原因统计的时间，取最大的 {largest} 个：{causes}。"
    ),
    "rollups.backlogs.note": "{shown} 个，未消化完的和最大的在前",
    "rollups.backlogs.note_first": "前 {shown} 个，未消化完的和最大的在前",
    "rollups.backlog.not_seen": "自 {at} 起未再看到",
    "rollups.incidents.none": "没有限流器或 broker 同时影响过多个订阅。",
    "rollups.incidents.note": "同时影响多个订阅的同一个限流器或 broker",
    "rollups.incidents.here": "{subscriptions} 个，其中 {here} 个在这里",
    "rollups.by.topic": "主题",
    "rollups.by.namespace": "命名空间",
    "rollups.by.broker": "broker",
    "rollups.by_title.topic": "主题",
    "rollups.by_title.namespace": "命名空间",
    "rollups.by_title.broker": "broker",
    "rollups.plural.topic": "主题",
    "rollups.plural.namespace": "命名空间",
    "rollups.plural.broker": "broker",
    "rollups.plural_title.topic": "主题",
    "rollups.plural_title.namespace": "命名空间",
    "rollups.plural_title.broker": "broker",
    "rollups.back": "← 全部{plural}",
    "rollups.show_all": "显示全部{plural}",
    "rollups.backlogs.nothing_named": "没有认定原因",
    "rollups.heat.not_bound": "无",
}
