"""Builds the command lines that the DAGs run: in, addresses and a range; out, lists of arguments.

Nothing of Airflow and nothing of the product is imported here, so it is tested without either, and Airflow parses the
DAGs without either.
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from types import MappingProxyType
from typing import Any, NamedTuple

#: Filled in by Airflow when the task starts: the range that the run is for, as RFC 3339.
INTERVAL_START = "{{ data_interval_start | ts }}"
INTERVAL_END = "{{ data_interval_end | ts }}"

#: From where on a run of ``ingest_hourly`` has brought what was not there before; ``read_from`` is a macro of its DAG.
READ_START = "{{ read_from(data_interval_start, ti.xcom_pull(task_ids='ingest', key='begins'), ti.get_previous_dagrun()) }}"

#: Set for every command: what it reports comes as one JSON object per line, which :func:`report` reads.
LOG_FORMAT = {"THROTTLESCOPE_LOG_FORMAT": "json"}
#: How much ``ingest`` reads again before its watermark (``throttlescope.ingest.pull.watermarks.OVERLAP_MS``).
OVERLAP = timedelta(minutes=15)

#: The same of a run that assets have triggered; ``covered`` is a macro of its DAG.
COVERED_START = "{{ covered(triggering_asset_events, params).start }}"
COVERED_END = "{{ covered(triggering_asset_events, params).end }}"

#: Exit codes after which another try would end the same way: usage or input, a gate.
FINAL = (2, 3)
EXIT_WORDS = {
    1: "it failed",
    2: "usage or input is wrong",
    3: "a gate stopped it",
    4: "a source cannot be reached",
}


class Tag(StrEnum):
    """Every tag that a DAG here may carry."""

    PULSAR = "pulsar"
    INGEST = "ingest"
    DIAGNOSIS = "diagnosis"
    FORECAST = "forecast"
    REVIEW = "review"
    BY_HAND = "by-hand"


class SettingError(ValueError):
    """The environment does not say enough to run a command; the text says what is missing and where it goes."""


class Covered(NamedTuple):
    """A range [start, end) as RFC 3339."""

    start: str
    end: str


@dataclass(frozen=True)
class Call:
    """One command and its own arguments, which may hold templates of Airflow.

    Attributes
    ----------
    arguments : tuple of str
        The command first. One that is empty once it is filled in is left out.
    source, admin : bool
        It asks Prometheus, or the admin API as well, so it gets their addresses.
    spark : bool
        It starts Spark, so it may run on a cluster.
    covers : Covered, optional
        The range that it brings up to date; it becomes part of its asset's event.
    """

    arguments: tuple[str, ...]
    source: bool = False
    admin: bool = False
    spark: bool = False
    covers: Covered | None = None


def source_freshness(end: str = INTERVAL_END, max_age: str = "10m") -> Call:
    """Whether the source's newest samples reach up to ``max_age`` before ``end``."""
    return Call(("freshness", "--source", "--at", end, "--max-age", max_age), source=True)


def lake_freshness(end: str = INTERVAL_END, max_age: str = "2h") -> Call:
    """Whether the lake's newest verdicts reach up to ``max_age`` before ``end``."""
    return Call(("freshness", "--at", end, "--max-age", max_age))


def ingest(start: str = INTERVAL_START, end: str = INTERVAL_END) -> Call:
    """Samples and limits up to ``end``, from where the source was read to, at ``start`` the first time, checked by the gates."""
    arguments = ("ingest", "--since-watermark", "--start", start, "--end", end)
    return Call(arguments, source=True, admin=True, spark=True)


def gates(names: Iterable[str], start: str, end: str) -> Call:
    """What gates find in the lake in [start, end); one that finds an error stops whatever would come behind it."""
    chosen = [word for name in names for word in ("--gate", name)]
    arguments = ("quality", "check", "--start", start, "--end", end, *chosen)
    return Call(arguments, spark=True, covers=Covered(start, end))


def diagnose(start: str = COVERED_START, end: str = COVERED_END) -> Call:
    """Signals, verdicts and what follows from them in [start, end), from samples that the lake holds.

    And of other hours that were read and that no run has come to: a read that failed in the middle reports no range,
    and a run that assets trigger knows only the first of several updates that came meanwhile.
    """
    return Call(("diagnose", "--missed", "--start", start, "--end", end), spark=True)


def forecast(end: str = INTERVAL_END) -> Call:
    """Drains and deadlines as they are seen at ``end``."""
    return Call(("forecast", "--at", end))


def anomalies(start: str = INTERVAL_START, end: str = INTERVAL_END) -> Call:
    """What was unusual in [start, end) compared with the weeks before, written into the lake."""
    return Call(("anomalies", "--store", "--start", start, "--end", end), spark=True)


def review(start: str = INTERVAL_START, end: str = INTERVAL_END) -> Call:
    """How forecasts, verdicts and limits of [start, end) did."""
    return Call(("review", "--start", start, "--end", end))


def backfill(start: str, end: str, chunk: str, dry_run: str) -> Call:
    """A long range in chunks.

    Parameters
    ----------
    dry_run : str
        ``--dry-run``, or nothing.
    """
    # In one piece with its flag, what a person typed can never be read as another flag.
    arguments = ("backfill", f"--start={start}", f"--end={end}", f"--chunk={chunk}", dry_run)
    return Call(arguments, source=True, admin=True, spark=True)


class Report(NamedTuple):
    """One line of a command's output.

    Attributes
    ----------
    text : str
        What a person reads of it.
    event : str, optional
        Its name, where the command reports something; None for any other line.
    facts : dict
        The fields of the report.
    """

    text: str
    event: str | None = None
    facts: Mapping[str, Any] = MappingProxyType({})


def report(line: str) -> Report:
    """Read one line of output: a JSON object with ``event`` and ``message`` is a report of the command."""
    if line.startswith("{"):
        with contextlib.suppress(ValueError):
            facts = json.loads(line)
            if isinstance(facts.get("event"), str) and isinstance(facts.get("message"), str):
                return Report(facts["message"].strip(), facts["event"], facts)
    return Report(line)


def begins(one: Report) -> str | None:
    """Where ``ingest`` begins to read, as RFC 3339, from the report of it; None for any other report."""
    if one.event != "since_watermark":
        return None
    return datetime.fromtimestamp(one.facts["start_ms"] / 1000, UTC).isoformat()


def read_from(start: datetime, begun: str | None, previous: Any) -> str:
    """The full hour from which on a run has brought what was not there before: the earliest of three.

    Parameters
    ----------
    start : datetime
        Start of the run's own interval.
    begun : str, optional
        Where its last try began to read: earlier than ``start`` where hours were missed.
    previous : DagRun, optional
        The run before. A try that was killed after some of the missed hours leaves the others to the next try; all of them
        lie behind the end of the run before.
    """
    found = [start]
    if begun is not None:
        found.append(datetime.fromisoformat(begun) + OVERLAP)
    if previous is not None and previous.data_interval_end is not None:
        found.append(previous.data_interval_end)
    return min(found).astimezone(UTC).replace(minute=0, second=0, microsecond=0).isoformat()


def covered(events: Mapping[Any, Iterable[Any]], params: Mapping[str, Any]) -> Covered:
    """The range that a run triggered by assets is for: from its parameters, else all that the events cover.

    Parameters
    ----------
    events : mapping
        Asset to its events; the ``extra`` of an event holds ``start`` and ``end`` as RFC 3339.
    params : mapping
        ``start`` and ``end`` of a run by hand; None where they were not given.

    Raises
    ------
    SettingError
        Neither says a range.
    """
    start, end = params.get("start"), params.get("end")
    if start and end:
        return Covered(start, end)
    if start or end:
        raise SettingError(
            f"A run by hand needs start and end; got {'start' if start else 'end'} alone. Fix: give both"
        )
    extras = [event.extra for of_asset in events.values() for event in of_asset]
    ranges = [(extra["start"], extra["end"]) for extra in extras if extra.get("start") and extra.get("end")]
    if not ranges:
        raise SettingError(
            "Nothing says which hours to diagnose: no asset event with start and end, and no parameters. "
            "Fix: trigger the DAG with the parameters start and end"
        )
    return Covered(
        min((low for low, _ in ranges), key=datetime.fromisoformat),
        max((high for _, high in ranges), key=datetime.fromisoformat),
    )


@dataclass(frozen=True)
class Program:
    """How ``throttlescope`` is called, and what it reads and writes.

    Attributes
    ----------
    command : str
        The program, with arguments of its own if it needs any, as a shell would split it.
    spark_submit : str, optional
        What starts the commands that use Spark instead, such as ``spark-submit --master URL FILE``.
    master : str, optional
        Spark master that those commands are given; None: the configuration's, else this machine.
    lake : str, optional
        The lake; None leaves it to the configuration file.
    config : str, optional
        Configuration file; it names clusters, addresses and secrets.
    prometheus, pulsar_admin, recordings : str and tuples of str, optional
        Sources that are given directly; without any, those of the configuration file.
    """

    command: str = "throttlescope"
    spark_submit: str | None = None
    master: str | None = None
    lake: str | None = None
    config: str | None = None
    prometheus: str | None = None
    pulsar_admin: tuple[str, ...] = ()
    recordings: tuple[str, ...] = ()

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Program:
        """Read ``THROTTLESCOPE_COMMAND``, ``_SPARK_SUBMIT``, ``_MASTER``, ``_LAKE``, ``_CONFIG``, ``_PROMETHEUS``,
        ``_PULSAR_ADMIN``, ``_RECORDING``.

        The last two hold several values apart by blanks. They are read where a task runs, when it starts: what is missing
        is reported in the log of the task, and a change needs no DAG to be parsed again.
        """

        def value(name: str) -> str | None:
            return environment.get(f"THROTTLESCOPE_{name}", "").strip() or None

        return cls(
            command=value("COMMAND") or "throttlescope",
            spark_submit=value("SPARK_SUBMIT"),
            master=value("MASTER"),
            lake=value("LAKE"),
            config=value("CONFIG"),
            prometheus=value("PROMETHEUS"),
            pulsar_admin=tuple((value("PULSAR_ADMIN") or "").split()),
            recordings=tuple(shlex.split(value("RECORDING") or "")),
        )

    def line(self, call: Call, arguments: Sequence[str] | None = None) -> list[str]:
        """All arguments of a call, the program's own first.

        Parameters
        ----------
        arguments : sequence of str, optional
            Those of the call with its templates filled in.

        Raises
        ------
        SettingError
            The environment does not say where the lake or the source is.
        """
        self._check(call)
        submitted = call.spark and self.spark_submit is not None
        line = shlex.split(self.spark_submit if submitted else self.command)
        # A recording is read whole; it has no watermark to begin at.
        left_out = ("", "--since-watermark") if self.recordings else ("",)
        line += [argument for argument in (arguments or call.arguments) if argument not in left_out]
        flags = [("--lake", self.lake), ("--config", self.config)]
        if call.spark and not submitted:
            flags.append(("--master", self.master))
        if call.source:
            flags.append(("--prometheus", self.prometheus))
            flags += [("--recording", recording) for recording in self.recordings]
        if call.admin:
            flags += [("--pulsar-admin", url) for url in self.pulsar_admin]
        for flag, value in flags:
            line += [flag, value] if value else []
        return line

    def _check(self, call: Call) -> None:
        where = "in the environment of Airflow's workers"
        if not self.lake and not self.config:
            raise SettingError(
                "Neither THROTTLESCOPE_LAKE nor THROTTLESCOPE_CONFIG is set: nothing says where the lake is. "
                f"Fix: set one of them {where}"
            )
        # A task runs in a folder that is removed with it.
        for name, path in (("LAKE", self.lake), ("CONFIG", self.config)):
            if path and "://" not in path and not os.path.isabs(path):
                raise SettingError(
                    f"THROTTLESCOPE_{name} is relative: {path}. Fix: write the path from the root {where}"
                )
        if call.source and not (self.config or self.prometheus or self.recordings):
            raise SettingError(
                "Neither THROTTLESCOPE_CONFIG nor THROTTLESCOPE_PROMETHEUS is set: nothing says what to read. "
                f"Fix: set one of them {where}"
            )


def reason(reports: Iterable[Report]) -> str:
    """Why a command ended: its report of the failure; where there is none, the last line of its output."""
    last = failure = ""
    for one in reports:
        last = one.text.strip() or last
        if one.event == "failed":
            failure = one.text
    return failure or last or "the command printed nothing"
