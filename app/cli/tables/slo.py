"""What meets an age objective, as text and for programs. In: what was read, and an answer. Out: text on stdout, or one dict."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from throttlescope.app.presentation.advice import (
    not_helping_lines,
    note_lines,
    recommendation_lines,
)
from throttlescope.app.presentation.output import freshness
from throttlescope.app.presentation.text_report import TextLine, TextReport, TextTable, print_report
from throttlescope.ingest.core.times import format_time
from throttlescope.models.messages.catalogue import sentence
from throttlescope.models.messages.limiting import FORMATS
from throttlescope.models.messages.units import duration, number

if TYPE_CHECKING:
    from throttlescope.app.services.slo import SloQuestion
    from throttlescope.app.services.whatif.replay import ReplayInputs


def document(found: ReplayInputs, question: SloQuestion) -> dict[str, Any]:
    """Everything as plain values."""
    kept = question.kept
    return {
        "cluster": found.observed.cluster,
        "subscription": str(found.name),
        "at_ms": found.at_ms,
        "objective_p99_age_s": kept.target_s,
        "objective_share": kept.minutes.share,
        "start_ms": kept.minutes.start_ms,
        "end_ms": kept.minutes.end_ms,
        "minutes": len(kept.minutes.known),
        "minutes_known": int(kept.minutes.known.sum()),
        "recorded_p99_age_s": kept.recorded_p99_s,
        "measured_p99_age_s": kept.measured_p99_s,
        "recorded_kept_share": kept.recorded_share,
        "measured_kept_share": kept.measured_share,
        "as_is_p99_age_s": kept.as_is_p99_s,
        "as_is_service_msg_per_s": kept.as_is_service_msg_per_s,
        "published_msg_per_s": kept.minutes.msg_per_s,
        "keeps": [
            {
                **{name: value for name, value in asdict(one).items() if name != "change"},
                **{
                    name: said.document()[name]
                    for name in ("change", "do", "undo", "words", "risks", "verify")
                },
            }
            for one, said in zip(kept.keeps, question.recommendations, strict=True)
        ],
        "not_helping": [one.text for one in question.not_helping],
        "check": None if kept.check is None else asdict(kept.check),
        "executed": False,
        "notes": [one.text for one in kept.notes],
    }


def print_kept(found: ReplayInputs, question: SloQuestion, *, now_ms: int) -> None:
    """Print the age as it was, the values that would have met the objective, and the levers that would not."""
    kept = question.kept
    age_text = FORMATS["age"]
    span = duration((kept.minutes.end_ms - kept.minutes.start_ms) / 1000)
    report: TextReport = [
        TextTable(
            sentence(
                "tables.slo.title",
                subscription=found.name,
                span=span,
                end=format_time(kept.minutes.end_ms),
                published=number(kept.minutes.msg_per_s),
                dispatched=number(kept.as_is_service_msg_per_s),
            ),
            [
                (sentence("tables.slo.age"), "left"),
                (sentence("tables.slo.quantile", share=_share(kept.minutes.share)), "right"),
                (sentence("tables.slo.kept"), "right"),
            ],
            [
                [sentence("tables.slo.objective"), age_text(kept.target_s), _share(kept.minutes.share)],
                [sentence("tables.slo.recorded"), age_text(kept.recorded_p99_s), _share(kept.recorded_share)],
                [sentence("tables.slo.measured"), age_text(kept.measured_p99_s), _share(kept.measured_share)],
                [sentence("tables.slo.as_is"), age_text(kept.as_is_p99_s), ""],
            ],
        )
    ]
    for number_, one in enumerate(question.recommendations, 1):
        report += recommendation_lines(number_, one)
    if not question.recommendations:
        report += [TextLine(), TextLine(sentence("tables.slo.none"))]
    report += [*not_helping_lines(question.not_helping), *note_lines(kept.notes)]
    check = kept.check
    if check is not None and check.fluid_error_share is not None:
        report.append(
            TextLine(
                sentence(
                    "tables.slo.check",
                    start=format_time(check.start_ms),
                    end=format_time(check.end_ms),
                    fluid=100 * check.fluid_error_share,
                    replay=100 * check.replay_error_share,
                )
            )
        )
    print_report([*report, TextLine(freshness(found.at_ms, now_ms))])


def _share(share: float | None) -> str:
    """With as many digits as objectives have: 99.95 %."""
    return "-" if share is None else f"{100 * share:.4g} %"
