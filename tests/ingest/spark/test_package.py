"""What goes into the archive for executors. Whether it is enough for a task is tested on a cluster, in tests/cluster."""

import ast
import os
import re
import stat
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.spark import package

ROOT = Path(__file__).parents[3]
LOCK = re.compile(r"^([a-zA-Z0-9_.-]+)==([^ ;]+)", re.MULTILINE)


@pytest.mark.long
def test_versions_are_the_locked_ones():
    locked = {}
    for name, version in LOCK.findall((ROOT / "requirements.lock").read_text()):
        locked.setdefault(package._normal(name), set()).add(version)
    found = {package._normal(one.name): one.version for one in package.distributions(for_driver=True)}
    del found["throttlescope"]
    assert len(found) > 40
    assert {name: version for name, version in found.items() if version not in locked.get(name, ())} == {}


@pytest.mark.study
def test_archive_contains_imports_of_tasks():
    """A new dependency has to be in the archive, or among those that only a driver imports."""
    there = {package._normal(one.name) for one in package.distributions()}
    known = there | package.DRIVER_ONLY | package.FROM_SPARK
    distributions = packages_distributions()
    missing = {}
    for room in ("ingest", "transforms", "models"):
        for file in (ROOT / room).rglob("*.py"):
            for name in _imported(ast.parse(file.read_text(encoding="utf-8"))):
                top = name.split(".")[0]
                if top in sys.stdlib_module_names or top in ("throttlescope", "__future__"):
                    continue
                if not {package._normal(one) for one in distributions.get(top, ())} & known:
                    missing[top] = str(file.relative_to(ROOT))
    assert missing == {}


def test_executors_get_no_pages_or_gates():
    names = {package._normal(one.name) for one in package.distributions()}
    assert {"throttlescope", "pyarrow", "numba", "numpy", "deltalake", "pandas"} <= names
    assert not names & (package.DRIVER_ONLY | package.FROM_SPARK | {"flask", "pytest", "playwright"})


def test_tests_and_headers_are_left_out():
    for name in (
        "numpy/tests/a.py",
        "pyarrow/include/x/y.hpp",
        "a/__pycache__/b.pyc",
        "a.pyi",
        "tests/x.py",
        "x/lib.a",
    ):
        assert package._LEFT_OUT.search(name), name
    for name in ("numpy/testing/a.py", "pyarrow/lib.so", "a/latest/b.py", "numba/core/include_paths.py"):
        assert not package._LEFT_OUT.search(name), name


@pytest.mark.parametrize("name", ["package.zip", "package", "package.tar"])
def test_unsupported_archive_name_is_refused(tmp_path, name):
    """One that Spark does not unpack."""
    with pytest.raises(InputError, match=r"\.tar\.gz"):
        package.build_package(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def launcher(folder: Path) -> Path:
    python = folder / "environment" / "bin" / "python"
    python.parent.mkdir(parents=True)
    release = f"{sys.version_info[0]}.{sys.version_info[1]}"
    python.write_text(package._PYTHON.format(release=release))
    python.chmod(python.stat().st_mode | stat.S_IXUSR)
    return python


def run(python: Path, folder: Path, **variables: str) -> subprocess.CompletedProcess:
    path = {"PATH": "/usr/bin:/bin"}
    return subprocess.run(
        [os.path.relpath(python, folder), "-c", "import sys; print(sys.path)"],
        env=path | variables, cwd=folder, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


def test_launcher_puts_our_packages_first(tmp_path):
    python = launcher(tmp_path)
    done = run(python, tmp_path, THROTTLESCOPE_PYTHON=sys.executable, PYTHONPATH="/spark/pyspark.zip")
    assert done.returncode == 0, done.stderr
    path = ast.literal_eval(done.stdout)
    ours = path.index(str(tmp_path / "environment" / "packages"))
    assert (
        ours
        < path.index("/spark/pyspark.zip")
        < min(i for i, one in enumerate(path) if "site-packages" in one)
    )


def test_a_machine_without_that_python_is_told(tmp_path):
    other = tmp_path / "python3"
    other.write_text("#!/bin/sh\nexit 1\n")
    other.chmod(0o755)
    python = launcher(tmp_path)
    done = run(python, tmp_path, PATH=f"{tmp_path}:/nowhere", THROTTLESCOPE_PYTHON="/not/there")
    assert done.returncode == 1
    assert "THROTTLESCOPE_PYTHON" in done.stderr


def _imported(tree: ast.AST):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module
