"""PromQL, text to tree. In: a text. Out: the tree of :mod:`ast`, each node with its place, kinds of value checked.

Recursive descent. Operators bind in the order ``or``; ``and unless``; comparisons; ``+ -``; ``* / % atan2``; a sign;
``^``; and tightest what follows an operand (range, subquery, offset, ``@``). Depth and length are bounded, so that
no text can exhaust the interpreter.
"""

from __future__ import annotations

import difflib
import math
import re
from dataclasses import replace
from functools import partial

from throttlescope.ingest.core.selector import (
    SelectorSyntaxError,
    parse_selector_at,
    parse_string_at,
    skip_blank,
)
from throttlescope.transforms.promql import ast
from throttlescope.transforms.promql.errors import PromQLSyntaxError, syntax_error, unsupported
from throttlescope.transforms.promql.functions import FUNCTIONS
from throttlescope.transforms.promql.kinds import check_kinds
from throttlescope.transforms.promql.lex import WORD, duration_at, number_at

MAX_LENGTH = 100_000
#: A bracket costs up to five of the interpreter's thousand frames.
MAX_DEPTH = 128

_LEVELS = (("or",), ("and", "unless"), ast.COMPARISONS, ("+", "-"), ("*", "/", "%", "atan2"), ("^",))
_LEVEL_OF = {op: level for level, ops in enumerate(_LEVELS) for op in ops}
_POWER = _LEVEL_OF["^"]
_SYMBOLS = ("==", "!=", ">=", "<=", ">", "<", "+", "-", "*", "/", "%", "^")
_MODIFIERS = ("bool", "on", "ignoring", "group_left", "group_right")
#: Words that are no metric name although nothing in their letters says so.
_NEVER_METRICS = (*_MODIFIERS, "atan2", "inf", "nan")
_QUOTES = ('"', "'", "`")
_SIGN = re.compile(r"[+-]")


def parse(text: str) -> ast.Expr:
    """Read a whole text as one expression.

    Raises
    ------
    PromQLSyntaxError, PromQLTypeError
        With line, column, what was expected there and, for a near miss, the name that was meant.
    UnsupportedPromQLError
        Syntax of later versions or of other dialects.
    """
    if len(text) > MAX_LENGTH:
        raise PromQLSyntaxError(
            "A PromQL text is too long", got=f"{len(text)} characters", expected=f"at most {MAX_LENGTH}"
        )
    reader = _Reader(text)
    try:
        expr = reader.expression(0)
        end = skip_blank(text, reader.position)
        if end < len(text):
            raise syntax_error(text, end, "an operator or the end of the text", reader.hint_behind(end))
        check_kinds(text, expr)
    except RecursionError:
        # The caller left us fewer frames than MAX_DEPTH needs.
        raise _too_deep(text, reader.position) from None
    return expr


def _too_deep(text: str, position: int) -> PromQLSyntaxError:
    return syntax_error(text, position, f"at most {MAX_DEPTH} levels", what="PromQL is nested too deeply")


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self._heights: dict[int, int] = {}
        self._kept: list[ast.Expr] = []

    # -- operators, by how tightly they bind -------------------------------------------------

    def expression(self, depth: int, floor: int = 0) -> ast.Expr:
        """Read operands joined by operators that bind at least as tightly as level ``floor``."""
        left = self._signed(depth)
        while (found := self._operator(floor)) is not None:
            op, level = found
            return_bool, matching = self._modifiers(op)
            # Operators of one level are read from the left, powers from the right.
            right = self.expression(depth + 1, level if op == "^" else level + 1)
            span = (left.span[0], self.position)
            left = self._measured(ast.Binary(op, left, right, return_bool, matching, span=span))
        return left

    def _signed(self, depth: int) -> ast.Expr:
        if depth > MAX_DEPTH:
            raise _too_deep(self.text, self.position)
        start = self._skip()
        sign = _SIGN.match(self.text, start)
        if not sign:
            return self._postfix(self._operand(depth))
        self.position = sign.end()
        inner = self.expression(depth + 1, _POWER)
        return self._measured(ast.Unary(sign.group(), inner, span=(start, self.position)))

    def _operator(self, floor: int) -> tuple[str, int] | None:
        start = self._skip()
        found = next((s for s in _SYMBOLS if self.text.startswith(s, start)), None)
        if found is None and (word := self._word(start)):
            found = word.lower()
        level = _LEVEL_OF.get(found, -1)
        if level < floor:
            return None
        self.position = start + len(found)
        return found, level

    def _modifiers(self, op: str) -> tuple[bool, ast.Matching | None]:
        return_bool, matching = False, None
        start = self._skip()
        if (self._word(start) or "").lower() == "bool":
            if op not in ast.COMPARISONS:
                raise syntax_error(
                    self.text,
                    start,
                    fix="bool goes with the comparisons == != > < >= <= only",
                    expected="an operand",
                )
            return_bool, self.position = True, start + 4
            start = self._skip()
        word = (self._word(start) or "").lower()
        if word in ("on", "ignoring") and self.text.startswith("(", skip_blank(self.text, start + len(word))):
            self.position = start + len(word)
            matching = ast.Matching(word == "on", self._label_list())
            start = self._skip()
            word = (self._word(start) or "").lower()
            if word in ("group_left", "group_right"):
                if op in ast.SET_OPERATORS:
                    raise syntax_error(
                        self.text,
                        start,
                        "an operand",
                        fix=f"{op} keeps or drops whole series and takes no {word}",
                    )
                self.position = start + len(word)
                include = self._label_list() if self.text.startswith("(", self._skip()) else ()
                if matching.on and (both := sorted(set(include) & set(matching.labels))):
                    raise syntax_error(
                        self.text,
                        start,
                        "labels that are not matched on",
                        fix=f"drop {', '.join(both)} from {word}: both sides have it already",
                    )
                matching = replace(matching, group=word.removeprefix("group_"), include=include)
        elif word in ("group_left", "group_right"):
            raise syntax_error(self.text, start, "on(...) or ignoring(...) before it")
        self._refuse_fill()
        return return_bool, matching

    def _refuse_fill(self) -> None:
        start = self._skip()
        word = self._word(start) or ""
        if word in ("fill", "fill_left", "fill_right") and self.text.startswith(
            "(", skip_blank(self.text, start + len(word))
        ):
            raise unsupported(self.text, (start, start + len(word)), "A fill modifier")

    # -- what follows an operand ---------------------------------------------------------------

    def _postfix(self, expr: ast.Expr) -> ast.Expr:
        while True:
            start = self._skip()
            if self.text.startswith("[", start):
                expr = self._bracket(expr, start)
            elif self.text.startswith("@", start):
                expr = self._pinned(expr, start)
            elif (word := self._word(start)) and word.lower() == "offset":
                expr = self._shifted(expr, start)
            elif word and word.lower() in ("anchored", "smoothed"):
                raise unsupported(
                    self.text, (expr.span[0], start + len(word)), f"The modifier {word.lower()}"
                )
            else:
                return expr
            self._measured(expr)

    def _bracket(self, expr: ast.Expr, start: int) -> ast.Expr:
        self.position = start + 1
        range_ms = self._duration()
        at = self._skip()
        if self.text.startswith(":", at):
            self.position = at + 1
            step_ms = None if self.text.startswith("]", self._skip()) else self._duration()
            self._expect("]")
            return ast.Subquery(expr, range_ms, step_ms, span=(expr.span[0], self.position))
        self._expect("]")
        span = (expr.span[0], self.position)
        if not isinstance(expr, ast.VectorSelector):
            raise syntax_error(
                self.text,
                start,
                "a metric selector before a range",
                fix="a subquery writes a step, [5m:1m]; a rate is taken of a selector, rate(x[5m])",
            )
        if expr.offset_ms or expr.at:
            raise syntax_error(self.text, start, "the range before offset and @", fix="write x[5m] offset 1h")
        return ast.MatrixSelector(expr, range_ms, span=span)

    def _duration(self) -> int:
        start = self._skip()
        duration_ms, self.position = duration_at(self.text, start)
        if duration_ms <= 0:
            raise syntax_error(self.text, start, "a duration greater than 0")
        behind = self._skip()
        if self.text[behind : behind + 1] in tuple("+-*/%^"):
            raise unsupported(self.text, (start, behind + 1), "Arithmetic in a duration")
        return duration_ms

    def _pinned(self, expr: ast.Expr, start: int) -> ast.Expr:
        self.position = start + 1
        at = self._skip()
        word = (self._word(at) or "").lower()
        if word in ("start", "end"):
            self.position = at + len(word)
            self._expect("(")
            self._expect(")")
            moment: int | str = word
        else:
            seconds = self._signed_number("a time in epoch seconds, start() or end()")
            # Prometheus keeps the time as whole milliseconds of 63 bits.
            if not math.isfinite(seconds) or abs(seconds) * 1000 >= 2**63:
                raise syntax_error(self.text, at, "a finite time in epoch seconds")
            moment = int(math.floor(abs(seconds) * 1000 + 0.5) * math.copysign(1, seconds))
        return self._modified(expr, start, "@", at=ast.At(moment))

    def _shifted(self, expr: ast.Expr, start: int) -> ast.Expr:
        self.position = start + len("offset")
        at = self._skip()
        sign = _SIGN.match(self.text, at)
        if sign:
            self.position = sign.end()
        offset_ms, self.position = duration_at(self.text, self._skip())
        negative = sign is not None and sign.group() == "-"
        return self._modified(expr, start, "offset", offset_ms=-offset_ms if negative else offset_ms)

    def _modified(self, expr: ast.Expr, start: int, word: str, **change) -> ast.Expr:
        span = (expr.span[0], self.position)
        if isinstance(expr, ast.MatrixSelector):
            vector = self._modified(expr.vector, start, word, **change)
            return replace(expr, vector=replace(vector, span=expr.vector.span), span=span)
        if not isinstance(expr, ast.VectorSelector | ast.Subquery):
            raise syntax_error(
                self.text,
                start,
                f"a selector or a subquery before {word}",
                fix=f"{word} belongs to a selector: write it inside the brackets, sum(x {word} …)",
            )
        if ("at" in change and expr.at is not None) or ("offset_ms" in change and expr.offset_ms):
            raise syntax_error(self.text, start, f"one {word} only")
        return replace(expr, **change, span=span)

    # -- operands ---------------------------------------------------------------------------

    def _operand(self, depth: int) -> ast.Expr:
        start = self._skip()
        text = self.text
        if text.startswith("(", start):
            self.position = start + 1
            inner = self.expression(depth + 1)
            self._expect(")", "an operator or )")
            return self._measured(ast.Paren(inner, span=(start, self.position)))
        if text[start : start + 1] in _QUOTES and start < len(text):
            value, self.position = self._read(partial(parse_string_at, any_bytes=True), start)
            return ast.StringLiteral(value, span=(start, self.position))
        if number := number_at(text, start):
            value, self.position = number
            return ast.NumberLiteral(value, span=(start, self.position))
        word = self._word(start)
        if word is None and not text.startswith("{", start):
            raise syntax_error(text, start, "a metric, a number, a function or (", self._operand_hint(start))
        if word:
            behind = skip_blank(text, start + len(word))
            lower = word.lower()
            if lower in ast.AGGREGATIONS and self._begins_aggregation(behind):
                return self._aggregate(lower, start, depth)
            if text.startswith("(", behind):
                return self._call(word, start, depth)
            if lower in _NEVER_METRICS:
                raise syntax_error(text, start, "a metric, a number, a function or (")
        selector, self.position = self._read(parse_selector_at, start)
        return ast.VectorSelector(selector, span=(start, self.position))

    def _begins_aggregation(self, behind: int) -> bool:
        if self.text.startswith("(", behind):
            return True
        word = (self._word(behind) or "").lower()
        return word in ("by", "without") and self.text.startswith(
            "(", skip_blank(self.text, behind + len(word))
        )

    def _aggregate(self, op: str, start: int, depth: int) -> ast.Expr:
        self.position = start + len(op)
        grouping = self._grouping()
        open_at = self._skip()
        arguments = self._arguments(depth)
        grouping = grouping or self._grouping()
        wanted = 2 if ast.AGGREGATIONS[op] else 1
        if len(arguments) != wanted:
            raise syntax_error(
                self.text,
                open_at,
                f"{wanted} argument{'s' if wanted > 1 else ''} of {op}",
                what=f"{op} has {len(arguments)} argument{'s' if len(arguments) != 1 else ''}",
            )
        without, labels = grouping or (False, ())
        parameter = arguments[0] if wanted == 2 else None
        return self._measured(
            ast.Aggregate(op, arguments[-1], parameter, labels, without, span=(start, self.position))
        )

    def _grouping(self) -> tuple[bool, tuple[str, ...]] | None:
        start = self._skip()
        word = (self._word(start) or "").lower()
        if word not in ("by", "without"):
            return None
        self.position = start + len(word)
        return word == "without", self._label_list()

    def _call(self, name: str, start: int, depth: int) -> ast.Expr:
        function = FUNCTIONS.get(name)
        if function is None:
            near = difflib.get_close_matches(name.lower(), [*FUNCTIONS, *ast.AGGREGATIONS], 1, 0.7)
            raise syntax_error(
                self.text,
                start,
                "a function of Prometheus 3.5",
                fix=f"was {near[0]} meant?" if near else None,
                what=f"There is no function {name[:60]!r}",
            )
        self.position = start + len(name)
        arguments = self._arguments(depth)
        return self._measured(ast.Call(name, arguments, span=(start, self.position)))

    def _arguments(self, depth: int) -> tuple[ast.Expr, ...]:
        self._expect("(")
        arguments: list[ast.Expr] = []
        if self.text.startswith(")", self._skip()):
            self._expect(")")
            return ()
        while True:
            arguments.append(self.expression(depth + 1))
            at = self._skip()
            if not self.text.startswith(",", at):
                self._expect(")", "a comma, an operator or )")
                return tuple(arguments)
            self.position = at + 1

    def _label_list(self) -> tuple[str, ...]:
        self._expect("(")
        labels: list[str] = []
        while not self.text.startswith(")", at := self._skip()):
            if self.text[at : at + 1] in _QUOTES and at < len(self.text):
                label, self.position = self._read(parse_string_at, at)
            elif (label := self._word(at)) and ":" not in label:
                self.position = at + len(label)
            else:
                raise syntax_error(self.text, at, "a label name or )")
            labels.append(label)
            at = self._skip()
            if self.text.startswith(",", at):
                self.position = at + 1
            elif not self.text.startswith(")", at):
                raise syntax_error(self.text, at, "a comma or )")
        self._expect(")")
        return tuple(dict.fromkeys(labels))

    # -- small things -------------------------------------------------------------------------

    def _skip(self) -> int:
        return skip_blank(self.text, self.position)

    def _word(self, position: int) -> str | None:
        found = WORD.match(self.text, position)
        return found.group() if found else None

    def _signed_number(self, expected: str) -> float:
        start = self._skip()
        sign = _SIGN.match(self.text, start)
        number = number_at(self.text, skip_blank(self.text, sign.end()) if sign else start)
        if number is None:
            raise syntax_error(self.text, start, expected)
        value, self.position = number
        return -value if sign and sign.group() == "-" else value

    def _expect(self, symbol: str, expected: str | None = None) -> None:
        at = self._skip()
        if not self.text.startswith(symbol, at):
            raise syntax_error(self.text, at, expected or symbol, self.hint_behind(at))
        self.position = at + len(symbol)

    def _read(self, reader, start: int):
        try:
            return reader(self.text, start)
        except SelectorSyntaxError as error:
            position = start if error.position is None else error.position
            raise syntax_error(self.text, position, error.expected, error.fix) from None

    def _measured(self, expr: ast.Expr) -> ast.Expr:
        """Bound the height of the tree as well: a sum of thousands of terms nests to the left without a bracket."""
        height = 1 + max((self._heights.get(id(child), 0) for child in ast.children(expr)), default=0)
        if height > MAX_DEPTH:
            raise syntax_error(
                self.text,
                expr.span[0],
                f"at most {MAX_DEPTH} operators in a row",
                fix="put parts of it in brackets, or use one selector with a regular expression",
                what="PromQL is too long a chain",
            )
        # What is kept cannot be freed, so no id is used twice.
        self._kept.append(expr)
        self._heights[id(expr)] = height
        return expr

    def hint_behind(self, position: int) -> str | None:
        """What may have been meant where an operator or a closing bracket was expected."""
        char = self.text[position : position + 1]
        if char in (")", "]", "}"):
            return f"drop the extra {char}, or open it before"
        if char == "=":
            return "a comparison is written =="
        if char == "&":
            return "write and"
        if char == "|":
            return "write or"
        word = (self._word(position) or "").lower()
        if word in ("by", "without"):
            return f"{word} (...) must directly precede or follow the parentheses of an aggregation"
        if word == "bool":
            return "bool must directly follow a comparison"
        if word in ("on", "ignoring", "group_left", "group_right"):
            return f"{word} must directly follow the operator"
        return None

    def _operand_hint(self, position: int) -> str | None:
        char = self.text[position : position + 1]
        if char in ("*", "/", "%", "^", "=", "!", ">", "<"):
            return "an operator needs an operand on its left"
        if char == "[":
            return "a range must follow a metric selector"
        return None
