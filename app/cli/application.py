"""All commands in one place, and how an error becomes one line and an exit code."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from throttlescope.app.cli.commands import completion
from throttlescope.app.cli.library_errors import wrapped_error
from throttlescope.app.cli.options import session_options
from throttlescope.app.log import ENVIRONMENT_VARIABLE, LogFormat, set_up, tell
from throttlescope.ingest.core.errors import EXIT_FAILED, EXIT_INPUT, ThrottlescopeError
from throttlescope.models.messages import language

EXIT_INTERRUPTED = 130

_HELP = """Why does this Apache Pulsar subscription have a backlog: is a rate limiter holding it back, or can its
consumers not keep up?

Times are UTC. A time is given as RFC 3339 (2026-11-20T10:00:00Z), epoch seconds, now, or relative to now (-6h);
a duration as 90s, 5m or 1h30m. Backlogs count entries (batches), rates count messages or bytes.

Exit codes: 0 done, 1 failed, 2 usage or input, 3 a quality gate stopped it, 4 a source cannot be reached.
"""


#: All commands in the order of the help.
_NAMES = (
    "demo", "doctor", "run", "ingest", "diagnose", "backfill", "verdicts", "now", "analyze-backlog", "reopen", "episodes", "changes",
    "publishing", "recommend", "anomalies", "evaluate", "forecast", "review", "incident", "promql", "sql", "serve", "mcp", "completion",
    "freshness", "simulate", "whatif", "rules", "notify", "users", "quality", "quarantine", "lake", "recordings", "spark",
)  # fmt: skip
#: The module of each in ``commands``.
_MODULES = {name: name.replace("-", "_") for name in _NAMES} | {"ingest": "run"}


class _CommandsByName(Mapping[str, Any]):
    """Each command is imported and made when it is called: making all of them takes as long as starting Python."""

    def __getitem__(self, name: str) -> Any:
        if name not in _MODULES:
            raise KeyError(name)
        return _made_command(name)

    def __iter__(self) -> Iterator[str]:
        return iter(_MODULES)

    def __len__(self) -> int:
        return len(_MODULES)


@cache
def _made_command(name: str) -> Any:
    family = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    # Without it Typer would take a single command for the whole program.
    family.callback()(_nothing)
    import_module(f"throttlescope.app.cli.commands.{_MODULES[name]}").register(family)
    return typer.main.get_command(family).commands[name]


def _nothing() -> None:
    pass


class Commands(TyperGroup):
    """The command group that turns every error into one line on stderr and an exit code."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands = _CommandsByName()

    def main(self, args: Any = None, prog_name: str | None = None, **extra: Any) -> Any:
        extra["standalone_mode"] = False
        if completion.COMPLETE_VARIABLE in os.environ:
            completion.prepare()
        session_options.reset()
        try:
            code = super().main(args=args, prog_name=prog_name, **extra)
        except typer.TyperException as error:
            command = getattr(getattr(error, "ctx", None), "command_path", prog_name) or "throttlescope"
            if type(error).__name__ == "NoArgsIsHelpError":
                print(error.format_message(), file=sys.stderr)
            else:
                text = " ".join(error.format_message().split()).replace("Value error, ", "")
                text += "" if text.endswith((".", "?")) else "."
                _complain(f"{text} Fix: see {command} --help", "UsageError", EXIT_INPUT)
            code = EXIT_INPUT
        except typer.Abort:
            code = EXIT_FAILED
        sys.exit(code if isinstance(code, int) else 0)

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except ThrottlescopeError as error:
            _trace_if_debug()
            _complain(str(error), type(error).__name__, error.exit_code)
            raise typer.Exit(error.exit_code) from None
        except KeyboardInterrupt:
            _complain(
                "Interrupted; what was not committed is not in the lake. Fix: run the same command again",
                "KeyboardInterrupt",
                EXIT_INTERRUPTED,
            )
            raise typer.Exit(EXIT_INTERRUPTED) from None
        except (typer.TyperException, typer.Exit, typer.Abort, BrokenPipeError):
            raise
        except Exception as error:
            _trace_if_debug()
            if (ours := wrapped_error(error)) is not None:
                _complain(str(ours), type(ours).__name__, ours.exit_code)
                raise typer.Exit(ours.exit_code) from None
            _complain(
                f"Unexpected {_in_words(error)}. Fix: add --debug to see where, and report it",
                type(error).__name__,
                EXIT_FAILED,
            )
            raise typer.Exit(EXIT_FAILED) from None


def _trace_if_debug() -> None:
    if session_options.debug:
        import traceback

        tell(traceback.format_exc().rstrip(), event="traceback", level=logging.ERROR)


def _in_words(error: Exception) -> str:
    """Name and message on one line. Spark wraps a worker's traceback: its last line says what it was."""
    text = str(error).split("JVM stacktrace", 1)[0]
    if "Traceback (most recent call last)" in text:
        text = [line for line in text.splitlines() if line.strip()][-1]
    text = " ".join(text.split()).rstrip(".")
    return f"{type(error).__name__}: {text if len(text) <= 300 else text[:299] + '…'}"


def _complain(line: str, error: str, exit_code: int) -> None:
    tell(f"throttlescope: {line}", event="failed", level=logging.ERROR, error=error, exit_code=exit_code)


def _language(tag: str | None) -> str:
    """The language that ``--lang`` names, by default that of the environment."""
    if tag is None:
        return language.of_environment(os.environ)
    found = language.language_of(tag)
    if found is None:
        raise typer.BadParameter(f"{tag!r} is not one of {', '.join(language.LANGUAGES)}")
    return found


def _version(requested: bool) -> None:
    if requested:
        from importlib.metadata import version

        print(version("throttlescope"))
        raise typer.Exit


app = typer.Typer(
    cls=Commands,
    help=_HELP,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.callback()
def _root(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    log_format: Annotated[
        LogFormat,
        typer.Option(
            "--log-format",
            envvar=ENVIRONMENT_VARIABLE,
            help="Lines on stderr: text for people, or json, one object a line with the run's id.",
        ),
    ] = LogFormat.text,
    lang: Annotated[
        str | None,
        typer.Option(
            "--lang",
            metavar="en|zh",
            help="Language of tables, reports and exported alerts. Default: that of $LC_ALL, $LC_MESSAGES or $LANG, else English. JSON, "
            "CSV, logs and errors are English.",
        ),
    ] = None,
) -> None:
    language.set_process_language(_language(lang))
    set_up(log_format, context.invoked_subcommand or "")
