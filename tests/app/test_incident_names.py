"""Topic and subscription names are hostile text: they harm neither Markdown, HTML, CSV, shell file nor the zip's paths."""

from __future__ import annotations

import csv
import io
import json
import shutil
import subprocess
import zipfile
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from markdown_it import MarkdownIt

from tests.app.web.sample_lake import HOSTILE_NAME, Phase, Sample, evidence, write_sample_lake
from throttlescope.app.incident.bundle import Bundle, default_name, make_bundle
from throttlescope.app.incident.computed import ComputedResults
from throttlescope.app.incident.load import Incident, read_incident
from throttlescope.app.incident.selection import IncidentSelection
from throttlescope.ingest.lake import Lake

NAMES = {
    "everything": HOSTILE_NAME,
    "script": "<script>alert(1)</script><img src=x onerror=alert(1)>",
    "quotes": "a\"b'c`d``e'; rm -rf / #",
    "long": "x" * 10_000,
    "right to left": "\N{RIGHT-TO-LEFT OVERRIDE}gnp.exe\N{RIGHT-TO-LEFT MARK}\u05d0\u05d1",
    "path": "../../../../etc/cron.d/evil",
    "formula": "=HYPERLINK(\"http://evil.example\",\"click\")",
    "markdown": "](http://evil.example) **b** | c |\n# heading\n\n- list ![i](http://evil.example/i.png) <http://evil.example>",
    "command": "$(touch /tmp/owned)`touch /tmp/owned`\ntouch /tmp/owned",
}  # fmt: skip
LIMITED = {"subscription": (50, None, 1, "topic_policy")}
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def sample(name: str) -> Sample:
    """A subscription of that name, with evidence that repeats it, in a topic that is called so too."""
    says = evidence(
        "limiter", "for", f"{name} is used up", 0.99, 0.9, "share", promql=f"up{{a={json.dumps(name)}}}"
    )
    throttled = Phase(
        170, "throttled", "throttle", "subscription.msg", 80.0, 50.0, limits=LIMITED, evidence=(says,)
    )
    return Sample("persistent://shop/odd/" + name.replace("#", ""), name, (Phase(0), throttled))  # fmt: skip


@pytest.fixture(scope="module")
def lake(tmp_path_factory) -> Lake:
    folder = tmp_path_factory.mktemp("names") / "lake"
    return write_sample_lake(folder, tuple(sample(name) for name in NAMES.values()))


def message_with_name(name: str) -> dict:
    """A message with a name in it."""
    return {"key": "advice.place.subscription", "values": {"subscription": name, "topic": "orders"}}


def bundle_of(lake: Lake, kind: str) -> tuple[Incident, Bundle]:
    """The bundle of one name, with advice that repeats it."""
    name = NAMES[kind]
    selected = IncidentSelection(f"{sample(name).topic}#{name}")
    incident = read_incident(lake, selected)
    advice = {
        "at_ms": incident.at_ms, "target_s": 1800, "backlog_entries": 9000, "primary": "limiter", "replay_error_share": 0.01,
        "is_far_off": False, "not_modelled": None, "is_drained": False, "window_start_ms": incident.at_ms - 1_800_000,
        "as_is_entries": {"low": 1.0, "likely": None, "high": 2.0}, "counterfactuals": [], "notes": [message_with_name(name)], "not_helping": [message_with_name(name)],
        "recommendations": [
            {
                "lever": "limit", "limiter": "subscription.msg", "now": 50, "value": 80, "actions": [message_with_name(name)],
                "change": "subscription.msg=80", "earliest_drain_s": 60.0, "next_limiting_factor": "consumers",
                "risks": [message_with_name(name)],
                "apply": f"pulsar-admin topicPolicies set-subscription-dispatch-rate {name}", "roll_back": f"pulsar-admin undo {name}",
                "checks": [{"query": f"sum(up{{a={json.dumps(name)}}})", "expected": {"key": "advice.check.backlog_falls"}}],
            }
        ],
    }  # fmt: skip
    worked = ComputedResults([], advice, None, {"again": name})
    # The figure is drawn once, in the browser's test; it takes no name.
    return incident, make_bundle(replace(incident, minutes=incident.minutes.tail(5)), worked, picture=None)


@pytest.fixture(scope="module")
def bundles(lake) -> dict[str, tuple[Incident, Bundle]]:
    return {kind: bundle_of(lake, kind) for kind in NAMES}


@pytest.mark.sampled(3)
@pytest.mark.long
@pytest.mark.parametrize("kind", NAMES)
def test_no_name_becomes_a_path(bundles, kind):
    incident, bundle = bundles[kind]
    with zipfile.ZipFile(io.BytesIO(bundle.zipped())) as archive:
        assert sorted(archive.namelist()) == sorted(f"incident/{name}" for name in bundle.files)
        assert {member.date_time for member in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    name = default_name(incident)
    assert len(name) < 120
    assert set(name.removesuffix(".zip")) <= set(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-"
    )


class PageParser(HTMLParser):
    """Which elements, attributes and addresses a page has."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: list[str] = []
        self.attributes: set[str] = set()
        self.addresses: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.elements.append(tag)
        for name, value in attrs:
            self.attributes.add(name)
            if name in ("href", "src"):
                self.addresses.append(value)


OUR_ELEMENTS = {
    "html",
    "head",
    "meta",
    "link",
    "title",
    "style",
    "body",
    "h1",
    "h2",
    "h3",
    "p",
    "dl",
    "dt",
    "dd",
    "ul",
    "li",
    "div",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "pre",
    "code",
    "bdi",
    "script",
}


@pytest.mark.sampled(3)
@pytest.mark.long
@pytest.mark.parametrize("kind", NAMES)
def test_no_name_is_markup_in_html(bundles, kind):
    page = bundles[kind][1].files["incident.html"].decode()
    seen = PageParser()
    seen.feed(page)
    assert set(seen.elements) <= OUR_ELEMENTS
    assert seen.attributes <= {
        "lang",
        "charset",
        "http-equiv",
        "content",
        "name",
        "rel",
        "href",
        "class",
        "id",
        "type",
    }
    # The icon; nothing is fetched.
    assert seen.addresses == ["data:,"]
    assert seen.elements.count("script") == 3
    assert "\N{RIGHT-TO-LEFT OVERRIDE}" not in page
    assert "http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'sha256-" in page


@pytest.mark.sampled(3)
@pytest.mark.long
@pytest.mark.parametrize("kind", NAMES)
def test_no_name_is_markup_in_markdown(bundles, kind):
    """A Markdown parser of its own finds the same structure whatever the name: our headings, no link, no picture, no HTML."""
    page = bundles[kind][1].files["README.md"].decode()
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(page)
    inline = [child for token in tokens if token.type == "inline" for child in token.children]
    kinds = {child.type for child in inline}
    assert kinds <= {"text", "text_special", "code_inline", "strong_open", "strong_close", "softbreak"}
    assert not any(token.type.startswith("html") for token in tokens)
    headings = [token.tag for token in tokens if token.type == "heading_open"]
    calm = bundles["path"][1].files["README.md"].decode()
    assert headings == [t.tag for t in MarkdownIt("commonmark").parse(calm) if t.type == "heading_open"]
    assert "\N{RIGHT-TO-LEFT OVERRIDE}" not in page
    assert max(map(len, page.splitlines())) < 30_000


@pytest.mark.long
@pytest.mark.parametrize("kind", NAMES)
def test_csv_has_no_formulas_or_broken_rows(bundles, kind):
    incident, bundle = bundles[kind]
    for name in ("evidence.csv", "signals.csv"):
        rows = list(csv.reader(io.StringIO(bundle.files[name].decode(), newline="")))
        assert len(rows) > 1
        assert {len(row) for row in rows} == {len(rows[0])}
        for row in rows[1:]:
            for cell in row:
                number = cell.lstrip("-").replace(".", "", 1).replace("e-", "").isdigit()
                assert number or not cell.startswith(FORMULA_STARTS)
    column = rows[0].index("subscription")
    assert rows[1][column].removeprefix("'") == incident.key.subscription


@pytest.mark.parametrize("kind", NAMES)
def test_shell_file_runs_no_command(bundles, kind, tmp_path):
    script = bundles[kind][1].files["commands.sh"]
    assert all(line.startswith(b"#") for line in script.splitlines())
    assert b"pulsar-admin topicPolicies set-subscription-dispatch-rate" in script
    path = tmp_path / "commands.sh"
    path.write_bytes(script)
    done = subprocess.run([shutil.which("sh"), "-x", path], capture_output=True, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.parametrize("kind", NAMES)
def test_json_keeps_the_exact_name(bundles, kind):
    incident, bundle = bundles[kind]
    assert json.loads(bundle.files["verdicts.json"])["told"]["subscription"] == NAMES[kind]
    assert json.loads(bundle.files["manifest.json"])["subscription"] == str(incident.name)
    # One query a line, so that a name with a line end does not end one.
    queries = bundle.files["queries.promql"].decode()
    assert all(
        line.startswith(("#", "pulsar_", "rate(", "sum", "up{")) for line in queries.splitlines() if line
    )
