"""Text that people read. In: the demo's lake. Out: what commands, mistakes and pages say, by name, without what differs between two runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

from playwright.sync_api import Browser, Page

from tests.app.commands import throttlescope
from tests.app.web.browser import is_settled, running_server
from tests.golden import cases
from throttlescope.app.presentation.links.subscription import SubscriptionAddress, SubscriptionPartition
from throttlescope.ingest.core.subscription_name import SubscriptionName
from throttlescope.ingest.core.times import parse_time

GOLDEN = Path(__file__).parent / "texts"

#: What no two runs have in common: when they ran, how long they took, what they were called.
_DIFFERS = (
    (re.compile(r"Written \S+ from version \d+"), "Written <time> from version <n>"),
    (re.compile(r"\d+ (d|h|min|s)( \d+ (h|min|s))? ago"), "<age> ago"),
    (re.compile(r"(demo done at|now is) \S+ \S+( UTC)?"), r"\1 <time>"),
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}\b|\b\d{8}T\d{6}Z?-[0-9a-f]{6,}\b"), "<run>"),
    (re.compile(r"(took|in) \d+(\.\d+)? (ms|s)\b"), r"\1 <time>"),
)


def golden(name: str) -> Path:
    """The file that a text is kept in."""
    return GOLDEN / f"{name}.txt"


def texts(lake: Path, browser: Browser | None) -> Iterator[tuple[str, str]]:
    """Name and text of everything; pages only where there is a browser."""
    for name, arguments in cases.COMMANDS.items():
        done = throttlescope(*arguments, "--lake", lake)
        assert done.code == 0, (name, done.err)
        yield f"commands/{name}", _settled(done.out, lake)
    for name, arguments in cases.MISTAKES.items():
        done = throttlescope(*arguments, "--lake", lake)
        assert done.code != 0, (name, done.out)
        yield f"mistakes/{name}", _settled(f"exit code {done.code}\n{done.err}", lake)
    with TemporaryDirectory() as folder:
        yield from _documents(lake, Path(folder))
    if browser is not None:
        yield from _pages(lake, browser)


def _documents(lake: Path, folder: Path) -> Iterator[tuple[str, str]]:
    """What commands write for people: reports of incidents, and the exported rules with their words."""
    for cause in cases.REPORTED:
        report = folder / f"{cause}.zip"
        done = throttlescope(
            "incident", "--lake", lake, "--cluster", cases.CLUSTER, "--subscription", cases.HELD[cause], "--at", cases.END,
            "--out", report, "--no-picture", "--quiet",
        )  # fmt: skip
        assert done.code == 0, (cause, done.err)
        with ZipFile(report) as files:
            yield f"documents/incident-{cause}", _settled(files.read("incident/README.md").decode(), lake)
    done = throttlescope("rules", "export", "--out", folder / "rules")
    assert done.code == 0, done.err
    for file in sorted((folder / "rules").iterdir()):
        yield f"documents/rules-{file.stem}", _settled(file.read_text(), lake)


def _pages(lake: Path, browser: Browser) -> Iterator[tuple[str, str]]:
    at_ms = parse_time(cases.END, now_ms=0)
    told = {
        f"subscription-{cause}": SubscriptionAddress(_subscription(name), at_ms=at_ms).href()
        for cause, name in cases.HELD.items()
    }
    with running_server(str(lake)) as address:
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.set_default_timeout(120_000)
        page.goto(address)
        # A grid draws the rows that are in sight, sooner or later; whether a word fits into its bar is a matter of fonts.
        page.add_style_tag(content=".ag-body, .bartext { visibility: hidden }")
        text = ""
        for name, path in {**cases.PAGES, **told}.items():
            # As links do: loading all scripts anew for each page takes longer than the page.
            page.evaluate("path => window.throttlescope.navigate(path)", path)
            text = _steady_text(page, other_than=text)
            yield f"pages/{name}", _settled(text, lake)
        page.close()


def _steady_text(page: Page, *, other_than: str) -> str:
    """The text of the next page when it is the same half a second later: parts of a page come when the server has them."""
    text = ""
    for _ in range(120):
        is_settled(page)
        before, text = text, page.inner_text("main")
        if text == before and text not in ("", other_than):
            return text
        page.wait_for_timeout(500)
    raise AssertionError(f"{page.url} does not come to rest")


def _subscription(name: str) -> SubscriptionPartition:
    found = SubscriptionName.of(name)
    return SubscriptionPartition(
        cases.CLUSTER, found.topic, -1 if found.partition is None else found.partition, found.subscription
    )


def _settled(text: str, lake: Path) -> str:
    text = text.replace(str(lake), "<lake>")
    for pattern, word in _DIFFERS:
        text = pattern.sub(word, text)
    return "\n".join(line.rstrip() for line in text.strip().splitlines()) + "\n"
