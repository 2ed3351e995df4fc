"""Simulation of a scenario file. In: a path and changes. Out: a checked scenario, then its tables.

Everything that can be refused is refused by :func:`read_scenario`, :func:`with_broker` and :func:`check_size`; after them
only :func:`run_scenario` takes time.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

import yaml
from pydantic import ValidationError

from throttlescope.app.log import tell
from throttlescope.app.pipeline.events import Progress
from throttlescope.ingest.core.errors import InputError
from throttlescope.models.messages.catalogue import sentence
from throttlescope.models.throttling import Scenario, ScenarioError, Simulation, kernel, simulate
from throttlescope.models.throttling.bounds import check
from throttlescope.models.throttling.scenario import Broker
from throttlescope.models.throttling.scenario.file import one_line
from throttlescope.models.throttling.scenario.yaml_text import read_yaml
from throttlescope.models.throttling.tdmq import ClusterScenario, PartitionScenario
from throttlescope.models.throttling.tdmq import read_scenario as read_tdmq

TdmqScenario = ClusterScenario | PartitionScenario

#: Rows of spans and subscription partitions: the table stays below 1 GB, and JSON, which is made of objects, below 2 GB.
MAX_ROWS, MAX_JSON_ROWS = 2_000_000, 200_000


def read_scenario(path: Path) -> Scenario | TdmqScenario:
    """Read and check a scenario file; a field ``throttle`` at the top makes it one of TDMQ's.

    Raises
    ------
    ScenarioError
        One line with file, field and reason.
    """
    fields = _fields(path)
    try:
        return read_tdmq(fields) if "throttle" in fields else Scenario.model_validate(fields)
    except ValidationError as error:
        raise ScenarioError(f"{path}: {one_line(error)}") from error
    except ScenarioError as error:
        raise _named(path, error) from error


def with_broker(scenario: Scenario, engine: str | None, version: str | None) -> Scenario:
    """The scenario on another broker: ``engine`` by its name, else the one that ``version`` has by default.

    Raises
    ------
    InputError
        It is no version, or the scenario asks for something that this version does not have.
    """
    if engine is None and version is None:
        return scenario
    fields = {name: getattr(scenario.broker, name) for name in scenario.broker.model_fields_set}
    if version is not None:
        # A requested version takes precedence over the file's engine.
        fields |= {"version": version, "engine": None}
    if engine is not None:
        fields["engine"] = engine
    try:
        changed = scenario.model_copy(update={"broker": Broker.model_validate(fields)})
        # What fits the file's version may not fit another one.
        Scenario.model_validate(changed.model_dump())
    except ValidationError as error:
        if any("version" in item["loc"] for item in error.errors()):
            raise InputError(
                "--broker-version: not a version",
                got=version,
                expected="three numbers such as 4.0.3, or a milestone such as 5.0.0-M1",
            ) from None
        raise InputError(
            f"--broker-version: {version} does not fit the scenario: {one_line(error)}"
        ) from None
    return changed


def check_size(path: Path, scenario: Scenario, every_s: int, *, most_rows: int = MAX_ROWS) -> None:
    """Refuse what would take too long or too much memory.

    Parameters
    ----------
    path
        Named in the message.
    every_s
        Length of a row's span in seconds.
    most_rows
        Rows that there may be.

    Raises
    ------
    InputError
        One line that names the field or the option.
    """
    try:
        check(scenario)
    except ScenarioError as error:
        raise _named(path, error) from error
    if every_s > scenario.duration_s:
        raise InputError(
            "--every: longer than the whole timeline",
            got=f"{every_s} s",
            expected=f"at most {scenario.duration_s:g} s",
        )
    readers = sum(
        len(scenario.partitions_of(topic)) for item in scenario.subscriptions for topic in item.reads
    ) + sum(item.retry_letter is not None for item in scenario.subscriptions)
    rows = int(scenario.duration_s // every_s) * readers
    if rows > most_rows:
        smallest = math.ceil(scenario.duration_s * readers / most_rows)
        raise InputError(
            f"{path}: timeline: {scenario.duration_s:,.0f} s and {readers:,} subscription partitions give {rows:,} rows",
            expected=f"at most {most_rows:,}",
            fix=f"add --every {smallest}, or shorten the timeline",
        )


def run_scenario(path: Path, scenario: Scenario, seed: int, every_s: int) -> Simulation:
    """Run a checked scenario.

    Raises
    ------
    ScenarioError
        What waits at the same time does not fit into memory.
    """
    try:
        return simulate(scenario, seed, every_s=every_s)
    except ScenarioError as error:
        raise _named(path, error) from error
    except MemoryError as error:
        raise ScenarioError(
            f"{path}: {str(error).rstrip('.') or 'the simulation does not fit into memory'}"
        ) from error


def is_compiled() -> bool:
    """Whether this machine has compiled the kernel before, as far as its cache shows."""
    return kernel.is_compiled()


def note_compilation(progress: Progress, step: str) -> None:
    """Say in a step's line that it takes long the first time."""
    if is_compiled():
        return
    text = sentence("steps.simulate.compile")
    progress.note(text)
    if not progress.quiet and not sys.stderr.isatty():
        # Without a live line there is no other sign of progress for that minute.
        tell(f"{step}: {text}", event="note")


def _fields(path: Path) -> dict:
    try:
        fields = read_yaml(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ScenarioError(
            f"{path}: the scenario file cannot be read", got=error.strerror or str(error)
        ) from error
    except UnicodeDecodeError as error:
        raise ScenarioError(f"{path}: not a text in UTF-8", expected="a YAML file") from error
    except yaml.MarkedYAMLError as error:
        place = f"line {error.problem_mark.line + 1}: " if error.problem_mark else ""
        raise ScenarioError(f"{path}: not YAML: {place}{error.problem or one_line(error)}") from error
    except (yaml.YAMLError, ValueError) as error:
        raise ScenarioError(f"{path}: not YAML: {one_line(error)}") from error
    if not isinstance(fields, dict):
        kind = {"list": "a list", "NoneType": "nothing", "str": "a text"}.get(
            type(fields).__name__, "a value"
        )
        raise ScenarioError(f"{path}: not a scenario", got=kind, expected="fields such as format: 1")
    return fields


def _named(path: Path, error: ScenarioError) -> ScenarioError:
    return ScenarioError(f"{path}: {str(error).removesuffix('.')}")
