"""The Chinese sentences against the English ones, the rules of Chinese technical writing, and the table of terms."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from string import Formatter

from throttlescope.models.messages import en, zh
from throttlescope.models.messages.en import SENTENCES as ENGLISH
from throttlescope.models.messages.zh import SENTENCES as CHINESE

TERMS_PAGE = Path(__file__).parents[3] / "docs" / "background" / "zh-terms.md"
HAN = r"[\u3400-\u9fff]"
#: What is the same in every language: flags, settings, metrics, figures, abbreviations.
NAMES = r"--[a-z][a-z-]+|\b[a-z]+[A-Z]\w+|\b\w+_\w+\b|\d[\d.,]*\d|\d|\b[A-Z]{2,}\b"
#: Written within a sentence, not part of it.
CODE = r"`[^`]*`|\{[^{}]*\}"


def sentences_by_module(folder) -> dict[str, dict[str, str]]:
    names = [module.name for module in iter_modules(folder.__path__)]
    return {name: import_module(f"{folder.__name__}.{name}").SENTENCES for name in names}


def placeholders(template: str) -> list[tuple[str, str]]:
    """Names with units, each as often as it is there."""
    return sorted((name, unit or "") for _, name, unit, _ in Formatter().parse(template) if name is not None)


def prose(template: str) -> str:
    return re.sub(CODE, "", template)


def found(pattern: str) -> dict[str, str]:
    return {key: text for key, text in CHINESE.items() if re.search(pattern, text)}


def terms() -> list[tuple[str, list[str], list[str]]]:
    """Rows of the table of terms: English, Chinese words, and words that are not to be used."""
    rows = re.findall(
        r"^\| ([^|]+) \| ([^|]+) \| ([^|]+) \|[^|]*\|$", TERMS_PAGE.read_text(encoding="utf-8"), re.M
    )
    return [
        (english, chinese.split("、"), [] if avoid == "-" else avoid.split("、"))
        for english, chinese, avoid in rows[1:]
    ]


def test_modules_have_the_same_keys():
    chinese = sentences_by_module(zh)
    for name, sentences in sentences_by_module(en).items():
        assert list(chinese.get(name, ())) == list(sentences), name


def test_placeholders_and_units_are_the_same():
    wrong = [key for key, text in CHINESE.items() if placeholders(text) != placeholders(ENGLISH[key])]
    assert wrong == []


def test_lines_are_as_many():
    assert [key for key, text in CHINESE.items() if text.count("\n") != ENGLISH[key].count("\n")] == []


def test_names_and_figures_are_kept():
    lost = {}
    for key, text in CHINESE.items():
        if missing := [
            name for name in re.findall(NAMES, re.sub(r"\{[^{}]*\}", "", ENGLISH[key])) if name not in text
        ]:
            lost[key] = missing
    assert lost == {}


def test_no_sentence_is_left_in_english():
    """A text without Chinese consists of placeholders, names, units, and terms that stay as they are."""
    kept = {"msg", *(word for _, chinese, _ in terms() for word in chinese if not re.search(HAN, word))}
    left = {
        key: text
        for key, text in CHINESE.items()
        if not re.search(HAN, text) and set(re.findall(r"\b[a-z]{3,}", prose(text))) - kept
    }
    assert {"broker", "permit"} < kept
    assert left == {}


def test_punctuation_is_full_width():
    assert found(rf"{HAN}[,;:!?()]|[,;:!?()]{HAN}|{HAN}\.(\s|$)") == {}


def test_latin_words_are_set_apart():
    """One space between a Chinese character and a word or figure; none between Chinese characters or next to punctuation."""
    assert {key for key, text in CHINESE.items() if re.search(rf"{HAN}\w", prose(text), re.A)} == set()
    assert {key for key, text in CHINESE.items() if re.search(rf"[A-Za-z0-9]{HAN}", prose(text))} == set()
    assert found(rf"{HAN} +{HAN}| [，。；：、）（]|[，。；：、（）] |  ") == {}


def test_sentences_end_as_in_english():
    """A whole sentence stays one, and a part of a sentence a part; the point of a short form is none."""
    wrong = {
        key: text
        for key, text in CHINESE.items()
        if not key.endswith("_short")
        and not ENGLISH[key].endswith(("...", "}"))
        and ENGLISH[key].endswith(".") != text.endswith("。")
    }
    assert wrong == {}


def test_causes_have_labels_of_their_own():
    labels = [text for key, text in CHINESE.items() if re.fullmatch(r"cause\.\w+\.label", key)]
    assert len(labels) > 20
    assert len(set(labels)) == len(labels)


def test_words_of_the_table_are_used():
    assert len(terms()) > 40
    for english, chinese, _ in terms():
        for word in chinese:
            assert any(word in text for text in CHINESE.values()), f"{english}: {word}"


def test_other_words_than_those_of_the_table_are_not_used():
    for english, _, avoid in terms():
        for word in avoid:
            assert found(word) == {}, english


def test_delay_is_not_a_backlog():
    """延迟 is delayed delivery, which is on purpose; a backlog is 积压, and latency 时延."""
    wrong = [key for key in found("延迟") if "delay" not in ENGLISH[key].lower()]
    assert wrong == []
    assert all("积压" in CHINESE[key] for key in ("answer.backlog_unknown", "incident.backlog.ready"))
