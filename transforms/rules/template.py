"""Templates of alerts. In: a label's or an annotation's text. Out: whether Go's ``text/template`` would accept it; simple labels, filled in.

Annotations are never executed here. A label of an alert is part of its series, so the one form that needs no Go is filled
in (``{{ $labels.name }}``), and any other raises where the series is written.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

_FUNCTIONS = frozenset(
    ["and", "call", "eq", "ge", "gt", "html", "index", "js", "le", "len", "lt", "ne", "not", "or", "print", "printf", "println", "slice", "urlquery", "args", "externalURL", "first", "graphLink", "humanize", "humanize1024", "humanizeDuration", "humanizePercentage", "humanizeTimestamp", "label", "match", "parseDuration", "pathPrefix", "query", "reReplaceAll", "safeHtml", "sortByLabel", "stripDomain", "stripPort", "strvalue", "tableLink", "title", "toLower", "toTime", "toUpper", "value"]
)  # fmt: skip
_KEYWORDS = frozenset(
    ["block", "break", "continue", "define", "else", "end", "if", "nil", "range", "template", "with"]
)
#: What Prometheus declares before each text.
_VARIABLES = ("$", "$labels", "$externalLabels", "$externalURL", "$value")
_DEEPEST = 100
#: Of a whole number of 64 bits, its sign and its base.
_MOST_DIGITS = 80

_SPACES = " \t\r\n"
_TOKEN = re.compile(
    r"""
      (?P<space>[ \t\r\n]+)
    | (?P<declare>:=)
    | (?P<assign>=)
    | (?P<pipe>\|)
    | (?P<string>"(?:\\.|[^"\\\n])*")
    | (?P<raw>`[^`]*`)
    | (?P<char>'(?:\\.|[^'\\\n])*')
    | (?P<variable>\$\w*)
    | (?P<field>\.(?!\d)\w+)
    | (?P<number>[+-]?(?:0[xX][\w]*|\.?\d)[\w.]*(?:(?<=[eEpP])[+-][\w]*)?(?:[+-][\w.]*i)?)
    | (?P<dot>\.)
    | (?P<word>\w+)
    | (?P<open>\()
    | (?P<close>\))
    | (?P<comma>,)
    """,
    re.VERBOSE,
)
_ENDS_WORD = frozenset(" \t\r\n.,|:)(")
_WHOLE = re.compile(r"[+-]?(0[xX](_?[0-9a-fA-F])+|0[bB](_?[01])+|0[oO]?(_?[0-7])+|0|[1-9](_?[0-9])*)")
_FLOAT = re.compile(r"[+-]?(\d(_?\d)*\.?(\d(_?\d)*)?|\.\d(_?\d)*)([eE][+-]?\d(_?\d)*)?")
_ESCAPE = r"\\(?:[abfnrtv\\%s]|x[0-9a-fA-F]{2}|[0-3][0-7]{2}|u(?![dD][89abAB])[0-9a-fA-F]{4}|U00(?:0[0-9a-fA-F]|10)[0-9a-fA-F]{4})"
_STRING = re.compile(rf'"(?:{_ESCAPE % chr(34)}|[^"\\\n])*"')
_CHAR = re.compile(rf"'(?:{_ESCAPE % chr(39)}|[^'\\\n])'")
_LABEL_ACTION = re.compile(r"\{\{\s*(?:\$labels|\.Labels|\$\.Labels)\.(\w+)\s*\}\}")


class TemplateError(ValueError):
    """The text is no template that Prometheus takes."""


def check_template(text: str) -> None:
    """Read a template as Prometheus does when it loads a rules file.

    Raises
    ------
    TemplateError
        An action that does not end, a function or variable that does not exist, and the like.
    """
    if "{{" in text:
        _Parser(list(_tokens(text))).template()


def fills_in(text: str) -> bool:
    """Whether :func:`filled_in` can do it."""
    return "{{" not in _LABEL_ACTION.sub("", text)


def filled_in(text: str, labels: Mapping[str, str]) -> str:
    """A text with its ``{{ $labels.name }}`` replaced; a label that is not there is empty."""
    return _LABEL_ACTION.sub(lambda action: labels.get(action[1], ""), text)


# -- tokens ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str


_END = _Token("end of text", "")


def _tokens(text: str) -> Iterator[_Token]:
    at = 0
    while at < len(text):
        opens = text.find("{{", at)
        if opens < 0:
            yield _Token("text", text[at:])
            return
        inside = opens + 2
        trims = text[inside : inside + 1] == "-" and text[inside + 1 : inside + 2] in tuple(_SPACES)
        plain = text[at:opens].rstrip(_SPACES) if trims else text[at:opens]
        if plain:
            yield _Token("text", plain)
        inside += 2 if trims else 0
        if text.startswith("/*", inside):
            at = _after_comment(text, inside)
        else:
            yield _Token("left", "{{")
            at = yield from _inside(text, inside)


def _after_comment(text: str, at: int) -> int:
    ends = text.find("*/", at + 2)
    if ends < 0:
        raise TemplateError("a comment does not end")
    found = _right_delimiter(text, ends + 2)
    if found is None:
        raise TemplateError("a comment ends before its braces")
    return found


def _right_delimiter(text: str, at: int) -> int | None:
    """Where the text goes on behind ``}}`` at ``at``, or behind `` -}}`` and blanks."""
    if text.startswith("}}", at):
        return at + 2
    if text[at : at + 1] in tuple(_SPACES) and text.startswith("-}}", at + 1):
        at += 4
        return at + len(text[at:]) - len(text[at:].lstrip(_SPACES))
    return None


def _inside(text: str, at: int) -> Iterator[_Token]:
    """Tokens of one action; returns where the text goes on."""
    open_parens = 0
    while True:
        after = _right_delimiter(text, at)
        if after is not None:
            if open_parens:
                raise TemplateError("a parenthesis does not close")
            yield _Token("right", "}}")
            return after
        if at >= len(text):
            raise TemplateError("an action does not end, }} is missing")
        found = _TOKEN.match(text, at)
        if found is None:
            raise TemplateError(f"{text[at]!r} has no meaning in an action")
        kind, piece = found.lastgroup or "", found[0]
        if kind == "space":
            # The last blank may belong to `` -}}``.
            if len(piece) > 1 and text.startswith("-}}", found.end()):
                piece = piece[:-1]
        elif kind in ("word", "variable", "field"):
            _check_ends(text, at + len(piece))
        elif kind == "open":
            open_parens += 1
        elif kind == "close":
            open_parens -= 1
            if open_parens < 0:
                raise TemplateError("a parenthesis closes that was not opened")
        if kind == "word" and piece in _KEYWORDS:
            kind = "keyword"
        yield _Token(kind, piece)
        at += len(piece)


def _check_ends(text: str, at: int) -> None:
    if at < len(text) and text[at] not in _ENDS_WORD and not text.startswith("}}", at):
        raise TemplateError(f"{text[at]!r} cannot follow a name")


# -- grammar ---------------------------------------------------------------------------------


class _Parser:
    def __init__(self, tokens: list[_Token]) -> None:
        self.tokens, self.at = tokens, 0
        self.variables = list(_VARIABLES)
        self.range_depth = 0
        self.depth = 0
        self.defined: set[str] = set()

    def template(self) -> None:
        while self._peek() is not _END:
            if self._peek().kind == "left" and self._behind_left().text == "define":
                self._definition()
            else:
                found = self._text_or_action()
                if found in ("end", "else"):
                    raise TemplateError(f"unexpected {{{{{found}}}}}")

    # -- lists of texts and actions

    def _list(self) -> tuple[str, bool]:
        """Texts and actions up to ``end`` or ``else``, which is returned; and whether there is anything but blanks."""
        self._go_deeper()
        filled = False
        while self._peek() is not _END:
            blank = self._peek().kind == "text" and not self._peek().text.strip()
            found = self._text_or_action()
            if found in ("end", "else"):
                self.depth -= 1
                return found, filled
            filled |= not blank
        raise TemplateError("{{end}} is missing")

    def _text_or_action(self) -> str:
        token = self._filled()
        if token.kind == "text":
            return ""
        if token.kind != "left":
            # {{else if}} inside {{with}}, {{else with}} inside {{if}}
            raise TemplateError(f"{token.text!r} is not expected behind {{{{else")
        keyword = self._peek_filled()
        if keyword.kind == "keyword" and keyword.text not in ("nil", "define"):
            self._next()
            return self._control(keyword.text)
        self._pipeline("an action", "right")
        return ""

    def _control(self, keyword: str) -> str:
        match keyword:
            case "end":
                self._expect("right", "{{end}}")
            case "else":
                if self._peek_filled().text not in ("if", "with"):
                    self._expect("right", "{{else}}")
            case "break" | "continue":
                self._expect("right", f"{{{{{keyword}}}}}")
                if not self.range_depth:
                    raise TemplateError(f"{{{{{keyword}}}}} is outside of {{{{range}}}}")
            case "if" | "with" | "range":
                self._branches(keyword)
            case "template":
                self._name("{{template}}")
                if self._peek_filled().kind == "right":
                    self._next()
                else:
                    self._pipeline("{{template}}", "right")
            case "block":
                name = self._name("{{block}}")
                self._pipeline("{{block}}", "right")
                self._body(name)
        return keyword if keyword in ("end", "else") else ""

    def _branches(self, keyword: str) -> None:
        known = len(self.variables)
        self._pipeline(f"{{{{{keyword}}}}}", "right")
        self.range_depth += keyword == "range"
        ended, _ = self._list()
        self.range_depth -= keyword == "range"
        if ended == "else":
            following = self._peek()
            if following.kind == "keyword" and following.text == keyword != "range":
                # {{else if}}: one {{end}} serves both.
                self._next()
                self._go_deeper()
                self._branches(keyword)
                self.depth -= 1
            else:
                ended, _ = self._list()
                if ended != "end":
                    raise TemplateError("{{else}} comes twice")
        del self.variables[known:]

    def _definition(self) -> None:
        self._next()
        self._filled()
        name = self._name("{{define}}")
        self._expect("right", "{{define}}")
        self._body(name)

    def _body(self, name: str) -> None:
        """The content of a named template, which sees none of the variables outside."""
        outside = self.variables, self.range_depth
        self.variables, self.range_depth = ["$"], 0
        ended, filled = self._list()
        if ended != "end":
            raise TemplateError("{{else}} is in a named template")
        self.variables, self.range_depth = outside
        if filled:
            if name in self.defined:
                raise TemplateError(f"the template {name} is defined twice")
            self.defined.add(name)

    def _name(self, where: str) -> str:
        token = self._filled()
        if token.kind not in ("string", "raw"):
            raise TemplateError(f"{where} needs a name in quotes")
        self._check_string(token)
        return token.text[1:-1]

    # -- pipelines

    def _pipeline(self, where: str, end: str) -> None:
        self._declarations(where)
        commands = 0
        while True:
            token = self._peek_filled()
            if token.kind == end:
                self._next()
                break
            first = self._command(where)
            if commands and first in ("bool", "dot", "nil", "number", "string"):
                raise TemplateError(f"{where}: only a function may follow |")
            commands += 1
        if not commands:
            raise TemplateError(f"{where} has no value")

    def _declarations(self, where: str) -> None:
        for count in range(2):
            if self._peek_filled().kind != "variable":
                return
            begin, name = self.at, self._next().text
            following = self._peek_filled()
            if following.kind in ("declare", "assign"):
                self._next()
                self.variables.append(name)
                return
            if following.kind != "comma":
                self.at = begin
                return
            self._next()
            self.variables.append(name)
            if where != "{{range}}" or count == 1:
                raise TemplateError(f"{where} declares too many variables")
            if self._peek_filled().kind not in ("variable", "right", "close"):
                raise TemplateError("{{range}} can only declare variables before :=")

    def _command(self, where: str) -> str:
        """Operands up to a pipe, which is taken, or an end, which is not; the kind of the first."""
        first = ""
        while True:
            self._peek_filled()
            kind = self._operand()
            first = first or kind
            token = self._next()
            if token.kind == "space":
                continue
            if token.kind in ("right", "close"):
                self.at -= 1
            elif token.kind != "pipe":
                raise TemplateError(f"{where}: {token.text!r} is not expected")
            if not first:
                raise TemplateError(f"{where} has an empty command")
            return first

    def _operand(self) -> str:
        kind = self._term()
        if kind and self._peek().kind == "field":
            if kind in ("bool", "dot", "nil", "number", "string"):
                raise TemplateError(f"{self._peek().text} follows a value that has no fields")
            while self._peek().kind == "field":
                self._next()
        return kind

    def _term(self) -> str:
        token = self._peek_filled()
        kind = token.kind
        if kind == "word" and token.text in ("true", "false"):
            kind = "bool"
        match kind:
            case "word":
                if token.text not in _FUNCTIONS:
                    raise TemplateError(f"the function {token.text} is not defined")
            case "keyword" if token.text == "nil":
                kind = "nil"
            case "variable":
                if token.text not in self.variables:
                    raise TemplateError(f"the variable {token.text} is not defined")
            case "number":
                _check_number(token.text)
            case "char":
                if not _CHAR.fullmatch(token.text):
                    raise TemplateError(f"{token.text} is no character")
                kind = "number"
            case "string" | "raw":
                self._check_string(token)
                kind = "string"
            case "open":
                self._next()
                self._go_deeper()
                self._pipeline("a parenthesis", "close")
                self.depth -= 1
                return kind
            case "dot" | "field" | "bool":
                pass
            case _:
                return ""
        self._next()
        return kind

    # -- tokens

    def _go_deeper(self) -> None:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise TemplateError(f"nested deeper than {_DEEPEST} levels")

    def _peek(self) -> _Token:
        return self.tokens[self.at] if self.at < len(self.tokens) else _END

    def _next(self) -> _Token:
        token = self._peek()
        self.at += 1
        return token

    def _peek_filled(self) -> _Token:
        """The next token that is no blank; blanks before it are gone."""
        while self._peek().kind == "space":
            self.at += 1
        return self._peek()

    def _filled(self) -> _Token:
        self._peek_filled()
        return self._next()

    def _behind_left(self) -> _Token:
        at = self.at + 1
        while at < len(self.tokens) and self.tokens[at].kind == "space":
            at += 1
        return self.tokens[at] if at < len(self.tokens) else _END

    def _expect(self, kind: str, where: str) -> None:
        token = self._filled()
        if token.kind != kind:
            raise TemplateError(f"{where}: {token.text!r} is not expected")

    @staticmethod
    def _check_string(token: _Token) -> None:
        if token.kind == "string" and not _STRING.fullmatch(token.text):
            raise TemplateError(f"{token.text} has an escape that Go does not know")


def _check_number(text: str, *, imaginary: bool = False) -> None:
    if text.endswith("i"):
        parts = re.fullmatch(r"([+-]?[^+-]*(?:[eE][+-]\d+)?)([+-].+)", text[:-1])
        for part in parts.groups() if parts and parts[1] else (text[:-1],):
            _check_number(part, imaginary=True)
        return
    digits = text.replace("_", "")
    if len(digits) <= _MOST_DIGITS and _WHOLE.fullmatch(text) and -(2**63) <= _whole(digits) < 2**64:
        return
    # Digits alone that are no whole number, such as 089, are no fraction either.
    fraction = _FLOAT.fullmatch(text) and (imaginary or any(mark in text for mark in ".eE"))
    if not fraction or math.isinf(float(digits)):
        raise TemplateError(f"{text} is no number")


def _whole(digits: str) -> int:
    octal = re.fullmatch(r"([+-]?)0([0-7]+)", digits)
    return int(octal[1] + "0o" + octal[2], 0) if octal else int(digits, 0)
