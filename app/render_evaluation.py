"""An evaluation for eyes. In: an `Evaluation`. Out: tables: figures side by side, confusion, classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from throttlescope.app.render import count, print_table, share, visible

if TYPE_CHECKING:
    from throttlescope.models.evaluation import Evaluation, Part, Scores, Share

_INTERVALS = (
    "Intervals are 95 %: over windows as if independent (Wilson), then over whole recordings (bootstrap)."
)


def print_evaluation(evaluation: Evaluation) -> None:
    """Print all figures, the kept-aside recordings beside the others."""
    parts = {
        "all": evaluation.all,
        "kept aside": evaluation.kept_aside,
        "not kept aside": evaluation.not_kept_aside,
    }
    parts = {name: part for name, part in parts.items() if part.windows}
    rows = [
        ("settled windows", lambda part: count(part.windows)),
        ("recordings / families", lambda part: f"{count(part.recordings)} / {count(part.families)}"),
        ("cause right, ours", lambda part: _share(part.cause.right)),
        ("cause right when answered, ours", lambda part: _share(part.cause.right_when_answered)),
        ("cause macro F1, ours", lambda part: _figure(part.cause.macro_f1)),
        ("side right, ours", lambda part: _share(part.side.right)),
        ("side right, naive rule", lambda part: _share(part.naive_side.right)),
        ("side macro F1, ours", lambda part: _figure(part.side.macro_f1)),
        ("side macro F1, naive rule", lambda part: _figure(part.naive_side.macro_f1)),
        ("unknown, ours", lambda part: _share(part.cause.unknown)),
        ("unknown, naive rule", lambda part: _share(part.naive_side.unknown)),
        ("limiter right where throttled, ours", lambda part: _share(part.limiter_right)),
        ("healthy called throttled, ours", lambda part: _share(part.healthy_called_throttled)),
        ("healthy called throttled, naive rule", lambda part: _share(part.naive_healthy_called_throttled)),
    ]
    print_table(
        [("figure", "left"), *((name, "left") for name in parts)],
        [[what, *(figure(part) for part in parts.values())] for what, figure in rows],
        title=f"Rules {', '.join(evaluation.rules_versions)}",
        notes=[
            f"{_INTERVALS} Windows slide by 1 minute; only those whole inside one range of truth are counted: "
            f"{count(evaluation.windows_not_settled)} are not, and {evaluation.truth_rows_without_windows} of "
            f"{evaluation.truth_rows} ranges of truth hold none."
        ],
    )
    for what, scores in _scores(evaluation.all).items():
        print()
        _confusion(what, scores)
        _classes(scores)


def _scores(part: Part) -> Mapping[str, Scores]:
    return {"cause, ours": part.cause, "side, ours": part.side, "side, naive rule": part.naive_side}


def _confusion(what: str, scores: Scores) -> None:
    named = list(scores.classes)
    print_table(
        [("true", "left"), *((name, "right") for name in named)],
        [[true, *(count(row.get(name, 0)) for name in named)] for true, row in scores.confusion.items()],
        title=f"Confusion: {what} (windows; a row is true, a column is named)",
    )


def _classes(scores: Scores) -> None:
    print_table(
        [
            ("class", "left"), ("windows", "right"), ("recordings", "right"), ("families", "right"),
            ("precision", "left"), ("recall", "left"), ("F1", "right"),
        ],
        [
            [
                name, count(one.windows), count(one.recordings), count(one.families),
                _share(one.precision), _share(one.recall), _figure(one.f1),
            ]
            for name, one in scores.classes.items()
        ],
        title="Classes",
    )  # fmt: skip
    for state in scores.mostly_wrong:
        partition = "" if state["partition"] < 0 else f"-partition-{state['partition']}"
        named = ", ".join(f"{name} {number}" for name, number in state["named"].items())
        print(
            visible(
                f"Mostly wrong: {state['recording']} {state['topic']}{partition}#{state['subscription']}: "
                f"true {state['true']}, named {named}"
            )
        )


def _share(found: Share) -> str:
    if found.value is None:
        return "-"
    intervals = "".join(
        f" [{100 * low:.0f}, {100 * high:.0f}]" for low, high in filter(None, (found.wilson, found.clustered))
    )
    return f"{share(found.value)} ({count(found.count)}/{count(found.of)}){intervals}"


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
