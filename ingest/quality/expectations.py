"""Great Expectations at work. In: a frame of counted faults and checks. Out: which checks do not hold.

The library takes seconds to import and by default writes progress bars, so it is imported only when a gate runs and
is kept quiet. Its context lives in memory; nothing is written and nothing is sent anywhere.
"""

from __future__ import annotations

import logging
import os
import threading
import warnings
from collections.abc import Sequence
from typing import Any

from throttlescope.ingest.core.errors import GateError
from throttlescope.ingest.quality.checks import GateCheck
from throttlescope.ingest.quality.frames import Frame

_IMPORT_LOCK = threading.Lock()
_DEFINITIONS: dict[str, Any] = {}


def failing(frame: Frame, checks: Sequence[GateCheck]) -> list[GateCheck]:
    """Return the checks that fail for ``frame``, in the order given.

    Only yes or no is requested: Great Expectations' details take twice the jobs and know no clusters, and
    :mod:`findings` counts what failed in one job.

    Raises
    ------
    GateError
        A check could not be evaluated, such as for a missing column or one of another type. Great Expectations reports
        that like an expectation that does not hold, and takes a column of NULLs for one that does; a gate that is
        broken must look like neither.
    """
    check_columns(frame, checks)
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


def check_columns(frame: Frame, checks: Sequence[GateCheck]) -> None:
    """Refuse checks whose columns the frame does not have, or not as whole numbers.

    Raises
    ------
    GateError
    """
    types = frame.types
    for check in checks:
        needed = [check.column, *check.unique, *(column for column, _ in check.not_judged)]
        for column in needed:
            if column not in types:
                raise GateError(
                    f"The check {check.name} could not be evaluated",
                    got=f"no column {column}",
                    expected="one of " + ", ".join(types),
                )
        if types[check.column] != "integer":
            raise GateError(
                f"The check {check.name} could not be evaluated",
                got=f"{check.column} of type {types[check.column]}",
                expected="a column of counts",
            )


def _import():
    with _IMPORT_LOCK:
        os.environ.setdefault("GX_ANALYTICS_ENABLED", "False")
        import great_expectations

    return great_expectations


def _validate(frame: Frame, checks: Sequence[GateCheck]) -> list:
    gx = _import()
    suite = gx.ExpectationSuite("gate", expectations=[_expectation(gx, check) for check in checks])
    # The batch validates itself: a validation definition would first write suite and results into stores in memory.
    batch = _definition(gx, frame.source).get_batch(batch_parameters={"dataframe": frame.data})
    return batch.validate(suite, result_format="BOOLEAN_ONLY").results


def _definition(gx, source: str):
    """Where frames go. The definition of this process is made once; that of Spark each time, because it keeps a session."""
    if source == "pandas" and source in _DEFINITIONS:
        return _DEFINITIONS[source]
    from great_expectations.data_context.types.base import ProgressBarsConfig

    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = ProgressBarsConfig(globally=False, metric_calculations=False)
    if source == "spark":
        # persist=False: by default the whole DataFrame is cached again, and stays cached.
        lake = context.data_sources.add_spark("lake", persist=False)
    else:
        lake = context.data_sources.add_pandas("lake")
    definition = lake.add_dataframe_asset("frame").add_batch_definition_whole_dataframe("all")
    if source == "pandas":
        _DEFINITIONS[source] = definition
    return definition


def _expectation(gx, check: GateCheck):
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
