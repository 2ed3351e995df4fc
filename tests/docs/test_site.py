"""The documentation site: it is built without a warning, has every page in its navigation, searches, switches versions, and fetches nothing."""

import contextlib
import functools
import json
import re
import subprocess
import sys
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from docs.site import diagrams, pages
from tests.app.web.browser import needs_chromium, running_chromium

ROOT = Path(__file__).parents[2]


def build(out, *arguments):
    return subprocess.run(
        [sys.executable, "-m", "docs.site", "--out", out, *arguments],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site in one version."""
    out = tmp_path_factory.mktemp("site")
    done = build(out, "--name", "dev")
    assert (done.returncode, done.stderr) == (0, "")
    return out


@pytest.fixture(scope="module")
def two_versions(site):
    """The site in two versions."""
    done = build(site, "--name", "0.0.9")
    assert (done.returncode, done.stderr) == (0, "")
    return site


@contextlib.contextmanager
def served(folder):
    """The folder on a port of this machine."""
    handler = functools.partial(SimpleHTTPRequestHandler, directory=folder)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.long
def test_every_page_is_in_the_navigation(site):
    """The build fails where it is not; this is what there is to be found."""
    found = {
        path.relative_to(site / "dev").as_posix()
        for path in (site / "dev").rglob("*.html")
        if "_static" not in path.parts
    }
    markdown = {place.replace(".md", ".html") for place in pages._placed().values()}
    assert len(markdown) > 60
    made = {f"{section.folder}/index.html" for section in pages.sections()}
    assert found == markdown | made | {"genindex.html", "search.html", "reference/notebook.html"}
    index = (site / "dev" / "index.html").read_text()
    for title in ("Guides", "Reference", "Background", "Accuracy", "Decisions"):
        assert re.search(
            rf'<a class="nav-link nav-internal" href="{title.lower()}/index.html">\s*{title}', index
        )


@pytest.mark.long
def test_functions_of_notebooks_have_their_docstrings(site):
    page = (site / "dev" / "reference" / "notebook.html").read_text()
    for name in ("open_lake", "OpenLake.why", "OpenLake.promql", "Figures.backlog", "demo_lake"):
        assert f'id="throttlescope.app.notebook.{name}"' in page
    assert "Parameters" in page


@pytest.mark.long
def test_nothing_is_loaded_from_other_hosts(site):
    loaded = {
        (path.name, address)
        for path in (site / "dev").rglob("*.html")
        for address in re.findall(
            r'<(?:script|img|iframe|source)[^>]*\ssrc="([^"]+)"|<link[^>]*rel="(?:stylesheet|preload)[^>]*href="([^"]+)"',
            path.read_text(),
        )
        if any(one.startswith(("http", "//")) for one in address)
    }
    assert loaded == set()
    styles = [path.read_text() for path in (site / "dev" / "_static").rglob("*.css")]
    assert styles
    assert [address for text in styles for address in re.findall(r"url\(['\"]?(https?:[^)]+)", text)] == []


@pytest.mark.study
@pytest.mark.long
def test_versions_are_listed_newest_first(two_versions):
    site = two_versions
    listed = json.loads((site / "versions.json").read_text())
    assert [(one["version"], one["url"], one["preferred"]) for one in listed] == [
        ("0.0.9", "/0.0.9/", True),
        ("dev", "/dev/", False),
    ]
    assert "url=0.0.9/index.html" in (site / "index.html").read_text()
    assert not list(site.glob(".building-*"))


@pytest.mark.study
@pytest.mark.browser
@needs_chromium
def test_reader_searches_and_switches_versions(two_versions):
    from playwright.sync_api import expect

    with served(two_versions) as url, running_chromium() as browser:
        requested, page = [], browser.new_page()
        page.on("request", lambda request: requested.append(request.url))
        page.goto(f"{url}/dev/search.html?q=object+store")
        expect(page.locator("#search-results a").first).to_be_visible(timeout=30_000)
        page.goto(f"{url}/dev/guides/sql.html")
        page.locator(".version-switcher__button").first.click()
        page.locator(".version-switcher__menu a", has_text="0.0.9").first.click()
        expect(page).to_have_url(f"{url}/0.0.9/guides/sql.html")
        assert {address for address in requested if not address.startswith(url)} == set()


def test_pictures_of_diagrams_are_those_of_the_pages():
    texts = list(pages.diagrams())
    assert texts
    assert {diagrams.picture_of(text) for text in texts} == set(diagrams.PICTURES.glob("*.svg"))


@pytest.mark.parametrize(
    ("link", "place"),
    [
        ("web.md", "web.md"),
        ("../reference/cli.md#throttlescope-run", "../reference/cli.md#throttlescope-run"),
        ("../../CONTRIBUTING.md", "../contributing.md"),
        ("../decisions", "../decisions/index.md"),
        ("../README.md", "../index.md"),
        ("../../notebooks/first-look.ipynb", "../files/notebooks/first-look.ipynb"),
        ("../images/overview.png", "../images/overview.png"),
        ("https://example.org/a.md", "https://example.org/a.md"),
        ("#below", "#below"),
    ],
)
def test_links_lead_to_places_of_the_site(link, place, tmp_path):
    source = pages.DOCS / "guides" / "web.md"
    text = f"[a]({link}) `[b]({link})`\n```\n[c]({link})\n```\n"
    found = pages._with_links(text, source, "guides/web.md", pages._placed(), tmp_path)
    assert found == text.replace(f"[a]({link})", f"[a]({place})")


@pytest.mark.study
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda source: (source / "guides" / "lost.md").write_text("# Lost\n"),
            "lost.md: WARNING: document isn't included",
        ),
        (
            lambda source: _append(source, "[a](sql.md#nowhere)"),
            "local id not found in doc 'guides/sql': 'nowhere'",
        ),
        (lambda source: _append(source, "[a](nowhere.md)"), "cross-reference target not found"),
        (lambda source: _append(source, "```mermaid\nflowchart LR\n```"), "No picture of this diagram"),
    ],
    ids=["page", "anchor", "link", "diagram"],
)
def test_fault_fails_the_build_and_leaves_the_site(site, monkeypatch, capsys, change, words):
    from docs.site import __main__ as command

    before = (site / "versions.json").read_text(), (site / "dev" / "index.html").read_text()
    write = pages.write_pages

    def with_fault(source):
        write(source)
        change(source)

    monkeypatch.setattr(command, "write_pages", with_fault)
    with pytest.raises(SystemExit, match="was not built"):
        command.build(site, "dev")
    assert words in capsys.readouterr().err
    assert ((site / "versions.json").read_text(), (site / "dev" / "index.html").read_text()) == before
    assert not list(site.glob(".building-*"))


def _append(source, text):
    page = source / "guides" / "sql.md"
    page.write_text(f"{page.read_text()}\n{text}\n")
