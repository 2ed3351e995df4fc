"""Great Expectations at work: in, a DataFrame and checks; out, which checks do not hold.

The library takes seconds to import and by default writes progress bars, so it is imported only when a gate runs and
is kept quiet. Its context lives in memory; nothing is written and nothing is sent anywhere.
"""

from __future__ import annotations

import logging
import os
import threading
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from throttlescope.ingest.errors import GateError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_IMPORT_LOCK = threading.Lock()


@dataclass(frozen=True)
class Check:
    """One expectation about a frame of counted faults.

    Attributes
    ----------
    name : str
        Its name in ``quality.check``.
    column : str
        Integer column of the frame that counts the faults of a row; it has to be 0 everywhere.
    severity : str
        ``error`` or ``warning``.
    fault, expected : str
        Words for what is counted and for what would have been right.
    unique : tuple of str
        Where given, the columns that together may not repeat: judged instead of ``column``, which then only
        locates the repeated rows.
    """

    name: str
    column: str
    severity: str
    fault: str
    expected: str
    unique: tuple[str, ...] = ()


def failing(frame: DataFrame, checks: Sequence[Check]) -> list[Check]:
    """Return the checks that do not hold for ``frame``, in the order given.

    Only yes or no is asked for: Great Expectations' details take twice the jobs and know no clusters, and
    :mod:`findings` counts what failed in one job.

    Raises
    ------
    GateError
        A check could not be evaluated, such as for a missing column. Great Expectations reports that like an
        expectation that does not hold, and a gate that is broken must not look like data that is bad.
    """
    with _Quiet():
        results = _validate(frame, checks)
    by_name = {}
    for result in results:
        name = result.expectation_config.meta["check"]
        if message := raised_message(result.exception_info):
            raise GateError(f"The check {name} could not be evaluated", got=message)
        by_name[name] = bool(result.success)
    missing = [check.name for check in checks if check.name not in by_name]
    if missing:
        raise GateError("Great Expectations gave no answer", got=", ".join(missing))
    return [check for check in checks if not by_name[check.name]]


def raised_message(exception_info: dict | None) -> str | None:
    """Return the message of an exception inside an expectation, None where there was none.

    ``exception_info`` has two forms: one such record, or one per metric that failed, keyed by the metric.
    """
    info = exception_info or {}
    records = [info] if "raised_exception" in info else list(info.values())
    for record in records:
        if isinstance(record, dict) and record.get("raised_exception", True):
            return str(record.get("exception_message") or record)
    return None


def preload() -> threading.Thread:
    """Import the library in the background, so that it is there when the gate is reached."""
    thread = threading.Thread(target=_import, name="great-expectations-import", daemon=True)
    thread.start()
    return thread


def _import():
    with _IMPORT_LOCK:
        os.environ.setdefault("GX_ANALYTICS_ENABLED", "False")
        import great_expectations

    return great_expectations


def _validate(frame: DataFrame, checks: Sequence[Check]) -> list:
    gx = _import()
    from great_expectations.data_context.types.base import ProgressBarsConfig

    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = ProgressBarsConfig(globally=False, metric_calculations=False)
    # persist=False: by default the whole DataFrame is cached again, and stays cached.
    batch = (
        context.data_sources.add_spark("lake", persist=False)
        .add_dataframe_asset("frame")
        .add_batch_definition_whole_dataframe("all")
    )
    suite = context.suites.add(
        gx.ExpectationSuite("gate", expectations=[_expectation(gx, c) for c in checks])
    )
    definition = gx.ValidationDefinition(name="gate", data=batch, suite=suite)
    return definition.run(batch_parameters={"dataframe": frame}, result_format="BOOLEAN_ONLY").results


def _expectation(gx, check: Check):
    meta = {"check": check.name}
    if check.unique:
        return gx.expectations.ExpectCompoundColumnsToBeUnique(
            column_list=list(check.unique),
            ignore_row_if="never",
            severity=_SEVERITY[check.severity],
            meta=meta,
        )
    return gx.expectations.ExpectColumnMaxToBeBetween(
        column=check.column, max_value=0, severity=_SEVERITY[check.severity], meta=meta
    )


_SEVERITY = {"error": "critical", "warning": "warning"}


class _Quiet(warnings.catch_warnings):
    """No warnings and no log lines of the library on the terminal; its findings are our rows."""

    def __enter__(self):
        entered = super().__enter__()
        warnings.simplefilter("ignore")
        self._logger = logging.getLogger("great_expectations")
        self._level = self._logger.level
        self._logger.setLevel(logging.CRITICAL)
        return entered

    def __exit__(self, *exception):
        self._logger.setLevel(self._level)
        return super().__exit__(*exception)
