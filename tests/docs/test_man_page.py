"""The manual page: formatters of the system read it without a complaint, and it has every command and option."""

import re
import shutil
import subprocess

import pytest
import typer

from docs.generate import man
from docs.generate.cli import command_paths
from throttlescope.app.cli.application import app


def shown():
    formatted = subprocess.run(
        ["groff", "-man", "-Tascii", "-P-cbou", str(man.PAGE)], capture_output=True, text=True, check=True
    )
    return " ".join(formatted.stdout.split())


@pytest.mark.long
@pytest.mark.parametrize(
    "lint",
    [("groff", "-man", "-Tutf8", "-ww", "-z"), ("mandoc", "-Tlint", "-Wwarning")],
    ids=lambda lint: lint[0],
)
def test_formatters_have_no_complaint(lint):
    if shutil.which(lint[0]) is None:
        pytest.skip(f"{lint[0]} is not installed")
    done = subprocess.run([*lint, man.PAGE], capture_output=True, text=True, check=False)
    # A date would be that of the build: two builds would differ.
    complaints = [line for line in (done.stdout + done.stderr).splitlines() if "missing date" not in line]
    assert complaints == []
    assert done.returncode in (0, 2)


@pytest.mark.long
@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
def test_formatted_page_has_every_option():
    text = shown()
    root = typer.main.get_command(app)
    for path in command_paths():
        command = root
        for name in path[1:]:
            command = command.commands[name]
        assert " ".join(path) in text
        for option in (
            name for parameter in command.params for name in parameter.opts if name.startswith("--")
        ):
            assert re.search(rf"(?<![\w-]){option}(?![\w-])", text), option


def test_text_cannot_become_a_request():
    assert man._text(".so /etc/passwd") == r"\&.so /etc/passwd"
    assert man._text("'\\fB-x\u2026") == r"\&'\efB\-x\[u2026]"
