"""Sentences of ``models/messages/en/quality_page.py`` in Simplified Chinese. In: nothing. Out: the same keys and placeholders."""

from __future__ import annotations

SENTENCES = {
    "quality_page.words.heading": "质量门禁的发现",
    "quality_page.words.nothing_checked": "其中还没有门禁检查过任何内容",
    "quality_page.words.newest_checks": "每个门禁最近一次的检查",
    "quality_page.words.stops_a_run": "不满足时停止运行",
    "quality_page.words.quarantine": "被拒绝的行完整存放在隔离区。",
    "quality_page.words.quarantine_list": "列出它们；修复后的行可以重新接纳。",
    "quality_page.words.lost": "随之丢失的样本或行",
    "quality_page.words.footer": "错误会在用该表进行任何计算之前停止运行；警告之后运行继续，判定会把它列为缺失或存疑的证据。时间为 UTC。",
    "quality_page.title": "质量门禁的发现：{lake}",
    "quality_page.newest_finding": "最新的发现在 UTC {at}",
    "quality_page.only_row": "唯一的一行",
    "quality_page.some_rows": "{rows} 行中的 {shown} 行，最差的在前",
    "quality_page.written": "{findings} 个发现，{failed} 个失败；{characters} 个字符，不联网也能打开",
}
