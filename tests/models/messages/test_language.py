"""The current language: chosen for a process or a block, by an environment or a browser; stored text stays English."""

from __future__ import annotations

import threading

import pytest

from throttlescope.models.messages import language, units
from throttlescope.models.messages.catalogue import Message, message, render, sentence
from throttlescope.models.messages.limiting import limiter, limiting_factor
from throttlescope.models.messages.stored import forecast_in_language, packed, unpacked, verdict_in_language


@pytest.fixture(autouse=True)
def english():
    with language.use("en"):
        yield


@pytest.mark.parametrize(
    ("tag", "code"),
    [("zh", "zh"), ("zh-CN", "zh"), ("zh_CN.UTF-8", "zh"), ("ZH-Hans-CN", "zh"), ("en_US.UTF-8", "en"), ("de", None),
     ("C", None), ("C.UTF-8", None), ("", None), (None, None), ("zh; DROP", None)],
)  # fmt: skip
def test_tags_name_languages(tag, code):
    assert language.language_of(tag) == code


@pytest.mark.parametrize(
    ("environment", "code"),
    [({}, "en"), ({"LANG": "zh_CN.UTF-8"}, "zh"), ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}, "en"),
     ({"LANG": "C", "LC_MESSAGES": "zh_CN"}, "zh"), ({"LANG": "zh_CN", "LC_ALL": ""}, "zh")],
)  # fmt: skip
def test_first_variable_that_is_set_decides(environment, code):
    assert language.of_environment(environment) == code


@pytest.mark.parametrize(
    ("header", "code"),
    [("zh-CN,zh;q=0.9,en;q=0.8", "zh"), ("en-US,en;q=0.9,zh;q=0.8", "en"), ("de,zh;q=0.5", "zh"), ("de", "en"),
     ("zh;q=0,en;q=0.1", "en"), ("zh;q=high", "en"), ("", "en"), ("*", "en"), ("," * 10_000 + "zh", "en")],
)  # fmt: skip
def test_browser_prefers_by_weight(header, code):
    assert language.of_header(header) == code


def test_units_follow_the_language():
    with language.use("zh"):
        assert units.duration(8040) == "2 小时 14 分钟"
        assert units.per_period(8000, 10, "msg") == "每 10 秒 8,000 msg"
        assert units.counted(1200, "episode") == "1,200 个积压时段"
        assert (limiter("topic.msg"), limiting_factor("consumers")) == ("主题消息限流", "消费者")
    assert units.duration(8040) == "2 h 14 min"
    assert limiting_factor("broker.bytes") == "the broker byte limit"


def test_nested_messages_follow_the_language():
    levels = [message("limiting.level.topic"), message("limiting.level.subscription")]
    one = message("missing.limits.what", levels=levels)
    assert one.text == "the topic, subscription limits: no metric carries them"
    with language.use("zh"):
        assert "主题、订阅" in one.text
        assert one.stored == "the topic, subscription limits: no metric carries them"


def test_key_without_translation_is_english(monkeypatch):
    without = {key: text for key, text in language.LANGUAGES["zh"].items() if key != "label.copy"}
    monkeypatch.setattr(language, "LANGUAGES", {**language.LANGUAGES, "zh": without})
    assert language.template("label.copy", "zh") == "copy"
    assert language.template("label.copied", "zh") == "已复制"


def test_language_of_process_reaches_threads():
    """A choice in a block does not: a thread has to be given it."""
    found = []
    language.set_process_language("zh")
    try:
        with language.use("en"):
            thread = threading.Thread(target=lambda: found.append(sentence("label.copy")))
            thread.start()
            thread.join()
            assert (found, sentence("label.copy")) == (["复制"], "copy")
    finally:
        language.set_process_language("en")


def test_unknown_language_is_refused():
    with pytest.raises(ValueError, match="no language 'de'"), language.use("de"):
        pass


def test_packed_message_renders_the_same():
    limit = {
        "level": message("limiting.level.topic"),
        "kind": message("limiting.kind.msg"),
        "limit": (500, 1, "msg"),
    }
    one = Message("symptom.limiter_at_limit.used", {**limit, "rho": 0.98})
    assert unpacked(packed(one)).text == one.text == "The topic's message limit (500 msg/s) is 98 % used."


def test_stored_row_is_shown_in_the_language():
    gap, remedy = (
        message("missing.limits.what", levels=[message("limiting.level.topic")]),
        message("missing.limits.fix"),
    )
    because = message("cause.slow_consumers.because.never_idle", limit=message("limiting.kind.msg"))
    row = {
        "evidence": [{"symptom": "x", "text": "stored"}],
        "missing_evidence": [{"what": "stored", "fix": "stored"}],
        "contributing": [],
        "why": "stored",
        "messages": {
            "evidence": [packed(message("label.copy"))], "missing_evidence": [packed(gap), packed(remedy)],
            "contributing": [], "why": packed(because),
        },
    }  # fmt: skip
    assert verdict_in_language(row)["why"] == "stored"
    with language.use("zh"):
        found = verdict_in_language(row)
        assert found["evidence"] == [{"symptom": "x", "text": "复制"}]
        assert found["missing_evidence"] == [{"what": render(gap), "fix": render(remedy)}]
        assert found["why"] == render(because)
        assert "messages" not in found
        older = verdict_in_language({**row, "messages": None})
        assert (older["why"], older["evidence"][0]["text"]) == ("stored", "stored")
    assert row["evidence"][0]["text"] == "stored"


def test_stored_forecast_is_shown_in_the_language():
    row = {
        "consequence": "stored",
        "basis": "stored",
        "messages": {"consequence": [packed(message("label.copy"))], "basis": []},
    }
    with language.use("zh"):
        assert forecast_in_language(row) == {"consequence": "复制", "basis": "stored"}
