"""The systemd units: verified by systemd itself where it is there, their commands by the real command line, their sandbox by its score."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.app.commands import throttlescope
from throttlescope.app.config import load_settings

UNITS = Path(__file__).parents[2] / "deploy" / "systemd"
SERVICES = sorted(UNITS.glob("*.service"))
TIMERS = sorted(UNITS.glob("*.timer"))
COMMAND = "/opt/throttlescope/bin/throttlescope"
#: By ``systemd-analyze security``, from 0 (nothing is exposed) to 10. Without the sandbox it is 9.6.
WORST_EXPOSURE = 1.5


@pytest.fixture
def installed(tmp_path):
    """A root in which the units are where people put them, with the machine's own units and a program at the path that they name."""
    if shutil.which("systemd-analyze") is None:
        pytest.skip("no systemd-analyze: apt-get install systemd")
    own = tmp_path / "etc" / "systemd" / "system"
    shutil.copytree(UNITS, own, ignore=shutil.ignore_patterns("*.env", "*.toml", "*.conf", "*.md"))
    shutil.copytree(UNITS / "throttlescope-.service.d", own / "throttlescope-.service.d", dirs_exist_ok=True)
    shutil.copytree("/usr/lib/systemd/system", tmp_path / "usr" / "lib" / "systemd" / "system", symlinks=True)
    program = tmp_path / COMMAND.lstrip("/")
    program.parent.mkdir(parents=True)
    shutil.copy("/bin/true", program)
    return tmp_path


def analyze(*arguments):
    return subprocess.run(["systemd-analyze", *arguments], capture_output=True, text=True, timeout=60, check=False)  # fmt: skip


def commands(file):
    return [
        line.removeprefix("ExecStart=")
        for line in file.read_text().splitlines()
        if line.startswith("ExecStart=")
    ]


@pytest.mark.long
def test_systemd_accepts_the_units(installed):
    names = [file.name for file in (*SERVICES, *TIMERS)]
    done = analyze("verify", "--man=no", f"--root={installed}", *names)
    assert (done.returncode, done.stderr) == (0, "")
    broken = installed / "etc" / "systemd" / "system" / SERVICES[0].name
    broken.write_text(broken.read_text().replace("[Service]", "[Service]\nRestrt=no"))
    assert "Restrt" in analyze("verify", "--man=no", f"--root={installed}", broken.name).stderr


@pytest.mark.long
def test_services_expose_little(installed):
    for file in SERVICES:
        done = analyze("security", "--offline=true", f"--root={installed}", "--no-pager", file.name)
        exposure = float(re.search(r"Overall exposure level for \S+: ([0-9.]+)", done.stdout)[1])
        assert exposure <= WORST_EXPOSURE, done.stdout


def test_every_timer_has_its_service():
    assert {file.stem for file in TIMERS} == {
        file.stem for file in SERVICES if "Type=oneshot" in file.read_text()
    }
    assert len(TIMERS) == 3


@pytest.mark.long
@pytest.mark.parametrize("file", SERVICES, ids=lambda file: file.stem)
def test_commands_are_the_command_lines(file):
    lines = commands(file)
    assert lines
    for line in lines:
        program, *words = line.split()
        assert program == COMMAND
        words = [word for word in words if word != "$SERVE_OPTIONS"]
        outcome = throttlescope(*words, "--help")
        assert outcome.code == 0, (line, outcome.err)
        assert {word for word in words if word.startswith("--")} <= set(re.findall(r"--[a-z-]+", outcome.out))


def test_variables_have_values():
    """Those of a command line are set in the unit itself, so that the file of the environment may be missing."""
    used = set()
    for file in SERVICES:
        set_here = set(
            re.findall(r"(\w+)=", " ".join(re.findall(r"^Environment=(.*)$", file.read_text(), re.MULTILINE)))
        )
        needed = set(re.findall(r"\$\{(\w+)\}", file.read_text()))
        assert needed <= set_here, file.name
        used |= needed
    assert used
    offered = (UNITS / "throttlescope.env").read_text()
    assert all(f"#{name}=" in offered for name in used)


def test_configuration_is_read_by_throttlescope():
    settings = load_settings(UNITS / "throttlescope.toml")
    assert str(settings.lake) == "/var/lib/throttlescope/lake"
    assert list(settings.clusters) == ["pulsar"]
