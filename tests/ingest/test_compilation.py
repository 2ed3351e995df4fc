"""Machine code on disk: shared by copies of the same sources, out of date after an edit, and never in the way."""

from __future__ import annotations

import ast
import fcntl
import importlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import throttlescope.ingest
from throttlescope.ingest.core import code_files
from throttlescope.ingest.core.code_files import CodeFiles

ROOT = Path(throttlescope.ingest.__file__).parents[1]
ROOMS = ("ingest", "transforms", "models", "app")

ENTRY = """
from throttlescope.ingest.core.compilation import compiled
from tiny_functions.rules import raised
from tiny_functions import constants, rules

@compiled(constants, rules)
def run(number):
    return raised(number) * constants.FACTOR
"""
RULES = """
from throttlescope.ingest.core.compilation import compiled_part

@compiled_part()
def raised(number):
    return number + {more}
"""


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("THROTTLESCOPE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "compiled"


@pytest.fixture
def load(tmp_path, monkeypatch, cache):
    """A package of three files, written into a folder and imported as a new process would import it."""
    # Python's own bytecode would not notice an edit of the same size in the same second.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def load(folder="one", more=1, factor=10, options=""):
        package = tmp_path / folder / "tiny_functions"
        package.mkdir(parents=True, exist_ok=True)
        (package / "__init__.py").write_text("")
        (package / "entry.py").write_text(ENTRY.replace("rules)", f"rules{options})"))
        (package / "rules.py").write_text(RULES.format(more=more))
        (package / "constants.py").write_text(f"FACTOR = {factor}\n")
        _forget()
        with monkeypatch.context() as patch:
            patch.syspath_prepend(package.parent)
            return importlib.import_module("tiny_functions.entry").run

    yield load
    _forget()


def _forget():
    for name in [name for name in sys.modules if name.partition(".")[0] == "tiny_functions"]:
        del sys.modules[name]


def hits_and_misses(run):
    stats = run.dispatcher.stats
    return sum(stats.cache_hits.values()), sum(stats.cache_misses.values())


@pytest.mark.long
def test_copy_in_another_folder_compiles_nothing(load):
    run = load("one")
    assert not run.is_compiled
    assert run(1) == 20
    assert hits_and_misses(run) == (0, 1)
    time.sleep(0.01)
    copy = load("another")
    assert copy.is_compiled
    assert copy(1) == 20
    assert hits_and_misses(copy) == (1, 0)


@pytest.mark.long
@pytest.mark.parametrize(
    ("edit", "expected"),
    [({"more": 2}, 30), ({"factor": 20}, 40), ({"options": ', error_model="numpy"'}, 20)],
)
def test_edit_misses_cache(load, edit, expected):
    """Of the function's own file, of one that it calls and of one with a constant; the old code stays for who has the old files."""
    assert load()(1) == 20
    edited = load(**edit)
    assert not edited.is_compiled
    assert edited(1) == expected
    assert hits_and_misses(edited) == (0, 1)
    assert load().is_compiled


@pytest.mark.long
def test_edit_after_import_is_not_mixed_up(load, tmp_path):
    """A server goes on running while its files are replaced: what it compiles then is code of the old ones."""
    old = load()
    (tmp_path / "one" / "tiny_functions" / "constants.py").write_text("FACTOR = 30\n")
    assert old(1) == 20
    new = load(factor=30)
    assert not new.is_compiled
    assert new(1) == 60


@pytest.mark.long
def test_each_signature_has_its_file(load, cache):
    run = load()
    assert (run(1), run(1.5)) == (20, 25.0)
    assert len(list(cache.glob("*.code"))) == 2
    again = load()
    assert (again(1.5), again(1)) == (25.0, 20)
    assert hits_and_misses(again) == (2, 0)


def test_missing_cache_folder_is_no_error(load, tmp_path):
    """A file in the folder's way refuses writes to root, too."""
    (tmp_path / "cache").write_text("")
    run = load()
    assert run(1) == 20
    assert run.dispatcher.stats.cache_path is None


def test_only_one_folder_is_created(load, tmp_path, monkeypatch):
    """The system's temporary folder is for those who have no other."""
    monkeypatch.delenv("THROTTLESCOPE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    assert load()(1) == 20
    assert list((tmp_path / "xdg" / "throttlescope" / "compiled").glob("*.code"))
    assert not (tmp_path / "home").exists()
    assert not list((tmp_path / "temporary").iterdir())


@pytest.mark.skipif(os.getuid() == 0, reason="root writes everywhere")
def test_read_only_folder_is_read(load, cache):
    load()(1)
    cache.chmod(0o500)
    try:
        again = load()
        assert again(1) == 20
        assert hits_and_misses(again) == (1, 0)
        assert again(1.5) == 25.0
    finally:
        cache.chmod(0o700)


def test_full_disk_is_no_error(load, monkeypatch):
    def full(self, content):
        raise OSError(28, "No space left on device")

    run = load()
    monkeypatch.setattr(Path, "write_bytes", full)
    assert run(1) == 20
    assert not load().is_compiled


@pytest.mark.long
@pytest.mark.parametrize("content", [b"", b"\x80\x05garbage", b"half"])
def test_damaged_file_is_compiled_again(load, cache, content):
    load()(1)
    (file,) = cache.glob("*.code")
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2] if content == b"half" else content)
    again = load()
    assert again(1) == 20
    assert hits_and_misses(again) == (0, 1)
    assert hits_and_misses(load()) == (0, 0)
    third = load()
    assert third(1) == 20
    assert hits_and_misses(third) == (1, 0)


@pytest.mark.long
def test_old_code_is_removed(load, cache):
    """Of each function what was used last is kept, and nothing that was not used for months."""
    for factor in range(12):
        run = load(factor=factor)
        run(1)
        for place, file in enumerate(sorted(cache.glob("*.code"), key=os.path.getmtime)):
            os.utime(file, (time.time() - 1000 + place,) * 2)
    assert len(list(cache.glob("*.code"))) <= 8
    assert load(factor=11).is_compiled
    assert not load(factor=0).is_compiled
    stranger = cache / "transforms.gone.function-0-0-0.code"
    stranger.write_bytes(b"")
    os.utime(stranger, (time.time() - 100 * 86_400,) * 2)
    load(factor=20)(1)
    assert not stranger.exists()
    assert {file.suffix for file in cache.iterdir()} == {".code"}


@pytest.mark.study
def test_one_of_concurrent_processes_compiles(load, tmp_path, cache):
    load()
    program = (
        "import sys; from tiny_functions.entry import run; assert run(1) == 20; assert run(2.0) == 30.0;"
        "print(sum(run.dispatcher.stats.cache_misses.values()))"
    )
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "one")}
    processes = [
        subprocess.Popen([sys.executable, "-c", program], env=environment, stdout=subprocess.PIPE)
        for _ in range(3)
    ]
    compiled = [int(process.communicate(timeout=120)[0]) for process in processes]
    # Each of the two signatures once.
    assert sum(compiled) == 2
    assert [process.returncode for process in processes] == [0, 0, 0]
    after = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, timeout=120, check=True
    )
    assert after.stdout.strip() == b"0"
    assert {file.suffix for file in cache.iterdir()} == {".code"}


@pytest.mark.long
def test_killed_process_holds_up_nobody(load, tmp_path):
    load()
    program = (
        "import os, signal; from tiny_functions.entry import run; from numba.core.compiler import Compiler;"
        "Compiler.compile_extra = lambda *_: os.kill(os.getpid(), signal.SIGKILL); run(1)"
    )
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "one")}
    done = subprocess.run([sys.executable, "-c", program], env=environment, timeout=120, check=False)
    assert done.returncode == -signal.SIGKILL
    run = load()
    assert run(1) == 20
    assert hits_and_misses(run) == (0, 1)


@pytest.mark.long
def test_stuck_compiler_is_waited_for_in_vain(load, cache, monkeypatch):
    load("one")(1)
    (file,) = cache.iterdir()
    file.unlink()
    monkeypatch.setattr(code_files, "_LONGEST_WAIT_S", 0.2)
    with file.with_name(f"{file.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert load("one")(1) == 20
    assert file.exists()


def test_process_does_not_wait_for_itself(cache, monkeypatch):
    """After a function that could not be compiled its lock is still there."""
    monkeypatch.setattr(code_files, "_LONGEST_WAIT_S", 0.2)
    files = CodeFiles("throttlescope.some.function", "0" * 64)
    assert files._lock("one")
    assert files._lock("one")
    files._unlock("one")


@pytest.mark.long
def test_code_of_another_version_is_not_loaded(load, cache, monkeypatch):
    load()(1)
    monkeypatch.setattr("throttlescope.ingest.core.code_files._versions", lambda: "another version")
    run = load()
    assert not run.is_compiled
    assert run(1) == 20
    assert hits_and_misses(run) == (0, 1)


@pytest.mark.long
def test_import_alone_needs_no_numba():
    program = (
        "import sys; from throttlescope.transforms import deltas; from throttlescope.transforms.promql import elementary, kernels;"
        "from throttlescope.models.throttling import kernel; kernel.is_compiled(); print('numba' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout.strip() == "False"


def _compiling_modules():
    for room in ROOMS:
        for file in (ROOT / room).rglob("*.py"):
            text = file.read_text()
            if "compilation import" in text and "kernel" not in file.relative_to(ROOT).parts:
                yield file, ast.parse(text)


@pytest.mark.long
def test_sources_name_every_imported_constant():
    """Names of other modules that compiled functions use, themselves or through a constant, are of a module that ``compiled`` is given."""
    checked = 0
    for file, tree in _compiling_modules():
        imported = {
            alias.asname or alias.name: node.module
            for node in tree.body
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("throttlescope.")
            for alias in node.names
        }
        constants = {
            target.id: _names(node.value)
            for node in tree.body
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        used, given = set(), set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and _called(node) == "compiled":
                given |= {imported[one.id] + "." + one.id for one in node.args if isinstance(one, ast.Name)}
            if isinstance(node, ast.FunctionDef) and any(_is_compiling(one) for one in node.decorator_list):
                checked += 1
                used |= {name for statement in node.body for name in _names(statement)}
        through = {inner for name in used & constants.keys() for inner in constants[name]}
        needed = {imported[name] for name in (used | through) & imported.keys()}
        assert needed <= given, f"{file}: compiled functions use {needed - given}"
    assert checked > 60


def _names(node):
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}


def _called(node):
    return node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")


def _is_compiling(decorator):
    if isinstance(decorator, ast.Call):
        return _called(decorator) in ("compiled", "compiled_part")
    return isinstance(decorator, ast.Name) and decorator.id == "_compiled"


def test_nothing_bypasses_shared_cache():
    for room in ROOMS:
        for file in (ROOT / room).rglob("*.py"):
            if file.name != "compilation.py":
                assert "njit" not in file.read_text(), f"{file}: use ingest/core/compilation.py"


def test_name_of_prefix_is_not_pruned(cache):
    """``_add`` and ``_add_two`` are two functions, and one's old code is not the other's."""
    cache.mkdir(parents=True)
    other = cache / "module.run_all-0000000000000000-00000000-0.code"
    other.write_bytes(b"")
    CodeFiles("module.run", "1" * 64)._prune(cache)
    assert other.exists()
