"""The language of a reader: pages by cookie or browser, the terminal by ``--lang`` or its environment; what programs read stays English."""

from __future__ import annotations

import json
import re

import pytest

from tests.app.commands import throttlescope
from tests.app.lake_of_verdicts import healthy, lake_with, verdict
from tests.app.web.sample_lake import write_sample_lake
from throttlescope.app.rules_export.export import all_rules
from throttlescope.app.rules_export.options import ExportOptions
from throttlescope.app.rules_export.rule_records import Alerting
from throttlescope.app.server import app
from throttlescope.app.web.request_language import COOKIE
from throttlescope.models.messages import language
from throttlescope.models.messages.catalogue import message, sentence
from throttlescope.models.messages.stored import packed

CHINESE = re.compile(r"[\u4e00-\u9fff]")


@pytest.fixture
def client(tmp_path):
    write_sample_lake(tmp_path / "lake")
    return app.create_app(tmp_path / "lake").server.test_client()


@pytest.fixture
def lake(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    finding = message("label.not_measured")
    spoken = {"evidence": [packed(finding)], "missing_evidence": [], "contributing": [], "why": None}
    return lake_with(tmp_path / "lake", [verdict(0, messages=spoken), healthy(1)])


@pytest.mark.long
@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("accepted", "cookie", "code", "html"),
    [
        (None, None, "en", "en"),
        ("zh-CN,zh;q=0.9,en;q=0.8", None, "zh", "zh-Hans"),
        ("zh-CN", "en", "en", "en"),
        (None, "zh", "zh", "zh-Hans"),
        (None, "%3Cscript%3E", "en", "en"),
    ],
)
def test_page_is_in_the_readers_language(client, accepted, cookie, code, html):
    """Also its frame before any script, and the layout that the browser draws; the next request has a language of its own."""
    headers = {} if accepted is None else {"Accept-Language": accepted}
    if cookie is not None:
        client.set_cookie(COOKIE, cookie)
    answer = client.get("/", headers=headers)
    assert f'<html lang="{html}">' in answer.text
    assert answer.headers["Content-Language"] == html
    assert {"Accept-Language", "Cookie"} <= set(answer.headers["Vary"].split(", "))
    with language.use(code):
        limits = sentence("label.page.limits")
    assert f">{limits}</a>" in answer.text
    layout = client.get("/_dash-layout", headers=headers).get_data(as_text=True)
    assert json.dumps(limits)[1:-1] in layout or limits in layout
    client.delete_cookie(COOKIE)
    assert '<html lang="en">' in client.get("/").text


@pytest.mark.long
def test_what_programs_read_stays_english(client):
    headers = {"Accept-Language": "zh-CN"}
    client.set_cookie(COOKIE, "zh")
    answer = client.get("/api/v1/query", headers=headers)
    assert answer.status_code == 400
    assert not CHINESE.search(answer.text)
    assert not CHINESE.search(client.get("/metrics", headers=headers).text)


@pytest.mark.long
def test_option_precedes_the_environment(lake, monkeypatch):
    heading = {}
    for code in language.LANGUAGES:
        with language.use(code):
            heading[code] = sentence("label.confidence_heading")
    english = throttlescope("verdicts", "--lake", lake.root)
    assert heading["en"] in english.out
    monkeypatch.setenv("LC_ALL", "")
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    assert heading["zh"] in throttlescope("verdicts", "--lake", lake.root).out
    assert heading["zh"] not in throttlescope("--lang", "en", "verdicts", "--lake", lake.root).out
    monkeypatch.setenv("LANG", "C")
    assert heading["zh"] in throttlescope("--lang", "zh-CN", "verdicts", "--lake", lake.root).out


@pytest.mark.long
def test_json_is_english_in_every_language(lake):
    english, chinese = (
        throttlescope("--lang", code, "verdicts", "--lake", lake.root, "--format", "json").out
        for code in ("en", "zh")
    )
    assert json.loads(english) == json.loads(chinese)
    assert "messages" not in json.loads(english)[0]


def test_unknown_language_is_refused():
    outcome = throttlescope("--lang", "klingon", "recordings")
    assert outcome.code == 2
    assert "'klingon' is not one of en, zh" in outcome.line


def test_exported_alerts_follow_the_language():
    """Expressions, names and labels do not."""
    english = [rule for rule in all_rules(ExportOptions()) if isinstance(rule, Alerting)]
    with language.use("zh"):
        chinese = [rule for rule in all_rules(ExportOptions()) if isinstance(rule, Alerting)]
    assert [(one.alert, one.expr, one.labels) for one in chinese] == [
        (one.alert, one.expr, one.labels) for one in english
    ]
    assert any(CHINESE.search(one.annotations["summary"]) for one in chinese)
    assert not any(CHINESE.search(text) for one in english for text in one.annotations.values())
