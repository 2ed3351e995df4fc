"""Completion in real shells: commands, options and choices, and nothing heavy is imported for it."""

import os
import pty
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.app.commands import throttlescope

BIN = Path(sys.executable).parent
#: What is typed, and words that are offered.
TYPED = [
    (("throttlescope", "verd"), {"verdicts"}),
    (("throttlescope", "verdicts", "--for"), {"--format"}),
    (("throttlescope", "verdicts", "--format", ""), {"table", "json", "csv"}),
    (("throttlescope", "rules", "exp"), {"export"}),
    (("throttlescope", "completion", ""), {"bash", "zsh", "fish"}),
    (("throttlescope", "verdicts", "--nonsense"), set()),
    # A file: the shell's own completion takes over.
    (("throttlescope", "run", "--config", "x"), set()),
]


def shell(name):
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def environment(home):
    return {"PATH": f"{BIN}:{os.environ['PATH']}", "HOME": str(home), "LC_ALL": "C.UTF-8", "TERM": "dumb"}


def output_of(arguments, home):
    done = subprocess.run(
        arguments, env=environment(home), cwd=home, capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stderr == ""
    return done.stdout


def _named(value):
    """In the order typed, or sorted: workers of a run have to collect the same names."""
    return " ".join(sorted(value) if isinstance(value, set) else value) or "nothing"


@pytest.mark.long
@pytest.mark.sampled(3)
@pytest.mark.parametrize(("words", "offered"), TYPED, ids=_named)
def test_bash_completes(words, offered, tmp_path):
    quoted = " ".join(f"'{word}'" for word in words)
    lines = output_of(
        [
            shell("bash"), "--norc", "-c",
            f"source <(throttlescope completion bash); COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; "
            "_throttlescope_completion throttlescope; "
            '[[ $(complete -p throttlescope) == *"-o default"* ]] && printf "%s\\n" "${COMPREPLY[@]}"',
        ],
        tmp_path,
    )  # fmt: skip
    assert set(filter(None, lines.splitlines())) == offered


@pytest.mark.long
@pytest.mark.sampled(3)
@pytest.mark.parametrize(("words", "offered"), TYPED[:5], ids=_named)
def test_fish_completes(words, offered, tmp_path):
    lines = output_of(
        [
            shell("fish"),
            "--no-config",
            "-c",
            f"throttlescope completion fish | source; complete -C '{' '.join(words)}'",
        ],
        tmp_path,
    )
    assert {line.partition("\t")[0] for line in lines.splitlines()} == offered


@pytest.mark.long
def test_zsh_completes_as_it_is_typed(tmp_path):
    """In a terminal, as zsh completes nowhere else."""
    zsh = shell("zsh")
    (tmp_path / ".zshrc").write_text(
        "autoload -Uz compinit; compinit -u -D; source <(throttlescope completion zsh); PS1='ready> '\n"
    )
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(tmp_path)
        os.execve(zsh, [zsh, "-i"], environment(tmp_path))  # noqa: S606
    try:
        wait_for(terminal, "ready> ")
        os.write(terminal, b"throttlescope verd\t--for\tjs\t")
        # It goes back over the space that it wrote after a word.
        assert "throttlescope verdicts --format json" in wait_for(terminal, "json").replace(" \b", "")
    finally:
        os.close(terminal)
        os.kill(child, 9)
        os.waitpid(child, 0)


def wait_for(terminal, words):
    """What a terminal shows until it shows these words."""
    seen, deadline = "", time.monotonic() + 60
    while words not in seen:
        ready, _, _ = select.select([terminal], [], [], max(deadline - time.monotonic(), 0))
        assert ready, f"{words!r} did not come: {seen!r}"
        seen += os.read(terminal, 4096).decode(errors="replace")
    return seen


def test_unknown_shell_is_a_usage_error():
    outcome = throttlescope("completion", "tcsh")
    assert (outcome.code, outcome.out) == (2, "")
    assert "'bash', 'zsh', 'fish'" in outcome.line


@pytest.mark.long
def test_completion_imports_nothing_heavy(tmp_path):
    code = (
        "import sys; from throttlescope.app.cli import main\ntry: main()\n"
        "finally: print([m for m in ('pyspark', 'pyarrow', 'pandas', 'numpy', 'duckdb', 'dash', 'rich') "
        "if m in sys.modules], file=sys.stderr)"
    )
    asked = {
        "_THROTTLESCOPE_COMPLETE": "complete_bash",
        "COMP_WORDS": "throttlescope\nverd",
        "COMP_CWORD": "1",
    }
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | asked, capture_output=True, text=True, check=True
    )
    assert (done.stdout.strip(), done.stderr.strip()) == ("verdicts", "[]")
