"""Scenario files: in, YAML; out, scenarios, or one line with file, field and reason."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from throttlescope.ingest.core.errors import InputError
from throttlescope.models.throttling.scenario.scenario import Scenario
from throttlescope.models.throttling.scenario.yaml_text import read_yaml


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
        scenario = Scenario.model_validate(read_yaml(path.read_text(encoding="utf-8")))
    except (yaml.YAMLError, ValueError) as error:  # what is no UTF-8 and what does not fit are ValueErrors
        raise ScenarioError(f"{path.name}: {one_line(error)}") from error
    if named_as_file and scenario.name != path.stem:
        raise ScenarioError(f"{path.name}: name: {scenario.name} is not the file's name")
    return scenario


def load_scenarios(folder: Path) -> list[Scenario]:
    """Read every scenario of a folder, in the order of their names."""
    return [load_scenario(path) for path in sorted(folder.glob("*.yaml"))]


def one_line(error: Exception) -> str:
    """Say in one line what is wrong, each field by its place in the file."""
    if not isinstance(error, ValidationError):
        return " ".join(str(error).split())
    found = error.errors()
    # A list that has lost its only, wrong, item is then too short as well.
    inner = {item["loc"][:depth] for item in found for depth in range(1, len(item["loc"]))}
    return "; ".join(
        _fault(item) for item in found if item["type"] != "too_short" or item["loc"] not in inner
    )


def _fault(item: Mapping[str, Any]) -> str:
    place = ".".join(str(part) for part in item["loc"])
    if item["type"] == "extra_forbidden":
        words = "no such field (refused, nothing acts on it)"
    else:
        words = item["msg"].removeprefix("Value error, ")
        if isinstance(item["input"], bool | int | float | str):
            words += f", got {item['input']!r:.60}"
    return f"{place}: {words}" if place else words
