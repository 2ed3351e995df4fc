"""``throttlescope users``: who may log in to ``throttlescope serve``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from throttlescope.app.cli.options import Debug, Format, FormatOption
from throttlescope.app.cli.settings import CommandOptions

UsersFile = Annotated[
    Path, typer.Option("--file", metavar="FILE", help="The file of users, as serve --users takes it.")
]
Name = Annotated[str, typer.Argument(metavar="NAME", help="The name to log in with.")]


def register(app: typer.Typer) -> None:
    family = typer.Typer(help="Manage who may log in to throttlescope serve.", no_args_is_help=True)
    family.command("add", short_help="Add a user, or change a password.")(add)
    family.command("remove", short_help="Remove a user.")(remove)
    family.command("list", short_help="Print the users of the file.")(list_users)
    app.add_typer(family, name="users")


def add(name: Name, file: UsersFile, debug: Debug = False) -> None:
    """Add a user to the file of users, or set a new password; the file is created if it does not exist.

    The password is prompted for, or read from the first line of standard input if that is not a terminal. Only its hash
    (scrypt) is stored. A running server uses the change from the next request on.
    """
    from throttlescope.app.server.security.users import add_user
    from throttlescope.models.messages.catalogue import sentence

    is_new = add_user(file, name, _password())
    if is_new:
        print(sentence("tables.users.added", name=name, file=file), file=sys.stderr)
    else:
        print(sentence("tables.users.changed", name=name, file=file), file=sys.stderr)


def remove(name: Name, file: UsersFile, debug: Debug = False) -> None:
    """Remove a user from the file of users; a running server refuses them from the next request on."""
    from throttlescope.app.server.security.users import remove_user
    from throttlescope.models.messages.catalogue import sentence

    remove_user(file, name)
    print(sentence("tables.users.removed", name=name, file=file), file=sys.stderr)


def list_users(
    context: typer.Context, file: UsersFile, format: FormatOption = Format.table, debug: Debug = False
) -> None:
    """Print the names in the file of users, one per line."""
    from throttlescope.app.cli.tables.users import write_users
    from throttlescope.app.server.security.users import read_users

    write_users(sorted(read_users(file)), CommandOptions(context))


def _password() -> str:
    """From the terminal, without showing it; else the first line of standard input."""
    if sys.stdin.isatty():
        return typer.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
    return sys.stdin.readline().rstrip("\r\n")
