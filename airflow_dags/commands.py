"""Builds the command lines that the DAGs run: in, addresses and a range; out, arguments and one line of shell.

Nothing of Airflow and nothing of the product is imported here, so it is tested without either, and Airflow parses the
DAGs without either.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

#: Filled in by Airflow when the task starts: the hour that the run is for, as RFC 3339.
INTERVAL_START = "{{ data_interval_start | ts }}"
INTERVAL_END = "{{ data_interval_end | ts }}"


class Tag(StrEnum):
    """Every tag that a DAG here may carry."""

    INGEST = "ingest"
    PULSAR = "pulsar"


@dataclass(frozen=True)
class Program:
    """How ``throttlescope`` is called, and what it reads and writes.

    Attributes
    ----------
    command : str
        The program, with arguments of its own if it needs any, as a shell would split it.
    lake : str, optional
        Folder of the lake; None leaves it to the configuration file.
    config : str, optional
        Configuration file; it names clusters, addresses and secrets.
    prometheus, pulsar_admin, recordings : str and tuples of str, optional
        Sources that are given directly; without any, those of the configuration file.
    """

    command: str = "throttlescope"
    lake: str | None = None
    config: str | None = None
    prometheus: str | None = None
    pulsar_admin: tuple[str, ...] = ()
    recordings: tuple[str, ...] = ()

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Program:
        """Read ``THROTTLESCOPE_COMMAND``, ``_LAKE``, ``_CONFIG``, ``_PROMETHEUS``, ``_PULSAR_ADMIN``, ``_RECORDING``.

        The last two hold several values apart by blanks. Environment variables and not Airflow's own ones: those would
        be asked for from its database each time that a DAG is parsed.
        """

        def value(name: str) -> str | None:
            return environment.get(f"THROTTLESCOPE_{name}") or None

        return cls(
            command=value("COMMAND") or "throttlescope",
            lake=value("LAKE"),
            config=value("CONFIG"),
            prometheus=value("PROMETHEUS"),
            pulsar_admin=tuple((value("PULSAR_ADMIN") or "").split()),
            recordings=tuple(shlex.split(value("RECORDING") or "")),
        )

    def run(self, start: str = INTERVAL_START, end: str = INTERVAL_END) -> list[str]:
        """Arguments of ``throttlescope run`` for [start, end)."""
        arguments = [*shlex.split(self.command), "run", "--start", start, "--end", end, "--quiet"]
        for flag, value in (
            ("--lake", self.lake),
            ("--config", self.config),
            ("--prometheus", self.prometheus),
        ):
            if value:
                arguments += [flag, value]
        for url in self.pulsar_admin:
            arguments += ["--pulsar-admin", url]
        for recording in self.recordings:
            arguments += ["--recording", recording]
        return arguments


def shell_line(arguments: list[str]) -> str:
    """One line of shell in which every argument stays one argument, whatever it holds."""
    return "exec " + shlex.join(arguments)
