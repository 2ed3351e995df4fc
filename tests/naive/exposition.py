"""Slow reader of Prometheus' text format: one character at a time.

In: the bytes of a scrape. Out: (name, labels, value) of every sample; a ValueError where it is no such text.
"""

from __future__ import annotations

_NAME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_:0123456789")
_ESCAPES = {"\\": "\\", '"': '"', "n": "\n"}


def read_exposition(content: bytes) -> list[tuple[str, dict[str, str], float]]:
    """All samples of a scrape."""
    text = content.decode()
    if not text.endswith("\n"):
        raise ValueError("the last line does not end")
    # Only a line feed ends a line: a value may hold any other character as it is.
    return [_sample(line) for line in text[:-1].split("\n") if not line.startswith("#")]


def _sample(line: str) -> tuple[str, dict[str, str], float]:
    at = 0
    while at < len(line) and line[at] in _NAME:
        at += 1
    name, labels = line[:at], {}
    if line[at : at + 1] == "{":
        at += 1
        while line[at] != "}":
            start = at
            while line[at] in _NAME:
                at += 1
            label = line[start:at]
            if line[at : at + 2] != '="' or label in labels:
                raise ValueError(f"no label in {line!r}")
            value, at = _quoted(line, at + 2)
            labels[label] = value
            if line[at] == ",":
                at += 1
        at += 1
    if line[at : at + 1] != " " or not name:
        raise ValueError(f"no sample in {line!r}")
    return name, labels, float(line[at + 1 :])


def _quoted(line: str, at: int) -> tuple[str, int]:
    out = []
    while line[at] != '"':
        if line[at] == "\\":
            at += 1
            out.append(_ESCAPES[line[at]])
        else:
            out.append(line[at])
        at += 1
    return "".join(out), at + 1
