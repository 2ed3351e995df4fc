"""Sentences of ``models/messages/en/diagnose_now.py`` in Simplified Chinese. In: nothing. Out: the same keys and placeholders."""

from __future__ import annotations

SENTENCES = {
    "diagnose_now.compiling": "在这台机器上首次诊断，正在编译函数，最多一分钟；之后才开始计算时限",
    "diagnose_now.left_out": "有 {windows} 个更早的窗口没有诊断：已超过时限。",
    "diagnose_now.no_admin": "限流未知：没有指定 admin API（--pulsar-admin URL）。",
    "diagnose_now.admin_failed": "限流未知。{error}",
    "diagnose_now.admin_incomplete": "对 admin API 的 {requests} 个请求没有应答，例如 {subject} 的 {scope}：{reason}。其内容未知。",
    "diagnose_now.other_cluster": "限流未知：{difference}。如果是同一个集群，请用 --cluster {cluster} 指定。",
    "diagnose_now.not_placed": "有 {series} 条时间序列无法归属：{reason}。",
    "diagnose_now.sharing": "哪些对象共享该 broker 的限流",
    "diagnose_now.broker_use_unknown": "不知道该 broker 限流的用量。{error}",
}
