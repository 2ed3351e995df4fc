"""Recommendations in every format. In: a `DrainAdvice` or an `AgeAdvice`. Out: text or JSON on stdout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from throttlescope.app.cli.tables import slo
from throttlescope.app.presentation.advice import advice_report, document, facts
from throttlescope.app.presentation.output import write_result
from throttlescope.app.presentation.text_report import print_report

if TYPE_CHECKING:
    from throttlescope.app.cli.settings import CommandOptions
    from throttlescope.app.services.recommend import AgeAdvice, DrainAdvice


def write_advice(one: DrainAdvice, options: CommandOptions) -> None:
    """Write what drains a backlog in the requested format."""
    write_result(
        options.format,
        table=lambda: print_report(advice_report(one.found, one.advice, now_ms=options.now_ms)),
        document=lambda: document(facts(one.found, one.advice)),
    )


def write_kept_age(one: AgeAdvice, options: CommandOptions) -> None:
    """Write what keeps an age in the requested format."""
    write_result(
        options.format,
        table=lambda: slo.print_kept(one.found, one.answer, now_ms=options.now_ms),
        document=lambda: slo.document(one.found, one.answer),
    )
