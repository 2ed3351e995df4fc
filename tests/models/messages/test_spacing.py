"""Spaces where values meet Chinese text."""

from __future__ import annotations

import pytest

from throttlescope.models.messages.spacing import joined


@pytest.mark.parametrize(
    ("pieces", "text"),
    [
        (("可能是", "slow_consumers", "，但把握不足"), "可能是 slow_consumers，但把握不足"),
        (("队列有 ", "超过 99 %", " 被占用"), "队列有超过 99 % 被占用"),
        (("受", "broker 的读取速度", "限制"), "受 broker 的读取速度限制"),
        (("持续 ", "2 小时", "没有派发"), "持续 2 小时没有派发"),
        (("broker ", "、", "主题", "限流"), "broker、主题限流"),
        (("订阅", " 的", "消息", "限流"), "订阅的消息限流"),
        (("主题 ", "persistent://t/ns/订单a", "，共享"), "主题 persistent://t/ns/订单a，共享"),
        (("", "没有", "", "判定"), "没有判定"),
    ],
)
def test_seams_of_chinese_text(pieces, text):
    assert joined(pieces) == text


def test_other_text_is_only_put_together():
    pieces = ["The ", "topic", " message limit: ", "5\u202f%", " of ", "x", "1"]
    assert joined(pieces) == "".join(pieces)


def test_a_name_is_not_changed():
    """Spaces are set between pieces only: a subscription may be called as it likes."""
    assert joined(["订阅", "a订单b 中 文", "有积压"]) == "订阅 a订单b 中 文有积压"
