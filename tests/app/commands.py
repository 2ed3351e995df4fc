"""How tests run a command: in, arguments; out, its exit code, stdout and stderr."""

from __future__ import annotations

from dataclasses import dataclass

from typer import testing

from throttlescope.app.cli.application import app
from throttlescope.models.messages.language import DEFAULT_LANGUAGE, set_process_language


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str

    @property
    def line(self) -> str:
        """The one line on stderr; more of them, or none, is a fault."""
        (line,) = self.err.splitlines()
        return line


def throttlescope(*arguments: object) -> Outcome:
    # Whoever runs the tests may have set a width; a pipe has none.
    try:
        result = testing.CliRunner().invoke(
            app, [str(argument) for argument in arguments], prog_name="throttlescope", env={"COLUMNS": None}
        )
    finally:
        # The command's language is that of its process.
        set_process_language(DEFAULT_LANGUAGE)
    return Outcome(result.exit_code, result.stdout, result.stderr)
