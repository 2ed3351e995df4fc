"""Tables of an evaluation. In: an `Evaluation`. Out: tables of figures, confusion and classes, printed to stdout."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from throttlescope.app.presentation.output import print_table, write_result
from throttlescope.ingest.core.subscription_name import subscription_text
from throttlescope.models.evaluation.alarm import BASE_RATE
from throttlescope.models.messages.catalogue import sentence
from throttlescope.models.messages.units import count, percent, visible

if TYPE_CHECKING:
    from throttlescope.app.cli.settings import CommandOptions
    from throttlescope.models.evaluation import Evaluation, Part
    from throttlescope.models.evaluation.alarm import Alarm
    from throttlescope.models.evaluation.calibration import Calibration
    from throttlescope.models.evaluation.delays import Delays
    from throttlescope.models.evaluation.scores import Scores
    from throttlescope.models.evaluation.shares import Share


def print_evaluation(evaluation: Evaluation) -> None:
    """Print all figures, those of the held-out set next to the others."""
    parts = {
        "all": evaluation.all,
        "held-out set": evaluation.kept_aside,
        "other recordings": evaluation.not_kept_aside,
    }
    parts = {name: part for name, part in parts.items() if part.windows}
    rows = [*_figures(), *_of_baselines(evaluation.all), *_figures_of_confidence_and_time()]
    print_table(
        [(sentence("label.figure_heading"), "left"), *((name, "left") for name in parts)],
        [[what, *(figure(part) for part in parts.values())] for what, figure in rows],
        title=f"Rules {', '.join(evaluation.rules_versions)}",
        notes=[
            sentence(
                "evaluation.note",
                not_settled=count(evaluation.windows_not_settled),
                empty=evaluation.truth_rows_without_windows,
                ranges=evaluation.truth_rows,
            )
        ],
    )
    for what, scores in _scores(evaluation.all).items():
        print()
        _confusion(what, scores)
        _classes(scores)
    print()
    _calibration(evaluation.all.calibration)


_Figure = tuple[str, Callable[["Part"], str]]


def _figures() -> list[_Figure]:
    """Rows of the rules' own answers."""
    figures: dict[str, Callable[[Part], str]] = {
        "windows": lambda part: count(part.windows),
        "recordings_and_families": lambda part: f"{count(part.recordings)} / {count(part.families)}",
        "cause_right": lambda part: _share(part.ours.cause.right),
        "cause_right_when_answered": lambda part: _share(part.ours.cause.right_when_answered),
        "cause_macro_f1": lambda part: _figure(part.ours.cause.macro_f1),
        "side_right": lambda part: _share(part.ours.side.right),
        "side_right_when_answered": lambda part: _share(part.ours.side.right_when_answered),
        "unknown": lambda part: _share(part.ours.cause.unknown),
        "limiter_right": lambda part: _share(part.limiter_right),
        "healthy_called_throttled": lambda part: _share(part.ours.healthy_called_throttled),
        "healthy_answered": lambda part: _share(part.ours.healthy_answered),
    }
    return [(sentence(f"evaluation.figure.{name}"), figure) for name, figure in figures.items()]


def _figures_of_confidence_and_time() -> list[_Figure]:
    figures: dict[str, Callable[[Part], str]] = {
        "brier": lambda part: _figure(part.calibration.brier, 3),
        "expected_calibration_error": lambda part: _figure(part.calibration.expected_error, 3),
        "after_change": lambda part: _delays(part.after_change),
        "after_relief": lambda part: _delays(part.after_relief),
        "new": lambda part: _delays(part.new),
        "flips_per_hour": lambda part: _figure(part.flips.per_hour),
        "steady_flips_per_hour": lambda part: _figure(part.flips.steady_per_hour),
    }
    precision = sentence("evaluation.throttled_precision", share=percent(BASE_RATE))
    return [
        *((sentence(f"evaluation.figure.{name}"), figure) for name, figure in figures.items()),
        (precision, lambda part: _precision(part.ours.alarm)),
    ]


def _of_baselines(part: Part) -> list[_Figure]:
    """Rows of the simpler rules; a part without windows has none of them."""
    return [
        (
            sentence(f"evaluation.baseline.{what}", rule=rule),
            lambda part, rule=rule, show=show: show(part.baselines[rule]),
        )
        for what, show in (
            ("side_right", lambda scores: _share(scores.side.right)),
            ("side_macro_f1", lambda scores: _figure(scores.side.macro_f1)),
            ("healthy_called_throttled", lambda scores: _share(scores.healthy_called_throttled)),
        )
        for rule in part.baselines
    ]


def _scores(part: Part) -> Mapping[str, Scores]:
    naive = part.baselines["naive rule"]
    return {"cause, ours": part.ours.cause, "side, ours": part.ours.side, "side, naive rule": naive.side}


def _calibration(found: Calibration) -> None:
    print_table(
        [
            (sentence("label.confidence_heading"), "left"),
            (sentence("label.stated_heading"), "right"),
            (sentence("label.right_heading"), "left"),
        ],
        [
            [name, _figure(one.stated), _share(one.right)]
            for prefix, group in (("", found.bins), ("evidence of grade ", found.grades))
            for one in group
            for name in [f"{prefix}{one.name}"]
            if one.right.of
        ],
        title=sentence("evaluation.calibration"),
    )


def _delays(found: Delays) -> str:
    if not found.changes:
        return "-"
    times = ["never" if time_s is None else f"{time_s:.0f}" for time_s in (found.median_s, found.p90_s)]
    return f"{times[0]}, {times[1]} ({found.never} of {found.changes} never)"


def _precision(alarm: Alarm) -> str:
    if alarm.precision is None:
        return "-"
    low, high = alarm.precision_between
    return f"{percent(alarm.precision)} [{_figure(low)}, {_figure(high)}]"


def _confusion(what: str, scores: Scores) -> None:
    named = list(scores.classes)
    print_table(
        [(sentence("label.true"), "left"), *((name, "right") for name in named)],
        [[true, *(count(row.get(name, 0)) for name in named)] for true, row in scores.confusion.items()],
        title=sentence("evaluation.confusion", what=what),
    )


def _classes(scores: Scores) -> None:
    print_table(
        [
            (sentence("label.class"), "left"), (sentence("label.windows_heading"), "right"), (sentence("label.recordings_heading"), "right"), (sentence("label.families"), "right"),
            (sentence("label.precision_heading"), "left"), (sentence("label.recall_heading"), "left"), ("F1", "right"),
        ],
        [
            [
                name, count(one.windows), count(one.recordings), count(one.families),
                _share(one.precision), _share(one.recall), _figure(one.f1),
            ]
            for name, one in scores.classes.items()
        ],
        title=sentence("label.classes"),
    )  # fmt: skip
    for state in scores.mostly_wrong:
        named = ", ".join(f"{name} {number}" for name, number in state["named"].items())
        which = f"{state['recording']} {subscription_text(state['topic'], state['partition'], state['subscription'])}"
        print(visible(sentence("evaluation.mostly_wrong", state=which, true=state["true"], named=named)))


def _share(found: Share) -> str:
    if found.value is None:
        return "-"
    intervals = "".join(
        f" [{100 * low:.0f}, {100 * high:.0f}]" for low, high in filter(None, (found.wilson, found.clustered))
    )
    return f"{percent(found.value)} ({count(found.count)}/{count(found.of)}){intervals}"


def _figure(value: float | None, digits: int = 2) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def write_evaluation(found: Evaluation, options: CommandOptions) -> None:
    """Write an evaluation in the requested format."""
    write_result(options.format, table=lambda: print_evaluation(found), document=found.to_json)


def write_measured(options: CommandOptions) -> None:
    """Write the package's own figures in the requested format."""
    from throttlescope.app.cli.tables.measured import print_measured
    from throttlescope.models.evaluation.measured import measured

    found = measured()
    write_result(options.format, table=lambda: print_measured(found), document=lambda: found)
