"""The compiled kernel on disk is out of date as soon as any file changes that is compiled into it."""

from __future__ import annotations

import ast
import importlib
import shutil
import sys
from pathlib import Path

import pytest

from throttlescope.models.throttling import columns, kernel, world
from throttlescope.models.throttling.kernel.compilation import is_function_compiled, sources_hash

KERNEL = Path(kernel.__file__).parent
#: They are plain Python: nothing of them is compiled in.
NOT_COMPILED = {"__init__", "compilation", "layout"}

ENTRY = """
from throttlescope.models.throttling.kernel.compilation import cached
from tiny_kernel.rules import raised

@cached()
def run(number):
    return raised(number)
"""
RULES = """
from throttlescope.models.throttling.kernel.compilation import compiled

@compiled
def raised(number):
    return number + {more}
"""


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """A package of two files, and a function that imports it as a new process would."""
    folder = tmp_path / "tiny_kernel"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "entry.py").write_text(ENTRY)
    (folder / "rules.py").write_text(RULES.format(more=1))
    monkeypatch.syspath_prepend(tmp_path)
    # Python's own bytecode would not notice an edit of the same size in the same second.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def load():
        _forget("tiny_kernel")
        return importlib.import_module("tiny_kernel.entry").run

    yield folder, load
    _forget("tiny_kernel")


def _forget(package):
    for name in [name for name in sys.modules if name.partition(".")[0] == package]:
        del sys.modules[name]


def test_edit_of_another_module_misses_cache(tiny):
    folder, load = tiny
    run = load()
    assert not is_function_compiled(run)
    assert run(1) == 2

    run = load()
    assert is_function_compiled(run)
    assert run(1) == 2
    assert sum(run.stats.cache_hits.values()) == 1

    (folder / "rules.py").write_text(RULES.format(more=2))
    run = load()
    assert not is_function_compiled(run)
    assert run(1) == 3
    assert sum(run.stats.cache_misses.values()) == 1


def test_read_only_folder_uses_user_cache(tiny, tmp_path, monkeypatch):
    """Numba chooses the place, as for every cached function. A file in the folder's way refuses writes to root, too."""
    folder, load = tiny
    (folder / "__pycache__").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert load()(1) == 2
    again = load()
    assert Path(again.stats.cache_path).is_relative_to(tmp_path / "cache")
    assert is_function_compiled(again)


def test_stamp_depends_on_every_kernel_file(tmp_path, monkeypatch):
    shutil.copytree(KERNEL, tmp_path / "copied", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.syspath_prepend(tmp_path)
    try:
        run = importlib.import_module("copied.simulation").run_packed.py_func
        stamps = {sources_hash(run, (columns, world))}
        files = sorted((tmp_path / "copied").glob("*.py"))
        for file in files:
            file.write_text(file.read_text() + "\n")
            stamps.add(sources_hash(run, (columns, world)))
        assert sources_hash(run, (columns,)) not in stamps
    finally:
        _forget("copied")
    assert len(files) > 10
    assert len(stamps) == len(files) + 1


def test_stamp_names_every_module_that_is_compiled_in():
    """Modules of other packages from which compiled modules import are those that ``cached`` is given."""
    package = "throttlescope.models.throttling"
    imported = set()
    for file in KERNEL.glob("*.py"):
        if file.stem in NOT_COMPILED:
            continue
        for node in ast.walk(ast.parse(file.read_text())):
            if not isinstance(node, ast.ImportFrom) or node.module.startswith(f"{package}.kernel"):
                continue
            if node.module.startswith("throttlescope."):
                names = [alias.name for alias in node.names]
                imported |= (
                    {f"{package}.{name}" for name in names} if node.module == package else {node.module}
                )
    (decorator,) = [
        node.decorator_list[0]
        for node in ast.parse((KERNEL / "simulation.py").read_text()).body
        if isinstance(node, ast.FunctionDef) and node.name == "run_packed"
    ]
    given = {f"{package}.{argument.id}" for argument in decorator.args}
    assert imported == given != set()
