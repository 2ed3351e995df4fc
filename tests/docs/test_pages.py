"""What pages name exists: commands, make targets, files, imports, links."""

import re
from pathlib import Path

import pytest

from docs.generate import tables

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    page
    for page in [
        *ROOT.glob("*.md"),
        *ROOT.glob("docs/**/*.md"),
        *ROOT.glob("airflow_dags/*.md"),
        *ROOT.glob("deploy/*.md"),
    ]
    if not page.is_relative_to(ROOT / ".venv")
)


#: Folders of the repository whose files pages name.
ROOMS = ("ingest", "transforms", "models", "app", "tests", "benchmarks", "airflow_dags", "deploy")
#: What is history names files as they were called then.
HISTORY = [ROOT / "CHANGELOG.md", *ROOT.glob("docs/decisions/*.md")]


def make_targets():
    return set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(), re.M))


def page_name(page):
    return str(page.relative_to(ROOT))


def test_label_shapes_of_page_are_one_series():
    ids = re.findall(r"^series_id   (\w{32})", tables.render(), re.M)
    assert len(ids) == 2
    assert len(set(ids)) == 1


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_make_targets_that_a_page_names_exist(page):
    code = re.findall(r"```.*?```|`[^`\n]+`", page.read_text(), re.S)
    named = {target for part in code for target in re.findall(r"(?:^|[\s`])make ([a-z][a-z-]*)", part)}
    assert named <= make_targets()


@pytest.fixture(scope="module")
def commands() -> set[str]:
    import typer

    from throttlescope.app.cli.application import app

    return set(typer.main.get_command(app).commands)


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_commands_that_a_page_names_exist(commands, page):
    code = re.findall(r"```(?:sh|bash|console|text)?\n.*?```|`[^`\n]+`", page.read_text(), re.S)
    named = {word for part in code for word in re.findall(r"(?:^|[\s`/])throttlescope ([a-z][a-z-]*)", part)}
    assert named <= commands


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_links_between_pages_lead_somewhere(page):
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
        path, _, anchor = target.partition("#")
        if "://" in path or target.startswith("mailto:"):
            continue
        other = (page.parent / path).resolve() if path else page
        if not other.exists() or (anchor and other.suffix == ".md" and anchor not in anchors(other)):
            broken.append(target)
    assert broken == []


@pytest.mark.parametrize("page", sorted(set(PAGES) - set(HISTORY)), ids=page_name)
def test_files_that_a_page_names_exist(page):
    """``NAME`` in a path stands for a name that the reader chooses."""
    named = re.findall(rf"(?<![\w/.-])(?:{'|'.join(ROOMS)})/[\w/.-]*", page.read_text())
    paths = {path.rstrip(".") for path in named if "NAME" not in path}
    absent = sorted(path for path in paths if not (ROOT / path).exists())
    assert absent == []


def test_chinese_readme_follows_the_english_one():
    """The same commands in the same order, the same links, as many headings, and pictures with Chinese pages where there are any."""
    english, chinese = (
        (ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "README.zh-CN.md")
    )
    assert re.findall(r"```.*?```", chinese, re.S) == re.findall(r"```.*?```", english, re.S)
    links = [re.findall(r"\]\(([^)]+)\)", text) for text in (english, chinese)]
    assert links[0].pop(0) == "README.zh-CN.md"
    assert links[1].pop(0) == "README.md"
    pictures = [{link for link in found if link.startswith("docs/images/")} for found in links]
    assert [len(found) for found in pictures] == [3, 3]
    assert all(link.endswith("-zh.png") for link in pictures[1])
    assert sorted(set(links[0]) - pictures[0]) == sorted(set(links[1]) - pictures[1])
    assert len(re.findall(r"^#+ ", chinese, re.M)) == len(re.findall(r"^#+ ", english, re.M))


@pytest.mark.parametrize("page", sorted(set(PAGES) - set(HISTORY)), ids=page_name)
def test_imports_that_a_page_shows_exist(page):
    shown = re.findall(r"^from throttlescope\.([\w.]+) import ([\w, ]+)$", page.read_text(), re.M)
    missing = []
    for module, names in shown:
        path = ROOT / module.replace(".", "/")
        source = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        text = source.read_text() if source.exists() else ""
        missing += [f"{module}.{name}" for name in names.split(", ") if not re.search(rf"\b{name}\b", text)]
    assert missing == []


def test_walk_of_a_sample_is_counted():
    """At most 45 files from the socket to the page, in the order of the data."""
    text = (ROOT / "docs" / "architecture.md").read_text()
    walk, after = re.search(r"<!-- walk -->(.*)<!-- end -->(.*)", text, re.S).groups()
    files = re.findall(r"^\| (\d+) \| `([\w/.]+)`", walk, re.M)
    assert [int(number) for number, _ in files] == list(range(1, len(files) + 1))
    assert len({path for _, path in files}) == len(files) <= 45
    assert after.strip().startswith(f"{len(files)} files")


def anchors(page):
    """Anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def test_every_make_target_has_a_help_line():
    makefile = (ROOT / "Makefile").read_text()
    lines = dict(re.findall(r"^([a-z][a-z-]*):[^\n]*?##\s*(\S[^\n]*)$", makefile, re.M))
    assert set(lines) == make_targets()


def test_every_page_is_reached_from_the_index():
    """Decisions are listed one by one, the rest too: a page that nobody links to is a page that nobody finds."""
    reached, todo = set(), [ROOT / "docs" / "README.md"]
    while todo:
        page = todo.pop()
        if page in reached:
            continue
        reached.add(page)
        for target in re.findall(r"\]\(([^)#\s]+)", page.read_text()):
            other = (page.parent / target).resolve()
            if other.suffix == ".md" and other.exists():
                todo.append(other)
            elif other.is_dir():
                todo.extend(other.glob("*.md"))
    pages = set((ROOT / "docs").rglob("*.md"))
    assert {page_name(page) for page in pages - reached} == set()
