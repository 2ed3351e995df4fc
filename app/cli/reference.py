"""The reference pages. In: the commands' own help and the configuration's own fields. Out: Markdown.

``make docs`` writes them; a test holds them to the code.
"""

from __future__ import annotations

import sys
from pathlib import Path

PAGES = Path(__file__).parents[2] / "docs" / "reference"
_WIDTH = "100"
_KEYS_BEGIN, _KEYS_END = "<!-- keys:", "<!-- end of keys -->"


def cli_page() -> str:
    """``docs/reference/cli.md``: the help of every command."""
    root = _root()
    parts = [
        "# The command line",
        "",
        "Made from `--help` by `make docs`; a test holds it to the code.",
    ]
    for path in (("throttlescope",), *_paths(root, ("throttlescope",))):
        parts += ["", f"{'#' * min(2 + len(path) - 1, 4)} `{' '.join(path)}`", "", "```", _help(path), "```"]
    return "\n".join(parts) + "\n"


def configuration_page(page: str) -> str:
    """``docs/reference/configuration.md`` with its table of keys made anew."""
    from throttlescope.app.config import describe

    rows = [
        f"| `{key}` | {type_} | {default if default in ('required', 'not set') else f'`{default}`'} | {meaning} |"
        for key, type_, default, meaning in describe()
    ]
    table = "\n".join(["| key | type | default | meaning |", "|---|---|---|---|", *rows])
    begin, end = page.index(_KEYS_BEGIN), page.index(_KEYS_END)
    head = page[: page.index("\n", begin) + 1]
    return f"{head}{table}\n{page[end:]}"


def _root():
    import typer

    from throttlescope.app.cli.commands import app

    return typer.main.get_command(app)


def _paths(command, prefix: tuple[str, ...]):
    for name, inner in sorted(getattr(command, "commands", {}).items()):
        yield (*prefix, name)
        yield from _paths(inner, (*prefix, name))


def _help(path: tuple[str, ...]) -> str:
    from typer.testing import CliRunner

    from throttlescope.app.cli.commands import app

    result = CliRunner().invoke(
        app, [*path[1:], "--help"], prog_name=path[0], env={"COLUMNS": _WIDTH, "TERMINAL_WIDTH": _WIDTH}
    )
    return result.stdout.strip()


if __name__ == "__main__":
    for argument in sys.argv[1:] or (PAGES / "cli.md", PAGES / "configuration.md"):
        page = Path(argument)
        made = cli_page() if page.name == "cli.md" else configuration_page(page.read_text(encoding="utf-8"))
        page.write_text(made, encoding="utf-8")
