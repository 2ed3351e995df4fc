"""Sentences of ``models/messages/en/steps.py`` in Simplified Chinese. In: nothing. Out: the same keys and placeholders."""

from __future__ import annotations

SENTENCES = {
    "steps.anomalies.compare": "正在与前几周对比",
    "steps.episodes.replay": "正在回放中逐一去掉各个原因",
    "steps.repair.source_empty": "数据源中已没有这部分数据",
    "steps.vacuum.find": "正在查找未被引用的文件",
    "steps.simulate.compile": "在这台机器上首次运行，正在编译模拟器，约需一分钟",
    "steps.whatif.exact": "正在逐条消息模拟",
    "steps.whatif.smallest": "正在查找足够的最小值",
    "steps.whatif.levers": "正在尝试每种手段",
}
