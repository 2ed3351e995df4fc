"""The compiled kernel on disk is out of date as soon as any file changes that is compiled into it."""

from __future__ import annotations

import ast
import importlib
import shutil
import sys
from pathlib import Path

from throttlescope.ingest.core.compilation import sources_digest
from throttlescope.models.throttling import columns, kernel, world

KERNEL = Path(kernel.__file__).parent
#: They are plain Python: nothing of them is compiled in.
NOT_COMPILED = {"__init__", "compilation", "layout"}
#: The package itself, which counts whole, and the decorators.
NO_SOURCES = ("throttlescope.models.throttling.kernel", "throttlescope.ingest.core")


def test_stamp_depends_on_every_kernel_file(tmp_path, monkeypatch):
    shutil.copytree(KERNEL, tmp_path / "copied", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.syspath_prepend(tmp_path)
    try:
        copied = importlib.import_module("copied.simulation")
        stamps = {sources_digest(copied, (columns, world), whole_package=True)}
        files = sorted((tmp_path / "copied").glob("*.py"))
        for file in files:
            file.write_text(file.read_text() + "\n")
            stamps.add(sources_digest(copied, (columns, world), whole_package=True))
        assert sources_digest(copied, (columns,), whole_package=True) not in stamps
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] == "copied"]:
            del sys.modules[name]
    assert len(files) > 10
    assert len(stamps) == len(files) + 1


def test_stamp_names_every_module_that_is_compiled_in():
    """Modules of other packages from which compiled modules import are those that ``compiled`` is given."""
    package = "throttlescope.models.throttling"
    imported = set()
    for file in KERNEL.glob("*.py"):
        if file.stem in NOT_COMPILED:
            continue
        for node in ast.walk(ast.parse(file.read_text())):
            if not isinstance(node, ast.ImportFrom) or node.module.startswith(NO_SOURCES):
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
