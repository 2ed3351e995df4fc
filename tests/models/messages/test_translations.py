"""Translations: every sentence has one, of the English sentence as it is now, with the same placeholders."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs.generate.translations import TRANSLATIONS, TranslationFaults, faults
from throttlescope.models.messages.language import HTML_CODES, LANGUAGES, NAMES
from throttlescope.models.messages.unit_words import WORDS

#: Keys that are written in English for now, with the reason.
NOT_TRANSLATED: dict[str, str] = {}

ROOT = Path(__file__).parents[3]


@pytest.fixture(params=TRANSLATIONS)
def found(request) -> TranslationFaults:
    return faults(request.param)


def test_every_sentence_is_translated(found):
    assert sorted(set(found.missing) - NOT_TRANSLATED.keys()) == []
    assert sorted(NOT_TRANSLATED.keys() - set(found.missing)) == [], "translated by now"


def test_no_translation_is_stale(found):
    """``make translations`` records a new translation; see ``docs/generate/translations.py``."""
    assert found.stale == []
    assert found.unknown == []


def test_placeholders_of_translations_are_the_same(found):
    assert found.other_placeholders == []


def test_each_language_has_words_of_units():
    assert set(WORDS) == set(LANGUAGES) == set(NAMES) == set(HTML_CODES)


@pytest.mark.long
@pytest.mark.parametrize("language", TRANSLATIONS)
def test_each_counted_noun_is_translated(language):
    """Nouns are given in English where something is counted."""
    nouns = set()
    for room in ("app", "models"):
        for path in (ROOT / room).rglob("*.py"):
            nouns |= set(
                re.findall(r'(?<!\.)\bcounted\((?:[^()"]|\([^()]*\))*, "([a-z ]+)"', path.read_text())
            )
    assert len(nouns) > 10
    assert sorted(nouns - WORDS[language].nouns.keys()) == []
