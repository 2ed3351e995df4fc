"""The pages of the site. In: ``docs/``, CONTRIBUTING and CHANGELOG as they are. Out: a source folder of Sphinx, in which every link leads to a page of the site.

Pages are written for readers of the repository: they link to folders, and to files outside ``docs/``. Here folders become section pages, and files
become downloads. The order of a section is that of the table in ``docs/README.md``; what the table lacks has no place in the navigation, and Sphinx says so.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
#: Pages outside ``docs/``, by their place in the site.
_OUTSIDE = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
_INDEX, _API = "index.md", "reference/notebook.md"
#: Files that are no pages: those that the pages link to, and drawn diagrams.
_FILES, _DIAGRAMS = "files", "images/diagrams"
_ROW = re.compile(r"^\| \[(?P<title>\w+)\]\((?P<folder>\w+)\) \| (?P<when>[^|]+) \| (?P<pages>.*) \|$", re.M)
#: A fence or a span of code, where nothing is a link; or the target of a link.
_CODE_OR_TARGET = re.compile(r"^```.*?^```|`[^`\n]+`|(?<=\]\()(?P<target>[^)\s]+)(?=\))", re.M | re.S)

_API_PAGE = """\
# Notebook functions

What `throttlescope.app.notebook` gives; the [guide](../guides/notebooks.md) begins with examples.

```{eval-rst}
.. currentmodule:: throttlescope.app.notebook

.. autofunction:: open_lake

.. autoclass:: OpenLake
   :members:

.. autoclass:: Figures
   :members:

.. autoclass:: Chart
   :members:

.. autofunction:: demo_lake

.. autofunction:: month_lake
```
"""


@dataclass(frozen=True)
class Section:
    """One kind of documentation: a folder of ``docs/`` with its title, when to read it, and its pages in order."""

    title: str
    folder: str
    when: str
    pages: tuple[str, ...]


def sections() -> list[Section]:
    """The sections, as the table of ``docs/README.md`` lists them; decisions are all that there are."""
    found = []
    for row in _ROW.finditer((DOCS / "README.md").read_text()):
        folder = row["folder"]
        pages = tuple(re.findall(rf"\]\({folder}/([\w.-]+)\.md\)", row["pages"]))
        if folder == "decisions":
            pages = tuple(sorted(path.stem for path in (DOCS / folder).glob("*.md")))
        if folder == "reference":
            pages += (PurePosixPath(_API).stem,)
        found.append(Section(row["title"], folder, row["when"].strip(), pages))
    return found


def write_pages(target: Path) -> None:
    """Write the source folder of Sphinx.

    Raises
    ------
    FileNotFoundError
        A page links to a file that is not there.
    """
    placed = _placed()
    for source, place in placed.items():
        text = source.read_text()
        if place == _INDEX:
            text += _toctree(
                [f"{one.folder}/index" for one in sections()] + ["architecture", "contributing", "changelog"]
            )
        _write(target / place, _with_links(text, source, place, placed, target))
    for section in sections():
        _write(
            target / section.folder / _INDEX,
            f"# {section.title}\n\nRead them when {section.when}.\n\n{_toctree(section.pages, shown=True)}",
        )
    _write(target / _API, _API_PAGE)
    shutil.copytree(DOCS / _DIAGRAMS, target / _DIAGRAMS)


def _placed() -> dict[Path, str]:
    """Every page of the repository with its place in the site."""
    inside = {path: str(path.relative_to(DOCS)) for path in sorted(DOCS.rglob("*.md"))}
    return inside | {DOCS / "README.md": _INDEX} | {ROOT / name: place for name, place in _OUTSIDE.items()}


def _with_links(text: str, source: Path, place: str, placed: dict[Path, str], target: Path) -> str:
    """The page with the targets of its links as they are in the site; a file that is no page is copied there."""

    def replaced(match: re.Match[str]) -> str:
        link = match["target"]
        if link is None or "://" in link or link.startswith(("#", "mailto:")):
            return match[0]
        name, _, anchor = link.partition("#")
        linked = (source.parent / name).resolve()
        if linked in placed:
            to = placed[linked]
        elif linked.is_dir() and linked.parent == DOCS:
            to = f"{linked.name}/{_INDEX}"
        else:
            to = (
                str(linked.relative_to(DOCS))
                if linked.is_relative_to(DOCS)
                else f"{_FILES}/{linked.relative_to(ROOT)}"
            )
            (target / to).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(linked, target / to)
        return os.path.relpath(to, PurePosixPath(place).parent) + (f"#{anchor}" if anchor else "")

    return _CODE_OR_TARGET.sub(replaced, text)


def _toctree(pages: list[str] | tuple[str, ...], *, shown: bool = False) -> str:
    options = ":maxdepth: 1" if shown else ":hidden:"
    return "\n".join(["", "```{toctree}", options, "", *pages, "```", ""])


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def diagrams() -> Iterator[str]:
    """The text of every Mermaid diagram of the pages."""
    for source in _placed():
        yield from re.findall(r"^```mermaid\n(.*?)^```", source.read_text(), re.M | re.S)
