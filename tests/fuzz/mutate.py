"""Inputs that are nearly right. In: a random generator and inputs that are right. Out: one of them, changed a little or a lot."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence

_BYTES = (0, 1, 2, 8, 9, 10, 0x12, 0x1A, 0x22, 0x7F, 0x80, 0x81, 0xFE, 0xFF)
_NUMBERS = (
    b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
    b"\xff" * 9 + b"\x7f",
    b"\x80" * 12,
    b"\x80\x80\x80\x80\x08",
    b"\xff\xff\xff\xff\x0f",
    b"\xff\xff\xff\xff\x07",
    b"\x00" * 8,
    b"\xff" * 8,
    b"\x7f" + b"\xff" * 7,
    b"\x80" + b"\x00" * 7,
    b"\x02\x00\x00\x00\x00\x00\xf0\x7f",
    b"\xff\xff",
)
ODD_TEXTS = (
    "", " ", "\x00", "\x1b[31m", "\x7f", "\x85", "\u2028", "\u202e", "\ufeff", "\ufffd", "\U0010ffff", "\u0661", "\u00b2", "\uff11",
    "\ud800", "\udfff", "\udcff", "e\u0301", "\u0130", "-0", "0x10", "1e309", "1e-400", "nan", "inf", "-inf", "9" * 20, "9" * 400, "9" * 5_000,
    "0" * 5_000, "18446744073709551616", "9223372036854775808", "-9223372036854775809", "../../etc/passwd", "C:\\nul", "%00", "%2e%2e%2f",
    "=1+1", "@SUM(1)", "+1", "-1", "<script>alert(1)</script>", "'; DROP TABLE x; --", "${jndi:ldap://x}", "{{7*7}}", "a\nb", "a\r\nb", "\t",
    "x" * 10_000, "\u00e4" * 3_000, "null", "true", "~", "[", "{", "}}", "&a", "*a", "<<", "!!python/object:x", "?", "|", ">", "#", "://", "[::",
    "http://[", "s3://[", "s3:/", "0000-00-00", "9999-12-31T23:59:60Z", "2026-02-30", "0001-01-01T00:00:00+23:59",
)  # fmt: skip


def mutated_bytes(rng: random.Random, seeds: Sequence[bytes], *, most: int = 4_096) -> bytes:
    """One of the seeds after some changes, or a few bytes of nothing."""
    if rng.random() < 0.02:
        return rng.randbytes(rng.randrange(64))
    content = bytearray(rng.choice(seeds))
    for _ in range(rng.choice((0, 1, 1, 1, 1, 2, 2, 3, 5, 9))):
        _change(rng, content, seeds)
        if len(content) > most:
            del content[most:]
    return bytes(content)


def _change(rng: random.Random, content: bytearray, seeds: Sequence[bytes]) -> None:
    size = len(content)
    at = rng.randrange(size + 1)
    until = min(size, at + rng.choice((1, 1, 2, 3, 4, 8, 32, 200)))
    kind = rng.randrange(10)
    if kind == 0 and at < size:
        content[at] ^= 1 << rng.randrange(8)
    elif kind == 1 and at < size:
        content[at] = rng.choice(_BYTES)
    elif kind == 2 and at < size:
        content[at] = rng.randrange(256)
    elif kind == 3:
        del content[at:until]
    elif kind == 4:
        content[at:at] = content[at:until] * rng.choice((1, 1, 2, 5, 20))
    elif kind == 5:
        content[at:at] = rng.randbytes(rng.choice((1, 1, 2, 4, 9, 40)))
    elif kind == 6:
        number = rng.choice(_NUMBERS)
        content[at : at + rng.choice((0, 1, len(number)))] = number
    elif kind == 7:
        other = rng.choice(seeds)
        low = rng.randrange(len(other) + 1)
        content[at:until] = other[low : low + rng.choice((1, 4, 16, 200))]
    elif kind == 8:
        del content[at:]
    elif at < size:
        # Lengths stand in single bytes.
        content[at] = (content[at] + rng.choice((-2, -1, 1, 2, 64))) & 0xFF


def mutated_text(
    rng: random.Random, seeds: Sequence[str], words: Sequence[str] = (), *, most: int = 20_000
) -> str:
    """One of the seeds after some changes; ``words`` are what the language is made of."""
    text = rng.choice(seeds)
    for _ in range(rng.choice((0, 1, 1, 1, 1, 2, 2, 3, 5, 9))):
        text = _changed(rng, text, seeds, words)[:most]
    return text


def _changed(rng: random.Random, text: str, seeds: Sequence[str], words: Sequence[str]) -> str:
    at = rng.randint(0, len(text))
    until = min(len(text), at + rng.choice((1, 1, 2, 4, 10, 60)))
    kind = rng.randrange(11)
    if kind == 0:
        return text[:at] + text[until:]
    if kind == 1:
        return text[:at] + rng.choice(ODD_TEXTS) + text[at:]
    if kind == 2:
        return text[:at] + rng.choice(ODD_TEXTS) + text[until:]
    if kind in (3, 4) and words:
        return text[:at] + rng.choice(words) + text[at if kind == 3 else until :]
    if kind == 5:
        return text[:at] + text[at:until] * rng.choice((2, 3, 20, 300)) + text[until:]
    if kind == 6:
        other = rng.choice(seeds)
        low = rng.randint(0, len(other))
        return text[:at] + other[low : low + rng.choice((4, 30, 300))] + text[until:]
    if kind == 7:
        return text[:at]
    if kind == 8:
        return text[:at] + chr(rng.randint(1, 126)) + text[at + 1 :]
    if kind == 9:
        lines = text.split("\n")
        low = rng.randrange(len(lines))
        lines[low:low] = [lines[rng.randrange(len(lines))]] * rng.choice((1, 1, 2, 40))
        return "\n".join(lines)
    return text[:at] + text[at:until][::-1] + text[until:]


# -- JSON ------------------------------------------------------------------------------------

_DEEP = '"@deep@"'
_WHOLE = '"@whole@"'


def mutated_json(rng: random.Random, value: object) -> str:
    """The JSON text of a value in which some nodes were replaced, left out, doubled or renamed; at times not even JSON."""
    for _ in range(rng.choice((0, 1, 1, 1, 2, 3, 6))):
        value = _changed_node(rng, value)
    text = json.dumps(value)
    text = text.replace(_DEEP, rng.choice(("[" * 20_000 + "]" * 20_000, '{"a":' * 3_000 + "1" + "}" * 3_000)))
    text = text.replace(_WHOLE, "9" * rng.choice((30, 400, 5_000)))
    if rng.random() < 0.15:
        text = mutated_text(
            rng, [text], ('"', ",", ":", "{", "}", "[", "]", "null", "1e999", "NaN", "\\ud800")
        )
    return text


def odd_value(rng: random.Random) -> object:
    """What nobody asked for."""
    return rng.choice(
        (
            None, True, False, 0, -1, 1, 2**31, 2**63, -(2**63) - 1, 2**64, 1.5, -0.0, 1e308, float("nan"), float("inf"), "", "x", [], {}, [[]],
            [None], {"": None}, ["a", 1], {"a": {"a": {}}}, rng.choice(ODD_TEXTS), "@deep@", "@whole@", [1] * 50,
        )
    )  # fmt: skip


def _changed_node(rng: random.Random, value: object) -> object:
    if rng.random() < 0.25 or not isinstance(value, (dict, list)) or not value:
        return odd_value(rng)
    if isinstance(value, list):
        at = rng.randrange(len(value))
        kind = rng.random()
        if kind < 0.1:
            return [*value[:at], *value[at + 1 :]]
        if kind < 0.2:
            return [*value[:at], value[at], *value[at:]]
        return [*value[:at], _changed_node(rng, value[at]), *value[at + 1 :]]
    name = rng.choice(list(value))
    kind = rng.random()
    if kind < 0.15:
        return {key: inner for key, inner in value.items() if key != name}
    if kind < 0.25:
        return {(rng.choice(ODD_TEXTS) if key == name else key): inner for key, inner in value.items()}
    return value | {name: _changed_node(rng, value[name])}
