"""The page of the command line. In: the help of every command. Out: ``docs/reference/cli.md``."""

from __future__ import annotations

import typer
from typer.testing import CliRunner

from docs.generate.markdown import DOCS
from throttlescope.app.cli.application import app

PAGE = DOCS / "reference" / "cli.md"
_WIDTH = "100"


def render(page: str = "") -> str:
    """The whole page: the help of every command."""
    parts = [
        "# The command line",
        "",
        "Made from `--help` by `make docs`; a test compares it with the code.",
    ]
    for path in command_paths():
        help_text = output_of((*path, "--help")).strip()
        parts += ["", f"{'#' * min(2 + len(path) - 1, 4)} `{' '.join(path)}`", "", "```", help_text, "```"]
    return "\n".join(parts) + "\n"


def output_of(arguments: tuple[str, ...]) -> str:
    """What a command prints, in a terminal of 100 columns.

    Raises
    ------
    RuntimeError
        If the command fails.
    """
    result = CliRunner().invoke(
        app,
        list(arguments[1:]),
        prog_name=arguments[0],
        env={"COLUMNS": _WIDTH, "TERMINAL_WIDTH": _WIDTH},
        catch_exceptions=False,
    )
    if result.exit_code:
        raise RuntimeError(f"{' '.join(arguments)}: {result.stderr}")
    return result.stdout


def command_paths() -> list[tuple[str, ...]]:
    """Every command as its words, sorted: ``("throttlescope", "rules", "export")``."""
    return [("throttlescope",), *_paths(typer.main.get_command(app), ("throttlescope",))]


def _paths(command, prefix: tuple[str, ...]):
    for name, inner in sorted(getattr(command, "commands", {}).items()):
        yield (*prefix, name)
        yield from _paths(inner, (*prefix, name))
