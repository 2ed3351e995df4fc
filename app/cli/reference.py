"""The pages that the command line makes. In: its help, the configuration's fields, a simulated example. Out: Markdown.

``make docs`` writes them; tests compare them with the code.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[2] / "docs"
PAGES = DOCS / "reference"
WHAT_IF = DOCS / "guides" / "what-if.md"
EXAMPLE = DOCS / "guides" / "what-if-example.yaml"
_WIDTH = "100"
_KEYS_BEGIN, _KEYS_END = "<!-- keys:", "<!-- end of keys -->"
_ANSWER_BEGIN, _ANSWER_END = "<!-- answer:", "<!-- end of answer -->"


def cli_page() -> str:
    """``docs/reference/cli.md``: the help of every command."""
    root = _root()
    parts = [
        "# The command line",
        "",
        "Made from `--help` by `make docs`; a test compares it with the code.",
    ]
    for path in (("throttlescope",), *_paths(root, ("throttlescope",))):
        parts += ["", f"{'#' * min(2 + len(path) - 1, 4)} `{' '.join(path)}`", "", "```", _help(path), "```"]
    return "\n".join(parts) + "\n"


def configuration_page(page: str) -> str:
    """``docs/reference/configuration.md`` with its table of keys regenerated."""
    from throttlescope.app.config import describe

    rows = [
        f"| `{key}` | {type_} | {default if default in ('required', 'not set') else f'`{default}`'} | {meaning} |"
        for key, type_, default, meaning in describe()
    ]
    table = "\n".join(["| key | type | default | meaning |", "|---|---|---|---|", *rows])
    return _between(page, _KEYS_BEGIN, _KEYS_END, table)


def what_if_page(page: str) -> str:
    """``docs/guides/what-if.md`` with its example simulated again."""
    answer = json.loads(_output(("throttlescope", "simulate", str(EXAMPLE), "--quiet", "--format", "json")))
    (found,) = answer["subscription_partitions"]
    rows = [_state_row(state) for state in found["states"]]
    head = (
        "| state | limit | published | dispatched | throttle events | backlog, start to end | drained after |"
    )
    rule = "|---|---|---|---|---|---|---|"
    return _between(page, _ANSWER_BEGIN, _ANSWER_END, "\n".join([head, rule, *rows]))


def _state_row(state: dict[str, Any]) -> str:
    (limit,) = state["limits"]
    events = sum(item["events"] for item in state["events"])
    backlog = state["backlog_entries"]
    drained = f"{state['drained_after_s']:,.0f} s" if state["drained"] else "no"
    cells = (
        state["state"],
        f"{limit['rate']} {limit['unit']}/s",
        f"{state['published_msg_per_s']:.0f} msg/s",
        f"{state['dispatched_msg_per_s']:.0f} msg/s",
        f"{events:,}",
        f"{backlog['start']:,} to {backlog['end']:,}",
        drained,
    )
    return f"| {' | '.join(cells)} |"


def _between(page: str, begin: str, end: str, text: str) -> str:
    """The page with ``text`` between the line of ``begin`` and that of ``end``."""
    start, stop = page.index(begin), page.index(end)
    return f"{page[: page.index(chr(10), start) + 1]}{text}\n{page[stop:]}"


def _root():
    import typer

    from throttlescope.app.cli.application import app

    return typer.main.get_command(app)


def _paths(command, prefix: tuple[str, ...]):
    for name, inner in sorted(getattr(command, "commands", {}).items()):
        yield (*prefix, name)
        yield from _paths(inner, (*prefix, name))


def _help(path: tuple[str, ...]) -> str:
    return _output((*path, "--help")).strip()


def _output(arguments: tuple[str, ...]) -> str:
    from typer.testing import CliRunner

    from throttlescope.app.cli.application import app

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


if __name__ == "__main__":
    for argument in sys.argv[1:] or (PAGES / "cli.md", PAGES / "configuration.md", WHAT_IF):
        page = Path(argument)
        if page.name == "cli.md":
            made = cli_page()
        else:
            make = what_if_page if page.name == WHAT_IF.name else configuration_page
            made = make(page.read_text(encoding="utf-8"))
        page.write_text(made, encoding="utf-8")
