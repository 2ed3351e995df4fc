"""Spaces where values meet Chinese text. In: pieces of a sentence. Out: the sentence.

A value may be Chinese, Latin or a figure, which its template does not know. Between Chinese and Latin words or figures there is one space;
between Chinese characters, and next to full-width punctuation, there is none. Inside a piece nothing is changed: a name stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import reduce

_HAN = r"\u3400-\u4dbf\u4e00-\u9fff"
_PUNCTUATION = r"\u3001\u3002\u300c\u300d\uff01\uff08\uff09\uff0c\uff1a\uff1b\uff1f"
_CHINESE = re.compile(f"[{_HAN}]")
_WORD = re.compile(r"[A-Za-z0-9]")
_MARK = re.compile(f"[{_PUNCTUATION}]")


def joined(pieces: Iterable[str]) -> str:
    """The pieces as one text; of a text without Chinese characters they are only put together."""
    found = list(pieces)
    text = "".join(found)
    if text.isascii() or not _CHINESE.search(text):
        return text
    return reduce(_with_seam, filter(None, found), "")


def text_of(sentences: Iterable[str]) -> str:
    """Sentences, one after the other: with a space between them, or none after a full-width stop."""
    first, *others = sentences
    return joined([first, *(part for sentence in others for part in (" ", sentence))])


def _with_seam(before: str, after: str) -> str:
    left, right = before.rstrip(" "), after.lstrip(" ")
    if not left or not right:
        return before + after
    last, first = left[-1], right[0]
    chinese = bool(_CHINESE.match(last)), bool(_CHINESE.match(first))
    if all(chinese) or _MARK.match(last) or _MARK.match(first):
        return left + right
    if any(chinese) and (_WORD.match(last) or _WORD.match(first)):
        return f"{left} {right}"
    return before + after
