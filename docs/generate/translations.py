"""Which English sentence each translation was made from. In: the catalogues, ``models/messages/LANGUAGE/sources.json``. Out: that file, and what is missing or stale.

``make translations`` after a sentence was translated. A translation whose English sentence has changed since is stale, and stays so until
it is translated again, or confirmed to be right as it is: ``python -m docs.generate.translations --confirm KEY``.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from throttlescope.models import messages
from throttlescope.models.messages.catalogue import LANGUAGES, placeholders

SOURCE_LANGUAGE = "en"
TRANSLATIONS = tuple(language for language in LANGUAGES if language != SOURCE_LANGUAGE)
_DIGITS = 8


@dataclass(frozen=True)
class TranslationFaults:
    """Keys of one language: not translated; of no English sentence; translated from another sentence; with other placeholders."""

    missing: list[str]
    unknown: list[str]
    stale: list[str]
    other_placeholders: list[str]


def faults(language: str) -> TranslationFaults:
    """What is wrong with one language."""
    english, translated, recorded = LANGUAGES[SOURCE_LANGUAGE], LANGUAGES[language], read(language)
    common = sorted(english.keys() & translated.keys())
    return TranslationFaults(
        missing=sorted(english.keys() - translated.keys()),
        unknown=sorted(translated.keys() - english.keys()),
        stale=[key for key in common if recorded.get(key) != _digests(language, key)],
        other_placeholders=[key for key in common if placeholders(key, language) != placeholders(key)],
    )


def read(language: str) -> dict[str, str]:
    """Recorded digests by key: of the English sentence and of its translation; empty where nothing was recorded yet."""
    path = _path(language)
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def updated(language: str, confirmed: frozenset[str] = frozenset()) -> dict[str, str]:
    """The digests with those of new, changed and confirmed translations."""
    recorded, found = read(language), {}
    for key in sorted(LANGUAGES[SOURCE_LANGUAGE].keys() & LANGUAGES[language].keys()):
        before, now = recorded.get(key), _digests(language, key)
        is_same_text = before is not None and before.split()[1] == now.split()[1]
        found[key] = before if is_same_text and key not in confirmed else now
    return found


def _digests(language: str, key: str) -> str:
    texts = LANGUAGES[SOURCE_LANGUAGE][key], LANGUAGES[language][key]
    return " ".join(hashlib.sha256(text.encode()).hexdigest()[:_DIGITS] for text in texts)


def _path(language: str) -> Path:
    return Path(messages.__file__).parent / language / "sources.json"


def main() -> None:
    """Record new translations of every language, and print what is missing or stale."""
    parser = argparse.ArgumentParser(
        prog="python -m docs.generate.translations",
        description="Record which English sentence each translation was made from.",
    )
    parser.add_argument(
        "--confirm",
        metavar="KEY",
        action="append",
        default=[],
        help="it is right although the English changed",
    )
    confirmed = frozenset(parser.parse_args().confirm)
    for language in TRANSLATIONS:
        digests = updated(language, confirmed)
        text = json.dumps(digests, indent=0, sort_keys=True, ensure_ascii=False)
        _path(language).write_text(f"{text}\n", encoding="utf-8")
        found = faults(language)
        for kind in ("missing", "unknown", "stale", "other_placeholders"):
            for key in getattr(found, kind):
                print(f"{language}: {kind.replace('_', ' ')}: {key}")


if __name__ == "__main__":
    main()
