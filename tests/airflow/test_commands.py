"""The command lines of the DAGs, without Airflow: every argument stays one, and the command line knows them all."""

import shlex
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airflow_dags.commands import INTERVAL_END, INTERVAL_START, Program, shell_line


def test_the_defaults_leave_sources_to_the_configuration():
    assert Program().run("2026-11-20T08:00:00+00:00", "2026-11-20T09:00:00+00:00") == [
        "throttlescope", "run", "--start", "2026-11-20T08:00:00+00:00", "--end", "2026-11-20T09:00:00+00:00", "--quiet",
    ]  # fmt: skip


def test_everything_can_be_set_by_the_environment():
    program = Program.from_environment(
        {
            "THROTTLESCOPE_COMMAND": "nice -n 5 /opt/ts/bin/throttlescope",
            "THROTTLESCOPE_LAKE": "/data/my lake",
            "THROTTLESCOPE_CONFIG": "/etc/throttlescope.toml",
            "THROTTLESCOPE_PROMETHEUS": "http://prometheus:9090",
            "THROTTLESCOPE_PULSAR_ADMIN": "http://b1:8080 http://b2:8080",
            "THROTTLESCOPE_RECORDING": "",
        }
    )
    arguments = program.run("S", "E")
    assert arguments[:5] == ["nice", "-n", "5", "/opt/ts/bin/throttlescope", "run"]
    assert arguments[arguments.index("--lake") + 1] == "/data/my lake"
    assert arguments.count("--pulsar-admin") == 2
    assert "--recording" not in arguments
    assert Program.from_environment({}) == Program()


@given(
    st.lists(
        st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20), min_size=1, max_size=5
    )
)
def test_the_shell_line_splits_into_the_arguments_again(arguments):
    assert shlex.split(shell_line(arguments))[1:] == arguments


def test_a_real_shell_sees_the_same_arguments(tmp_path):
    arguments = ["printf", r"%s\n", "a b", "$(id)", "`id`", "it's", "--x=;ls", "*"]
    line = shell_line(arguments)
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, cwd=tmp_path, check=True)
    assert done.stdout.splitlines() == arguments[2:]


def test_the_interval_reaches_the_shell_as_a_template():
    line = shell_line(Program().run())
    assert f"--start '{INTERVAL_START}' --end '{INTERVAL_END}'" in line


@pytest.mark.parametrize(
    "program",
    [
        Program(lake="l", config="c", prometheus="http://p:1", pulsar_admin=("http://a:1",)),
        Program(lake="l", recordings=("one", "two")),
    ],
)
def test_every_flag_is_one_that_the_command_has(program):
    import typer

    from throttlescope.app.cli.commands import app

    options = {name for option in typer.main.get_command(app).commands["run"].params for name in option.opts}
    flags = {argument for argument in program.run("S", "E") if argument.startswith("--")}
    assert flags <= options
