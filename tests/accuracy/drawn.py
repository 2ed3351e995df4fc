"""What the app draws of one set. In: figures of a set by evidence. Out: confusion, classes, simpler rules, calibration, times, less evidence."""

from __future__ import annotations

from typing import Any

Figures = dict[str, Any]

#: Keys of a share that ship; the number of its recordings is shipped once.
_SHARE = ("count", "of", "value", "wilson", "clustered")


def drawn(by_evidence: Figures) -> Figures:
    """The part of ``measured.json`` that is drawn; every number as it stands on the page."""
    full = by_evidence["full"]
    cause, rules = full["ours"]["cause"], {"ours": full["ours"], **full["baselines"]}
    return {
        "confusion": cause["confusion"],
        "classes": {word: _class(one) for word, one in cause["classes"].items()},
        "rules": {name: _rule(one) for name, one in rules.items()},
        "calibration": {
            group: [
                {"name": one["name"], "stated": one["stated"], "right": count_of(one["right"])}
                for one in full["calibration"][group]
                if one["right"]["of"]
            ]
            for group in ("bins", "grades")
        },
        "delays": {name: full[name] for name in ("after_change", "after_relief", "new")},
        "flips": full["flips"],
        "evidence": {name: _less(part) for name, part in by_evidence.items()},
    }


def _class(one: Figures) -> Figures:
    return {
        "windows": one["windows"],
        "recordings": one["recordings"],
        "families": one["families"],
        "precision": count_of(one["precision"]),
        "recall": count_of(one["recall"]),
        "f1": one["f1"],
        "f1_clustered": one["f1_clustered"],
    }


def _rule(one: Figures) -> Figures:
    return {
        "cause_macro_f1": one["cause"]["macro_f1"],
        "cause_macro_f1_clustered": one["cause"]["macro_f1_clustered"],
        "side_macro_f1": one["side"]["macro_f1"],
        "side_macro_f1_clustered": one["side"]["macro_f1_clustered"],
        "side_right": count_of(one["side"]["right"]),
        "side_right_when_answered": count_of(one["side"]["right_when_answered"]),
        "states_mostly_on_the_wrong_side": len(one["side"]["mostly_wrong"]),
        "unknown": count_of(one["side"]["unknown"]),
        "healthy_called_throttled": count_of(one["healthy_called_throttled"]),
        "recall": count_of(one["alarm"]["recall"]),
        "false_alarms": count_of(one["alarm"]["false_alarms"]),
        "base_rate": one["alarm"]["base_rate"],
        "precision": one["alarm"]["precision"],
        "precision_between": one["alarm"]["precision_between"],
    }


def _less(part: Figures) -> Figures:
    ours, naive = part["ours"], part["baselines"]["naive rule"]
    return {
        "cause_macro_f1": ours["cause"]["macro_f1"],
        "cause_right_when_answered": count_of(ours["cause"]["right_when_answered"]),
        "side_right_when_answered": count_of(ours["side"]["right_when_answered"]),
        "side_right_when_answered_naive_rule": count_of(naive["side"]["right_when_answered"]),
        "unknown": count_of(ours["cause"]["unknown"]),
        "healthy_called_throttled": count_of(ours["healthy_called_throttled"]),
        "switch_named": count_of(part["switch_named"]),
    }


def count_of(share: Figures | None) -> Figures | None:
    """A share without the fields that are shipped once."""
    return None if share is None else {name: share[name] for name in _SHARE}
