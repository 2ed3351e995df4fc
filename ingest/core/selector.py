"""Selectors. In: text such as ``pulsar_rate_in{namespace=~"acme/.*"}``. Out: a :class:`Selector` of matchers.

The parser reads characters, not tokens, and knows its position at every step, so that the PromQL parser can call
:func:`parse_selector_at` in the middle of an expression. The language is that of Prometheus 3.5: three kinds of
string, quoted metric and label names, comments, a trailing comma; ``or`` inside braces is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.regex import compile_pattern

NAME_LABEL = "__name__"

EQUAL, NOT_EQUAL, REGEX, NOT_REGEX = "=", "!=", "=~", "!~"
OPERATORS = (EQUAL, NOT_EQUAL, REGEX, NOT_REGEX)

_METRIC_NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
_LABEL_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
_SKIP = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_SIMPLE_ESCAPES = {"a": 7, "b": 8, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11, "\\": 92}
_NUMBER_ESCAPES = {"x": (2, 16), "u": (4, 16), "U": (8, 16)}
_ODD_NAME = "a name with other characters than letters, digits and _ is written in straight quotes"
_SMART_QUOTES = "\u201c\u201d\u201e\u2018\u2019\u201a\u00ab\u00bb"


class SelectorSyntaxError(InputError):
    """The text is no selector; ``position`` is the offset in characters where reading stopped."""

    position: int | None = None


@dataclass(frozen=True)
class Matcher:
    """One condition on one label.

    Attributes
    ----------
    name : str
        Label name; ``__name__`` for the metric name.
    op : str
        ``=``, ``!=``, ``=~`` or ``!~``.
    value : str
        Text, or for the last two a regular expression of RE2.
    """

    name: str
    op: str
    value: str

    def __post_init__(self) -> None:
        if self.op not in OPERATORS:
            raise InputError("Unknown matcher operator", got=repr(self.op), expected=" ".join(OPERATORS))
        if self.op in (REGEX, NOT_REGEX):
            compile_pattern(self.value)

    def matches(self, value: str | None) -> bool:
        """Whether a label value satisfies the matcher; a missing label (None) is the empty string."""
        value = value or ""
        if self.op == EQUAL:
            return value == self.value
        if self.op == NOT_EQUAL:
            return value != self.value
        return compile_pattern(self.value).matches(value) == (self.op == REGEX)

    def matches_each(self, values: Sequence[str]) -> list[bool]:
        """:meth:`matches` of each value; each different one is looked at once."""
        if self.op in (EQUAL, NOT_EQUAL):
            return [(value == self.value) == (self.op == EQUAL) for value in values]
        different = list(dict.fromkeys(values))
        fits = dict(zip(different, compile_pattern(self.value).matches_each(different), strict=True))
        return [fits[value] == (self.op == REGEX) for value in values]

    @property
    def _name_text(self) -> str:
        return self.name if _LABEL_NAME.fullmatch(self.name) else quote(self.name)

    def __str__(self) -> str:
        return f"{self._name_text}{self.op}{quote(self.value)}"


@dataclass(frozen=True)
class Selector:
    """A conjunction of matchers. ``str()`` gives PromQL text that parses back to an equal selector."""

    matchers: tuple[Matcher, ...]

    @property
    def metric_name(self) -> str | None:
        """The one metric that is named by equality, or None."""
        names = {m.value for m in self.matchers if m.name == NAME_LABEL and m.op == EQUAL}
        return names.pop() if len(names) == 1 else None

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether a label set, with ``__name__`` in it, satisfies every matcher."""
        return all(matcher.matches(labels.get(matcher.name)) for matcher in self.matchers)

    def with_matchers(self, extra: Iterable[Matcher]) -> Selector:
        """This selector narrowed by more matchers."""
        return Selector(tuple(dict.fromkeys((*self.matchers, *extra))))

    def __str__(self) -> str:
        name = self.metric_name
        first = Matcher(NAME_LABEL, EQUAL, name) if name else None
        rest = [str(m) for m in self.matchers if m != first]
        if name is None:
            return "{" + ",".join(rest) + "}"
        if _METRIC_NAME.fullmatch(name):
            return name + ("{" + ",".join(rest) + "}" if rest else "")
        return "{" + ",".join([quote(name), *rest]) + "}"


def metric_selector(metric_name: str, matchers: Iterable[Matcher] = ()) -> Selector:
    """The selector of one metric, narrowed by ``matchers``."""
    return Selector((Matcher(NAME_LABEL, EQUAL, metric_name),)).with_matchers(matchers)


def quote(value: str) -> str:
    """A double-quoted PromQL string that reads back as ``value``, on one line."""
    return '"' + _NEEDS_ESCAPE.sub(_with_escape, value) + '"'


_NEEDS_ESCAPE = re.compile(r'[\\"\x00-\x1f\x7f]')


def _with_escape(found: re.Match) -> str:
    char = found[0]
    if char in '\\"':
        return "\\" + char
    return "\\n" if char == "\n" else f"\\x{ord(char):02x}"


def parse_selector(text: str) -> Selector:
    """Read a whole text as one selector.

    Raises
    ------
    SelectorSyntaxError
        With line, column, what was expected there, and the near miss where one is known.
    """
    selector, end = parse_selector_at(text, 0)
    end = skip_blank(text, end)
    if end < len(text):
        hints = {
            "[": "a selector has no range here: drop the brackets",
            "(": "a selector is a metric name and braces, not a function call",
            "}": "drop the extra brace",
        }
        # Python knows more blanks than PromQL: there may be no word at all.
        word = next(iter(text[end:].split(None, 1)), "")
        fix = hints.get(text[end]) or ("a selector takes no offset here" if word in ("offset", "@") else None)
        raise _error(text, end, "the end of the selector", fix)
    return selector


def parse_selector_at(text: str, position: int) -> tuple[Selector, int]:
    """Read the selector that begins at ``position`` (blanks and comments before it are skipped).

    Returns
    -------
    Selector, int
        The selector, and the offset just behind its last character.
    """
    start = skip_blank(text, position)
    matchers: list[Matcher] = []
    name_match = _METRIC_NAME.match(text, start)
    end = start
    if name_match:
        end = name_match.end()
        brace = skip_blank(text, end)
        if text.startswith("{", brace):
            inside, end = _braces(text, brace)
            matchers += inside
        matchers.append(Matcher(NAME_LABEL, EQUAL, name_match.group()))
    elif text.startswith("{", start):
        inside, end = _braces(text, start)
        matchers += inside
    else:
        raise _error(text, start, "a metric name or {", _quote_hint(text, start))
    _check(text, start, matchers)
    # The metric name comes first, however it was written, and a repeated matcher says nothing new.
    matchers.sort(key=lambda matcher: not (matcher.name == NAME_LABEL and matcher.op == EQUAL))
    return Selector(tuple(dict.fromkeys(matchers))), end


def skip_blank(text: str, position: int) -> int:
    """The offset behind any blanks and comments that begin at ``position``."""
    return _SKIP.match(text, position).end()


def parse_string_at(text: str, position: int, *, any_bytes: bool = False) -> tuple[str, int]:
    """Read the string literal that begins at ``position`` with one of ``\"'```; return its value and the end.

    Escapes can write bytes that are no UTF-8. They are refused, or with ``any_bytes`` kept as Python's escaped
    surrogates: the strings of PromQL are bytes, and only who uses one can say whether it has to be text.
    """
    mark = text[position : position + 1]
    if mark == "`":
        end = text.find("`", position + 1)
        if end < 0:
            raise _error(text, position, "a closing ` for this string")
        return _decoded(
            text, position, text[position + 1 : end].encode("utf-8", "surrogatepass"), any_bytes
        ), end + 1
    if mark not in ('"', "'") or not mark:
        raise _error(text, position, "a string in quotes", _quote_hint(text, position))
    out = bytearray()
    at = position + 1
    while True:
        char = text[at : at + 1]
        if char in ("", "\n"):
            raise _error(text, position, f"a closing {mark} for this string on its line")
        if char == mark:
            break
        if char == "\\":
            piece, at = _escape(text, at, mark)
            out += piece
        else:
            out += char.encode("utf-8", "surrogatepass")
            at += 1
    return _decoded(text, position, out, any_bytes), at + 1


def _decoded(text: str, position: int, value: bytes | bytearray, any_bytes: bool) -> str:
    try:
        return value.decode(errors="surrogateescape" if any_bytes else "strict")
    except UnicodeDecodeError:
        raise _error(text, position, "a string whose bytes are UTF-8") from None


def _braces(text: str, position: int) -> tuple[list[Matcher], int]:
    matchers: list[Matcher] = []
    at = skip_blank(text, position + 1)
    while not text.startswith("}", at):
        matcher, at = _matcher(text, at)
        matchers.append(matcher)
        at = skip_blank(text, at)
        if text.startswith(",", at):
            at = skip_blank(text, at + 1)
        elif not text.startswith("}", at):
            fix = None
            if re.match(r"or\b", text[at:]):
                fix = 'alternatives are one regular expression, name=~"a|b", or two selectors joined by or outside'
            elif re.match(r"and\b", text[at:]):
                fix = "matchers are joined by a comma"
            raise _error(text, at, "a comma or }", fix)
    return matchers, at + 1


def _matcher(text: str, position: int) -> tuple[Matcher, int]:
    quoted = text[position : position + 1] in ('"', "'", "`") and position < len(text)
    if quoted:
        name, at = parse_string_at(text, position)
    else:
        found = _LABEL_NAME.match(text, position)
        if not found:
            raise _error(text, position, "a label name or }", _name_hint(text, position))
        name, at = found.group(), found.end()
    after_name = skip_blank(text, at)
    op = next((o for o in (REGEX, NOT_REGEX, NOT_EQUAL, EQUAL) if text.startswith(o, after_name)), None)
    if op is None:
        if quoted and text[after_name : after_name + 1] in (",", "}"):
            return Matcher(NAME_LABEL, EQUAL, name), at
        fix = None
        if not quoted and re.match(r"or\b", name):
            fix = "or joins selectors, it does not join matchers"
        elif text.startswith(":", after_name):
            fix = "PromQL writes = where YAML and JSON write :, and a label name with a colon in quotes"
        elif text[after_name : after_name + 1] in (".", "-", "/"):
            fix = _ODD_NAME
        raise _error(text, after_name, f"one of {' '.join(OPERATORS)} behind the label name", fix)
    at = skip_blank(text, after_name + len(op))
    if text.startswith("=", at) and op == EQUAL:
        raise _error(text, at, "a string in quotes", "one = is enough in a matcher")
    if text.startswith("~", at):
        raise _error(text, at, "a string in quotes", "the operators are =~ and !~")
    value, end = parse_string_at(text, at)
    try:
        return Matcher(name, op, value), end
    except InputError as error:
        raise _error(text, at, f"a regular expression ({error.got}; {error.expected})") from None


def _escape(text: str, position: int, mark: str) -> tuple[bytes, int]:
    """The bytes of one escape sequence, and the offset behind it: Go's rules, as Prometheus follows them."""
    code = text[position + 1 : position + 2]
    if code in _SIMPLE_ESCAPES and code:
        return bytes([_SIMPLE_ESCAPES[code]]), position + 2
    if code == mark:
        return code.encode(), position + 2
    if code and code in "01234567":
        width, base, start = 3, 8, position + 1
    elif code in _NUMBER_ESCAPES and code:
        (width, base), start = _NUMBER_ESCAPES[code], position + 2
    else:
        fix = "write \\\\ for one backslash, or use `...` where backslashes are plain"
        raise _error(text, position, "a known escape sequence", fix)
    digits = text[start : start + width]
    allowed = "0123456789abcdefABCDEF" if base == 16 else "01234567"
    if len(digits) < width or any(d not in allowed for d in digits):
        raise _error(text, position, f"{width} digits of base {base} in this escape")
    number = int(digits, base)
    if code in ("u", "U"):
        if number > 0x10FFFF or 0xD800 <= number <= 0xDFFF:
            raise _error(text, position, "a Unicode code point in this escape")
        return chr(number).encode(), start + width
    if number > 0xFF:
        raise _error(text, position, "an octal escape up to \\377")
    return bytes([number]), start + width


def _check(text: str, position: int, matchers: list[Matcher]) -> None:
    names = [m.value for m in matchers if m.name == NAME_LABEL]
    # Several matchers on the name are allowed only inside the braces, and none next to a plain name.
    if len(names) > 1 and _METRIC_NAME.match(text, position):
        fix = f"the name {names[-1]!r} is already before the braces: remove {names[0]!r} from them"
        raise _error(text, position, "one metric name", fix)
    if all(matcher.matches("") for matcher in matchers):
        raise _error(
            text,
            position,
            "at least one matcher that does not match an empty value",
            "name a metric, or replace .* by .+",
        )


def _name_hint(text: str, position: int) -> str | None:
    if text[position : position + 1] in ("", ","):
        return None
    return _quote_hint(text, position) and _ODD_NAME


def _quote_hint(text: str, position: int) -> str | None:
    char = text[position : position + 1]
    if char and char in _SMART_QUOTES:
        return "use straight quotes"
    if char and (char.isalnum() or char in "._-/:"):
        return "put the value in quotes"
    return None


def _error(text: str, position: int, expected: str, fix: str | None = None) -> SelectorSyntaxError:
    line = text.count("\n", 0, position) + 1
    column = position - (text.rfind("\n", 0, position) + 1) + 1
    found = text[position : position + 20].split("\n", 1)[0]
    got = (
        repr(found + ("…" if len(text) > position + 20 else ""))
        if position < len(text)
        else "the end of the text"
    )
    error = SelectorSyntaxError(
        f"A selector cannot be read at line {line}, column {column}", got=got, expected=expected, fix=fix
    )
    error.position = position
    return error
