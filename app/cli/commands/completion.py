"""``throttlescope completion``: the script that lets a shell complete commands, options and their choices."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

#: Set by the script when the shell wants words; the program answers with them and does nothing else.
COMPLETE_VARIABLE = "_THROTTLESCOPE_COMPLETE"


class CompletionShell(StrEnum):
    bash = "bash"
    zsh = "zsh"
    fish = "fish"


ShellName = Annotated[CompletionShell, typer.Argument(metavar="SHELL", help="bash, zsh or fish.")]


def register(app: typer.Typer) -> None:
    app.command(short_help="Print the completion script of a shell.")(completion)


def completion(shell: ShellName) -> None:
    """Print the script that completes commands, options and choices in a shell.

    bash: source <(throttlescope completion bash) in ~/.bashrc. zsh: the same with zsh in ~/.zshrc, after compinit. fish: throttlescope
    completion fish > ~/.config/fish/completions/throttlescope.fish
    """
    print(script(shell))


def script(shell: str) -> str:
    """The completion script of ``bash``, ``zsh`` or ``fish``."""
    from typer.completion import get_completion_script

    return get_completion_script(prog_name="throttlescope", complete_var=COMPLETE_VARIABLE, shell=shell)


def prepare() -> None:
    """Make Typer able to answer the scripts. By itself it does so only for its own options, which edit a shell's start-up files."""
    from typer.completion import get_completion_inspect_parameters

    get_completion_inspect_parameters()
