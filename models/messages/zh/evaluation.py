"""Sentences of ``models/messages/en/evaluation.py`` in Simplified Chinese. In: nothing. Out: the same keys and placeholders."""

from __future__ import annotations

SENTENCES = {
    "evaluation.note": (
        "区间为 95 %：先按窗口相互独立计算（Wilson），再按整份录制数据计算（bootstrap）。窗口以 1 分钟滑动；只统计完整落在一段真实原因之"
        "内的窗口：{not_settled} 个不是，{ranges} 段真实原因中有 {empty} 段一个窗口也没有。得到正确判定的用时给出中位数和第 90 百分位数，"
        "以及全部变化中有多少从未得到正确判定。"
    ),
    "evaluation.measured.title": "在真实 broker 的录制数据上测得，规则版本 {rules}",
    "evaluation.measured.note": "{page} 有全部数值及其区间，并说明它们不代表什么。",
    "evaluation.confusion": "混淆矩阵：{what}（窗口数；行为真实值，列为认定值）",
    "evaluation.calibration": "校准（给出答案的窗口）",
    "evaluation.mostly_wrong": "大部分判错：{state}：真实为 {true}，认定为 {named}",
    # Names of figures.
    "evaluation.figure.windows": "已稳定的窗口",
    "evaluation.figure.recordings": "录制数据",
    "evaluation.figure.families": "类别",
    "evaluation.figure.recordings_and_families": "录制数据 / 类别",
    "evaluation.figure.cause_right": "原因正确，本规则",
    "evaluation.figure.cause_right_when_answered": "给出答案时原因正确，本规则",
    "evaluation.figure.cause_macro_f1": "原因宏平均 F1，本规则",
    "evaluation.figure.cause_macro_f1_naive_rule": "原因宏平均 F1，朴素规则",
    "evaluation.figure.side_right": "侧正确，本规则",
    "evaluation.figure.side_right_when_answered": "给出答案时侧正确，本规则",
    "evaluation.figure.side_right_when_answered_naive_rule": "给出答案时侧正确，朴素规则",
    "evaluation.figure.states_mostly_on_the_wrong_side": "大部分时间判错侧的状态",
    "evaluation.figure.unknown": "无法判定，本规则",
    "evaluation.figure.limiter_right": "被限流时限流器正确，本规则",
    "evaluation.figure.healthy_called_throttled": "健康被判为被限流，本规则",
    "evaluation.figure.healthy_answered": "健康且给出答案，本规则",
    "evaluation.figure.brier": "置信度的 Brier 分数",
    "evaluation.figure.expected_calibration_error": "期望校准误差",
    "evaluation.figure.after_change": "原因开始后到正确判定的用时，s",
    "evaluation.figure.after_relief": "原因结束后到正确判定的用时，s",
    "evaluation.figure.new": "新订阅到正确判定的用时，s",
    "evaluation.figure.after_change_median_s": "到正确判定的用时，中位数，s",
    "evaluation.figure.after_change_p90_s": "到正确判定的用时，第 90 百分位数，s",
    "evaluation.figure.flips_per_hour": "同一状态下每小时翻转次数",
    "evaluation.figure.steady_flips_per_hour": "经滞回处理后每小时翻转次数",
    "evaluation.throttled_precision": "被限流占 {share} 时，判为被限流的精确率",
    # Figures of the simpler rules.
    "evaluation.baseline.side_right": "侧正确，{rule}",
    "evaluation.baseline.side_macro_f1": "侧宏平均 F1，{rule}",
    "evaluation.baseline.healthy_called_throttled": "健康被判为被限流，{rule}",
}
