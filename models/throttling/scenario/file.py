"""Scenario files: in, YAML; out, scenarios, or one line with file, field and reason."""

from __future__ import annotations

from pathlib import Path

import yaml
from pydantic import ValidationError

from throttlescope.ingest.errors import InputError
from throttlescope.models.throttling.scenario.scenario import Scenario


class ScenarioError(InputError):
    """A scenario file that cannot be run; the message names file and field."""


def load_scenario(path: Path, *, named_as_file: bool = True) -> Scenario:
    """Read and check one scenario file.

    Parameters
    ----------
    path
        The YAML file.
    named_as_file
        The scenario's name must be the file's, as in the lab's folder.

    Raises
    ------
    ScenarioError
        One line with file, field and reason.
    """
    try:
        scenario = Scenario.model_validate(yaml.safe_load(path.read_text()))
    except (yaml.YAMLError, ValidationError, UnicodeDecodeError) as error:
        raise ScenarioError(f"{path.name}: {one_line(error)}") from error
    if named_as_file and scenario.name != path.stem:
        raise ScenarioError(f"{path.name}: name: {scenario.name} is not the file's name")
    return scenario


def load_scenarios(folder: Path) -> list[Scenario]:
    """Read every scenario of a folder, in the order of their names."""
    return [load_scenario(path) for path in sorted(folder.glob("*.yaml"))]


def one_line(error: Exception) -> str:
    """Say in one line what is wrong, each field by its place in the file."""
    if isinstance(error, ValidationError):
        parts = []
        for item in error.errors():
            place = ".".join(str(part) for part in item["loc"])
            words = (
                "no such field (refused, nothing acts on it)"
                if item["type"] == "extra_forbidden"
                else item["msg"]
            )
            parts.append(f"{place}: {words}" if place else words)
        return "; ".join(parts)
    return " ".join(str(error).split())
