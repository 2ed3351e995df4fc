"""Sentences of ``models/messages/en/slowest.py`` in Simplified Chinese. In: nothing. Out: the same keys and placeholders."""

from __future__ import annotations

SENTENCES = {
    "slowest.not_measured": (
        "没有测得 {subscription} 的单个消费者：请在 broker 上设置 exposeConsumerLevelMetricsInPrometheus=true，或使用 throttlescope now "
        "--pulsar-admin URL。"
    ),
    "slowest.only.not_waited_for": "broker 没有在等待唯一活动的消费者：它有余力。",
    "slowest.only.not_known": "不知道唯一活动的消费者是否慢：没有测得。",
    "slowest.only.slow": "broker 在等待唯一活动的消费者，而没有任何消息处理完成。",
    "slowest.only.at_capacity": "唯一活动的消费者已达到处理能力上限（{pace}）。",
    "slowest.none_waited_for": "{count} 个消费者中没有一个让 broker 等待：它们有余力。",
    "slowest.none_waited_for_nothing_acked": "{count} 个消费者中没有一个让 broker 等待，但它们什么也没有确认，并持有 {unacked:number} 条未确认的消息。",
    "slowest.not_known": "不知道 {count} 个消费者中哪个慢：没有全部测得。",
    "slowest.all_slow": "broker 在等待全部 {count} 个消费者，而没有任何消息处理完成。",
    "slowest.one_slow": "{count} 个消费者中有 1 个慢：{named}；最快的处理 {fastest:number} msg/s。",
    "slowest.some_slow": "{count} 个消费者中有 {slow} 个慢：{named}；最快的处理 {fastest:number} msg/s。",
    "slowest.many_slow": "{count} 个消费者中有 {slow} 个慢：{named}，另有 {more} 个；最快的处理 {fastest:number} msg/s。",
    "slowest.all_alike": "{count} 个消费者中没有哪个特别突出：broker 在等待它们全部（每个 {pace}）。",
    "slowest.none_slow_one_waited_for": "{count} 个消费者中没有慢的；broker 在等待其中 1 个，它与其他消费者一样快（{pace}）。",
    "slowest.none_slow": "{count} 个消费者中没有慢的；broker 在等待其中 {waited_for} 个，它们与其他消费者一样快（{pace}）。",
    # One of them
    "slowest.consumer.at_address": "{name}（{address}）",
    "slowest.consumer.pace.slow": "{name} 处理 {pace:number} msg/s",
    "slowest.consumer.pace.blocked": "{name} 处理 {pace:number} msg/s，因达到未确认消息数上限而阻塞",
    "slowest.consumer.unacked.slow": "{name} 处理 {pace:number} msg/s，手中有 {unacked:number} 条未确认消息",
    "slowest.consumer.unacked.blocked": (
        "{name} 处理 {pace:number} msg/s，手中有 {unacked:number} 条未确认消息，因达到未确认消息数上限而阻塞"
    ),
    "slowest.pace.not_measured": "没有测得处理速率",
    "slowest.pace.one": "{pace:number} msg/s",
    "slowest.pace.range": "{low:number} 至 {high:number} msg/s",
}
