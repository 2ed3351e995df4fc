"""Sentences of ``models/messages/en/mcp.py`` in Simplified Chinese. In: nothing. Out: the same keys and placeholders."""

from __future__ import annotations

SENTENCES = {
    "mcp.none": "没有订阅被判定出原因。",
    "mcp.troubled": "{subscriptions}被判定出原因，积压最大的在前。",
    "mcp.troubled.row": "{subscription}：{cause}，{entries} 个条目，始于 {since}。",
    "mcp.troubled.row_and_limiter": "{subscription}：{cause}（{limiter}），{entries} 个条目，始于 {since}。",
    "mcp.more": "另有 {number} 个。",
    "mcp.no_verdict": "{subscription} 在该时刻没有判定。",
    "mcp.why": "依据：{why}",
    "mcp.against": "反对证据：{against}",
    "mcp.first": "第一步：{first}",
    "mcp.not_helping": "无济于事的做法：{never}",
    "mcp.rows": "{expr}：{rows}。",
    "mcp.as_is": "按现状：{drained}。",
    "mcp.changed": "采用 {change}：{drained}。{effect}",
    "mcp.nothing_changed": "集群上没有任何改动。",
}
