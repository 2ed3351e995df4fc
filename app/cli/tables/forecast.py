"""Forecasts and back-tests in every format. In: `MadeForecasts` or a `BackTest`. Out: a table or JSON on stdout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from throttlescope.app.presentation.forecast import exported, print_back_test, print_forecasts
from throttlescope.app.presentation.output import write_result, write_rows

if TYPE_CHECKING:
    from throttlescope.app.cli.settings import CommandOptions
    from throttlescope.app.services.forecast.back_test import BackTest
    from throttlescope.app.services.forecast.forecast_request import MadeForecasts


def write_forecasts(found: MadeForecasts, options: CommandOptions) -> None:
    """Write forecasts in the requested format."""
    write_rows(
        options.format,
        found.rows,
        table=lambda: print_forecasts(found.rows, made_ms=found.made_ms, now_ms=options.now_ms),
        export=exported,
    )


def write_back_test(found: BackTest, options: CommandOptions) -> None:
    """Write a back-test in the requested format."""
    write_result(options.format, table=lambda: print_back_test(found), document=found.to_json)
