"""The one operator of these DAGs: in, a `Call`; out, the command's output in the task's log, and an end that Airflow understands.

It runs the command as a process of its own, without a shell. A failure is one line, the command's own; one that another try
cannot mend (usage, a gate) fails the task at once, whatever tries are left.
"""

from __future__ import annotations

import ctypes
import functools
import os
import shlex
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Container, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from airflow.sdk import BaseOperator
from airflow.sdk.exceptions import AirflowException, AirflowFailException
from commands import (
    EXIT_WORDS,
    FINAL,
    LOG_FORMAT,
    Call,
    Program,
    Report,
    SettingError,
    begins,
    reason,
    report,
)

if TYPE_CHECKING:
    from airflow.sdk import Context

_PR_SET_PDEATHSIG = 1


class CommandOperator(BaseOperator):
    """Run one command of throttlescope.

    Parameters
    ----------
    call : Call
        The command; its templates are filled in here. The event of an asset among the outlets holds the range that the call covers.
    final : container of int
        Exit codes after which the task is not tried again.
    """

    template_fields: Sequence[str] = ("arguments", "covers")
    ui_color = "#dbeafe"

    def __init__(self, *, call: Call, final: Container[int] = FINAL, **kwargs) -> None:
        super().__init__(**kwargs)
        self.call, self.final = call, final
        self.arguments = list(call.arguments)
        self.covers = list(call.covers or ())
        self._process: subprocess.Popen[bytes] | None = None
        self._begins: str | None = None

    def execute(self, context: Context) -> None:
        try:
            line = Program.from_environment().line(self.call, self.arguments)
        except SettingError as error:
            raise AirflowFailException(str(error)) from None
        self.log.info("Running: %s", shlex.join(line))
        with tempfile.TemporaryDirectory(prefix="throttlescope-task-") as folder:
            try:
                self._process = _started(line, folder)
            except OSError as error:
                raise AirflowFailException(
                    f"{line[0]} cannot be started: {error.strerror}. "
                    "Fix: set THROTTLESCOPE_COMMAND to the path of the command in the environment of Airflow's workers"
                ) from None
            ended_by = reason(self._reports())
            code = self._process.wait()
        if code:
            end = f"ended by signal {-code}" if code < 0 else f"exit code {code}: {EXIT_WORDS.get(code, '?')}"
            if code in self.final:
                raise AirflowFailException(f"{ended_by} ({end}; not tried again)")
            raise AirflowException(f"{ended_by} ({end})")
        if self._begins is not None:
            context["ti"].xcom_push("begins", self._begins)
        for asset in self.outlets if self.covers else ():
            context["outlet_events"][asset].extra.update(start=self.covers[0], end=self.covers[1])

    def on_kill(self) -> None:
        """End the command and all that it started, when the task is cleared, marked or times out."""
        if self._process is not None and self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGTERM)

    def _reports(self) -> Iterator[Report]:
        """Every line of output, written to the task's log as a person reads it."""
        for raw in self._process.stdout:
            one = report(raw.decode(errors="backslashreplace").rstrip())
            self.log.info("%s", one.text)
            self._begins = begins(one) or self._begins
            yield one


def final(macro: Callable[..., Any]) -> Callable[..., Any]:
    """A macro of templates whose complaint fails the task at once."""

    @functools.wraps(macro)
    def checked(*arguments: Any) -> Any:
        try:
            return macro(*arguments)
        except SettingError as error:
            raise AirflowFailException(str(error)) from None

    return checked


def _started(line: list[str], folder: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        line,
        cwd=folder,
        env={**os.environ, **LOG_FORMAT},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        preexec_fn=_end_with_the_task if sys.platform == "linux" else None,
    )


def _end_with_the_task() -> None:
    """A worker that is killed cannot end its command; the next try would run at the same time."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
