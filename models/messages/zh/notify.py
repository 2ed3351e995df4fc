"""Sentences of ``models/messages/en/notify.py`` in Simplified Chinese. In: nothing. Out: the same keys and placeholders."""

from __future__ import annotations

SENTENCES = {
    "notify.headline.opened": "{subscription} 有积压：{cause}",
    "notify.headline.cause_changed": "{subscription} 的积压：现在为{cause}，之前为{before}",
    "notify.headline.closed": "{subscription} 的积压已结束：原因曾是{cause}",
    "notify.headline.withdrawn": "{subscription} 的积压已撤销",
    "notify.cause_and_limiter": "{cause}（{limiter}）",
    "notify.digest": "{changes} 个积压有变化：{opened} 个新出现，{changed} 个原因改变，{closed} 个已结束",
    "notify.answer": "{answer}。",
    "notify.answer_and_confidence": "{answer}（置信度 {share}）。",
    "notify.since": "始于 {start} UTC，已持续 {length}，集群 {cluster}。",
    "notify.since_at_least": "最迟始于 {start} UTC，已持续 {length}，集群 {cluster}。",
    "notify.lasted": "{start} 至 {end} UTC，历时 {length}，集群 {cluster}。",
    "notify.backlog": "积压：{time} UTC 为 {entries} 个条目，峰值 {peak}。",
    "notify.peak": "最大积压：{peak} 个条目。",
    "notify.helps": "改什么才有用：{change}",
    "notify.helps_and_gone": "改什么才有用：{change}之后消化完所需时间：{gone_in}。",
    "notify.first_step": "第一步：{first}",
    "notify.withdrawn": "已重新计算相应的小时，集群 {cluster} 不再显示这一积压。",
    "notify.page": "打开其页面",
    "notify.more": "另有 {number} 个。",
    "notify.footer": "throttlescope，消息 {id}",
    "notify.test.title": "throttlescope 的测试消息",
    "notify.test.text": "通道 {name} 可用。积压的变化会发送到这里。",
    "notify.sent": "已向 {name} 发送 {messages}（{changes}）",
    "notify.nothing": "没有要发给 {name} 的新内容",
    "notify.would_send": "将向 {name} 发送 {messages}（{changes}）",
    "notify.too_old": "有 {changes}早于 {age}，没有发给 {name}；--notify-max-age 会发送它们",
    "notify.failed": "警告：给 {name} 的一条消息没有发出，下次运行后会再次尝试。{why}",
}
