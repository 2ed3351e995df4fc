"""English words on pages that are shown in another language. In: a page of a browser, and the names in a lake. Out: what was found, and where.

Two views of a page are read. What the server sends has every text, also those that nobody sees yet: tooltips, choices of a list, hover texts of
charts, rows of tables. What the browser shows has the texts of scripts and libraries too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from html import unescape
from urllib.parse import parse_qsl, urlsplit

from tests.app.web.browser import TIMEOUT_MS, is_settled
from throttlescope.app.presentation.links.paths import SUBSCRIPTION_PATH
from throttlescope.app.web.pages import PAGES
from throttlescope.ingest.contracts.vocabulary import CAUSES
from throttlescope.ingest.lake import Lake
from throttlescope.models.diagnosis.consumer_queues import QUEUES
from throttlescope.models.diagnosis.limiters import ACTIVITIES, ZONES

#: Elements whose content is the same in every language: commands, queries, keys, names of a cluster.
_SAME = {"Code", "CodeHighlight", "Pre", "Kbd", "Bdi", "Textarea", "Store"}
#: Properties that a person reads, of components, of columns and of charts.
_READ = {
    "aria-label", "alt", "copiedChildren", "description", "headerName", "headerTooltip", "hovertemplate", "hovertext", "label", "name",
    "placeholder", "text", "ticktext", "title", "categoryarray",
}  # fmt: skip
#: Of a figure, what nobody reads.
_UNREAD = {
    "template",
    "meta",
    "config",
    "style",
    "href",
    "className",
    "dashGridOptions",
    "eventListeners",
    "icon",
}
#: What is to be typed as it is.
_TYPED = {("placeholder", "none")}
#: Columns whose cells are names of a cluster or addresses.
_NAMES = re.compile(
    r"(^|_)(href|id|mark|colour|trend)$|^(subscription|topic|cluster|owner|namespace|broker|extra|place)$"
)

#: Words that Chinese texts have as well: products, formats, units, and terms of docs/background/zh-terms.md that are not translated.
ALLOWED = {
    "throttlescope", "Apache", "Pulsar", "Prometheus", "PromQL", "Spark", "Delta", "TDMQ", "Burrow", "Alertmanager", "Grafana", "English",
    "JSON", "CSV", "YAML", "PNG", "SVG", "Parquet", "HTTP", "UTC", "TTL", "API", "admin", "Excel", "Wilson", "Kaplan", "Meier", "Brier",
    "broker", "bookie", "ledger", "key", "schema", "permit", "msg", "KiB", "MiB", "GiB", "Enter", "Ctrl", "Space", "rho", "URL", "DIR",
    "csv", "parquet", "notebook", "Exclusive", "Failover", "Shared", "serve",
}  # fmt: skip
#: Words that are data of one page: cells of the truth table, as code and evidence have them; sides and fields of a rule; labels of a query.
SAME_ON = {
    "/method": {"limit", "counter", "queues", *ZONES, *ACTIVITIES, *QUEUES},
    "/alerts": {"throttle", "both", "for"},
    "/promql": {"topic", "partition", "subscription"},
}
#: A word; with a dot, a slash, an underscore or an equals sign in it, it is a name of a metric, a setting, a file or an address.
_TOKEN = re.compile(r"[A-Za-z0-9_./:#%=~\-\[\]{}()<>\"'*+@|]+", re.A)
_WORD = re.compile(r"[A-Za-z]{2,}")
_CODE_LIKE = re.compile(r"[a-z0-9][_./:=#][A-Za-z0-9]|--[a-z]|^-[a-z]\b|[a-z][A-Z]|%\{")
_COMMAND = re.compile(r"throttlescope( [a-z-]+)+|pulsar-admin|min\([a-z, ]+\)|'[a-z ]+'")
_TAGS = re.compile(r"<[^<>]*>")


def names_of(lake: Lake) -> set[str]:
    """What clusters call their things, and the commands of runs."""
    rows = lake.read("verdict_latest", columns=["cluster", "topic", "subscription"]).to_pylist()
    found = {str(value) for row in rows for value in row.values()}
    parts = {part for name in found for part in re.split(r"[/:]+", name.removeprefix("persistent://"))}
    commands = {row["command"] for row in lake.read("ingest_runs", columns=["command"]).to_pylist()}
    return found | parts | commands


def english_words(text: str, names: Iterable[str] = ()) -> list[str]:
    """Words of a text that should have been translated."""
    text = _COMMAND.sub(" ", unescape(_TAGS.sub(" ", text)))
    for name in sorted(names, key=len, reverse=True):
        if len(name) > 1:
            text = re.sub(rf"(?<![A-Za-z0-9.]){re.escape(name)}(?![A-Za-z0-9]|\.[a-z])", " ", text)
    return [
        word
        for token in _TOKEN.findall(text)
        if not _CODE_LIKE.search(token)
        for word in _WORD.findall(token)
        if word not in ALLOWED
    ]


def sent_texts(part: object, where: str = "") -> Iterator[tuple[str, str]]:
    """Texts of what the server sends: place and text; ``part`` is a component, a list of them, or a response with properties."""
    if isinstance(part, str):
        yield where, part
    elif isinstance(part, list):
        for one in part:
            yield from sent_texts(one, where)
    elif isinstance(part, dict) and {"type", "props", "namespace"} <= part.keys():
        if part["type"] in _SAME or "lang" in part["props"]:
            return
        props = part["props"]
        place = f"{where} {part['type']}{'#' + str(props['id']) if 'id' in props else ''}".strip()
        yield from _texts_of_properties(props, place)
    elif isinstance(part, dict):
        yield from _texts_of_properties(part, where)


def _texts_of_properties(props: dict, where: str) -> Iterator[tuple[str, str]]:
    for name, value in props.items():
        place = f"{where}.{name}"
        if isinstance(value, str) and (name, value) in _TYPED:
            continue
        if name in _UNREAD or value is None:
            continue
        if name in _READ and isinstance(value, list):
            yield from ((place, one) for one in _flat(value) if isinstance(one, str))
        elif name == "children" or (name in _READ and not isinstance(value, dict)):
            yield from sent_texts(value, place)
        elif name == "rowData":
            yield from (
                (f"{place}[{column}]", cell)
                for row in value
                for column, cell in row.items()
                if isinstance(cell, str) and not _NAMES.search(column)
            )
        elif name == "customdata":
            # What a click leads to has names of causes.
            yield from ((place, one) for one in _flat(value) if isinstance(one, str) and one not in CAUSES)
        elif isinstance(value, dict):
            yield from _texts_of_properties(value, place)
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            for one in value:
                yield from sent_texts(one, place)


def _flat(values: list) -> Iterator[object]:
    for value in values:
        if isinstance(value, list):
            yield from _flat(value)
        else:
            yield value


SHOWN_TEXTS = """() => {
    const found = [];
    const same = 'input[placeholder=none], script, style, code, pre, kbd, bdi, textarea, [lang]:not(html), .ag-body [col-id=subscription], .ag-body [col-id=topic]';
    const isShown = (element) => element.getClientRects().length > 0;
    const place = (element) => {
        const parts = [];
        for (let one = element; one && one !== document.body && parts.length < 4; one = one.parentElement) {
            parts.unshift(one.id ? '#' + one.id : one.tagName.toLowerCase() + (one.classList.length ? '.' + one.classList[0] : ''));
            if (one.id) break;
        }
        return parts.join(' ');
    };
    const walker = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const element = node.parentElement;
        if (node.data.trim() && isShown(element) && !element.closest(same)) found.push([place(element), node.data]);
    }
    for (const name of ['title', 'aria-label', 'placeholder', 'alt', 'aria-description']) {
        for (const element of document.querySelectorAll('[' + name + ']')) {
            if (isShown(element) && !element.closest(same) && element.getAttribute(name).trim()) found.push([place(element) + '@' + name, element.getAttribute(name)]);
        }
    }
    return found;
}"""


class Untranslated:
    """What a page of a browser has in English, in all that it was sent and shows.

    Parameters
    ----------
    page : playwright.sync_api.Page
        Before it has opened anything.
    names : collection of str
        Of the lake's clusters; no words.
    """

    def __init__(self, page, names: Iterable[str]) -> None:
        self._page, self._names, self._sent = page, set(names), []
        page.on("response", self._keep)

    def _keep(self, response) -> None:
        if "_dash-update-component" in response.url or response.url.endswith("_dash-layout"):
            self._sent.append(response)

    def found(self) -> list[str]:
        """Place, words and text of each finding so far, each once."""
        texts = [("shown: " + where, text) for where, text in self._page.evaluate(SHOWN_TEXTS)]
        for response in self._sent:
            body = json.loads(response.text() or "{}")
            texts += [("sent: " + where, text) for where, text in sent_texts(body.get("response", body))]
        self._sent.clear()
        lines = {}
        for where, text in texts:
            words = english_words(text, self._names)
            if words:
                lines.setdefault(
                    (text, where.split(":")[0]), f"{where}: {' '.join(words)!r} in {text[:200]!r}"
                )
        return sorted(lines.values())


def untranslated_pages(
    browser, address: str, lake: Lake, *, starts: Iterable[str], follow: bool, language: str = "zh-CN"
) -> tuple[list[str], dict[str, list[str]]]:
    """Open every page, and look for English in what it shows and was sent.

    Parameters
    ----------
    address : str
        Of a server on ``lake``.
    starts : iterable of str
        Addresses to begin with, next to those of all pages without parts.
    follow : bool
        Open one page of every shape of address that these link to as well, and so on.

    Returns
    -------
    (list of str, dict of str to list of str)
        What was opened, and findings by address; only those with findings.
    """
    context = browser.new_context(viewport={"width": 1440, "height": 900}, locale=language)
    names = names_of(lake)
    # The page of one subscription needs to know of which.
    waiting = [*(path for path in PAGES if path != SUBSCRIPTION_PATH), *starts]
    shapes, opened, found = set(), [], {}
    while waiting:
        path = waiting.pop(0)
        if _shape(path) in shapes:
            continue
        shapes.add(_shape(path))
        page = context.new_page()
        page.set_default_timeout(TIMEOUT_MS)
        texts = Untranslated(page, names | SAME_ON.get(urlsplit(path).path, set()))
        page.goto(address + path)
        page.wait_for_selector("main h1 >> visible=true")
        for height in ("document.body.scrollHeight", "0"):
            page.evaluate(f"window.scrollTo(0, {height})")
            is_settled(page)
            page.wait_for_load_state("networkidle")
        opened.append(path)
        if findings := texts.found():
            found[path] = findings
        if follow:
            waiting += page.evaluate(
                "[...document.querySelectorAll('main a[href^=\"/\"]')].map((link) => link.getAttribute('href'))"
            )
            waiting = [path for path in waiting if urlsplit(path).path in PAGES]
        page.close()
    context.close()
    return opened, found


def _shape(path: str) -> tuple:
    """Path, names of parts, and the view: pages that differ in other values have the same texts."""
    url = urlsplit(path)
    parts = parse_qsl(url.query)
    views = tuple(value for name, value in parts if name in ("tab", "by", "view", "set"))
    return url.path, frozenset(name for name, _ in parts), views
