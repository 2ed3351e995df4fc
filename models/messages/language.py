"""Which language text is in, and which sentences each language has. In: a choice, or what an environment or a browser says. Out: a code and templates.

A language is chosen in one of two ways: for the process (:func:`set_process_language`, the command line), or for what runs in a block or
a request (:func:`use`, :func:`begin`), which has precedence. Threads started within a request do not inherit its language: pass it on with :func:`use`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

from throttlescope.models.messages.en import SENTENCES as ENGLISH
from throttlescope.models.messages.zh import SENTENCES as CHINESE

#: Sentences by language and key. A key that a language lacks is written in English.
LANGUAGES: Mapping[str, Mapping[str, str]] = {"en": ENGLISH, "zh": CHINESE}
#: Names of the languages, each in its own.
NAMES: Mapping[str, str] = {"en": "English", "zh": "中文"}
#: As HTML says them: the Chinese is in simplified characters.
HTML_CODES: Mapping[str, str] = {"en": "en", "zh": "zh-Hans"}
#: Where nothing was chosen; also of everything that is stored or read by machines.
DEFAULT_LANGUAGE = "en"
STORED_LANGUAGE = "en"

_TAG = re.compile(r"([A-Za-z]{2,3})(?:[-_][A-Za-z0-9]+)*(?:\.[\w-]+)?(?:@\w+)?")
#: A header lists a few languages; a longer one was chosen by no reader.
_LONGEST_HEADER, _MOST_CHOICES = 500, 20

_process = DEFAULT_LANGUAGE
_chosen: ContextVar[str | None] = ContextVar("throttlescope_language", default=None)


def current() -> str:
    """The language that text is written in now."""
    return _chosen.get() or _process


def set_process_language(language: str) -> None:
    """The language of this process, in all its threads."""
    global _process
    _process = _known(language)


def begin(language: str | None) -> None:
    """The language from here on in this thread, None: the process's. A server's thread begins and ends every request with it."""
    _chosen.set(None if language is None else _known(language))


@contextmanager
def use(language: str) -> Iterator[None]:
    """The language in the block."""
    before = _chosen.set(_known(language))
    try:
        yield
    finally:
        _chosen.reset(before)


def template(key: str, language: str) -> str:
    """A key's sentence with its placeholders; in English where the language lacks it."""
    sentences = LANGUAGES[language]
    return sentences[key] if key in sentences else ENGLISH[key]


def language_of(tag: str | None) -> str | None:
    """The language that a tag names, such as ``zh``, ``zh-CN`` or ``zh_CN.UTF-8``; None where it names none that there is."""
    found = _TAG.fullmatch(tag.strip()) if tag else None
    code = found[1].lower() if found else None
    return code if code in LANGUAGES else None


def of_environment(environment: Mapping[str, str]) -> str:
    """The language of a terminal: the first of ``LC_ALL``, ``LC_MESSAGES`` and ``LANG`` that is set decides, as POSIX says."""
    first = next(
        (value for name in ("LC_ALL", "LC_MESSAGES", "LANG") if (value := environment.get(name))), None
    )
    return language_of(first) or DEFAULT_LANGUAGE


def of_header(accept_language: str) -> str:
    """The language that a browser likes best among those that there are, by its ``Accept-Language``."""
    best, best_weight = DEFAULT_LANGUAGE, 0.0
    for choice in accept_language[:_LONGEST_HEADER].split(",")[:_MOST_CHOICES]:
        tag, _, parameter = choice.partition(";")
        language, weight = language_of(tag), _weight(parameter)
        if language is not None and weight > best_weight:
            best, best_weight = language, weight
    return best


def _weight(parameter: str) -> float:
    name, _, value = parameter.strip().partition("=")
    if not name:
        return 1.0
    return float(value) if name == "q" and re.fullmatch(r"[01](\.\d{0,3})?", value) else 0.0


def _known(language: str) -> str:
    if language not in LANGUAGES:
        raise ValueError(f"no language {language!r}; there are {', '.join(LANGUAGES)}")
    return language
