"""Random well-typed PromQL. In: a random generator and a language. Out: trees of text, each piece with its kind.

A piece can be exchanged for any other of its kind, which is how a query that shows a difference is made small.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from throttlescope.transforms.promql.ast import AGGREGATIONS
from throttlescope.transforms.promql.functions import FUNCTIONS, MATRIX, SCALAR, STRING, VECTOR

LABELS = ("a", "b", "instance")
_ARITHMETIC = ("+", "-", "*", "/", "%", "^", "atan2")
_COMPARISONS = ("==", "!=", ">", "<", ">=", "<=")
_SET_OPERATORS = ("and", "or", "unless")
_NUMBERS = ("0", "1", "-1", "2.5", "1e3", "0.1", "100", "Inf", "-Inf", "NaN", "5m", "0x1F", ".5", "1_000")
_RANGES = ("15s", "20s", "1m", "90s", "5m", "7m30s", "1500ms", "10m")
_STEPS = ("15s", "30s", "1m", "7s", "2m30s", "")
_OFFSETS = (
    " offset 1m",
    " offset -30s",
    " offset 7s",
    " offset 15s",
    " offset -1m",
    " offset 2500ms",
    " offset 1h",
    " offset -15",
    " offset 0s",
)
_DROPPABLE = (
    re.compile(r" offset \S+?(?=[ )]|$)"),
    re.compile(r" @ (?:\w+\(\)|[\d.]+)"),
    re.compile(r"(?<=\w)\{[^{}]*\}"),
)
_RARE_RANGES = ("1ms", "1001ms", "3h", "90")
_RARE_OFFSETS = (" offset 1h", " offset 0s", " offset -1d")
#: Functions of native histograms give nothing of numbers: once in a while is enough.
_RARE = ("histogram_avg", "histogram_count", "histogram_stddev", "histogram_stdvar", "histogram_sum")
#: Which one of several equal values is taken depends on an order that no rule gives.
CHOOSING = ("topk", "bottomk", "limitk", "limit_ratio")


@dataclass(frozen=True)
class Piece:
    """Text with gaps that hold other pieces; ``str()`` writes it out."""

    kind: str
    parts: tuple[str | Piece, ...]

    def __str__(self) -> str:
        return "".join(str(part) for part in self.parts)

    @property
    def inner(self) -> Iterator[Piece]:
        """Everything inside, outermost first."""
        for part in self.parts:
            if isinstance(part, Piece):
                yield part
                yield from part.inner

    def smaller(self) -> Iterator[Piece]:
        """This piece with one of its pieces, or itself, exchanged for a piece of the same kind inside of it."""
        yield from (piece for piece in self.inner if piece.kind == self.kind)
        if all(isinstance(part, str) for part in self.parts):
            plain = {expression.sub("", str(self)) for expression in _DROPPABLE}
            yield from (Piece(self.kind, (text,)) for text in sorted(plain - {str(self)}))
        for index, part in enumerate(self.parts):
            if isinstance(part, Piece):
                for less in part.smaller():
                    yield Piece(self.kind, (*self.parts[:index], less, *self.parts[index + 1 :]))


@dataclass(frozen=True)
class Language:
    """What may be written.

    Attributes
    ----------
    functions, aggregations, arithmetic : tuple of str
    metrics : tuple of str
        Names without the prefix; ``hist_bucket`` goes to the histogram functions.
    base_ms : int
        A time that ``@`` may name.
    topic_labels : tuple of str
        Labels that decide the shard of a lake, and others of a topic, to group and match by; none where it is empty.
    repeated : tuple of str
        Two metrics of which each topic has the first once at most, and some without the first have the second twice.
    subqueries, odd_forms : bool
        Subqueries; whether upper case, comments, clauses behind the brackets and repeated names are written.
    """

    functions: tuple[str, ...]
    aggregations: tuple[str, ...]
    arithmetic: tuple[str, ...]
    metrics: tuple[str, ...]
    base_ms: int
    subqueries: bool = True
    odd_forms: bool = True
    topic_labels: tuple[str, ...] = ()
    repeated: tuple[str, ...] = ()


def whole_language(base_ms: int) -> Language:
    """Everything of Prometheus 3.5 that this evaluator does not refuse by name."""
    return Language(
        tuple(name for name, function in FUNCTIONS.items() if function.supported),
        tuple(AGGREGATIONS),
        _ARITHMETIC,
        (
            *("reqs_total",) * 4,
            *("ctr", "other") * 2,
            *("gauge",) * 4,
            "odd",
            "early",
            "late",
            "lat_bucket",
            "lat_sum",
            "nothing",
        ),
        base_ms,
    )


class Writer:
    """Writes expressions of a language.

    Parameters
    ----------
    rng : random.Random
    language : Language
    prefix : str
        Stands before every metric name.
    """

    def __init__(self, rng: random.Random, language: Language, prefix: str = "") -> None:
        self.rng, self.language, self.prefix = rng, language, prefix
        named = [FUNCTIONS[name] for name in language.functions]
        self._over_vectors = [f.name for f in named if f.gives == VECTOR and VECTOR in f.takes]
        self._over_ranges = [f.name for f in named if f.gives == VECTOR and MATRIX in f.takes]
        self._own = {
            "label_replace": self._label_replace,
            "label_join": self._label_join,
            "sort_by_label": self._sort_by_label,
            "sort_by_label_desc": self._sort_by_label,
            "histogram_quantile": self._histogram,
            "histogram_fraction": self._histogram,
            "double_exponential_smoothing": self._smoothing,
            "timestamp": self._timestamp,
            "absent": self._absent,
        }

    # -- vectors ----------------------------------------------------------------------------

    def vector(self, depth: int) -> Piece:
        """An instant vector."""
        if depth <= 0 or self._chance(0.08):
            return self._leaf()
        (make,) = self.rng.choices(
            (
                self._vector_function,
                self._range_function,
                self._aggregation,
                self._two_vectors,
                self._set_operation,
                self._with_scalar,
                self._signed,
                self._bracketed,
                self._vector_of_scalar,
            ),
            (6, 5, 4, 4, 1.5, 2.5, 0.7, 0.4, 0.3),
        )
        return make(depth)

    def _leaf(self) -> Piece:
        if self._chance(0.45):
            return self._range_function(0)
        return self.selector()

    def _vector_function(self, depth: int) -> Piece:
        name = self._pick(self._over_vectors)
        if name in _RARE and self._chance(0.8):
            name = self._pick(self._over_vectors)
        if name in self._own:
            return self._own[name](name, depth)
        return self._call(name, depth)

    def _range_function(self, depth: int) -> Piece:
        name = self._pick(self._over_ranges)
        if name in self._own:
            return self._own[name](name, depth)
        return self._call(name, depth)

    def _call(self, name: str, depth: int) -> Piece:
        function = FUNCTIONS[name]
        count = len(function.takes) - self.rng.randint(0, function.optional)
        arguments = [self._of_kind(kind, depth - 1) for kind in function.takes[:count]]
        return self._joined(VECTOR, f"{name}(", arguments, ")")

    def _of_kind(self, kind: str, depth: int) -> Piece:
        return {VECTOR: self.vector, SCALAR: self.scalar, MATRIX: self.matrix, STRING: self.string}[kind](
            depth
        )

    def _aggregation(self, depth: int) -> Piece:
        op = self._pick(self.language.aggregations)
        inner = self.vector(depth - 1)
        arguments = [inner]
        if op in ("topk", "bottomk", "limitk"):
            arguments.insert(0, self._mostly(("1", "2", "3", "5"), lambda: self.scalar(depth - 2)))
        elif op == "limit_ratio":
            arguments.insert(
                0, self._mostly(("0.5", "-0.5", "0.3", "1", "-1"), lambda: self.scalar(depth - 2))
            )
        elif op == "quantile":
            arguments.insert(
                0, self._mostly(("0.5", "0.9", "0", "1", "0.33"), lambda: self.scalar(depth - 2))
            )
        elif op == "count_values":
            arguments.insert(0, Piece(STRING, (self._pick(('"v"', '"a"', '"value"', '"le"')),)))
        clause = self._grouping()
        word = self._spelled(op)
        chosen = (
            self._joined(VECTOR, f"{word} (", arguments, f") {clause}")
            if self.language.odd_forms and self._chance(0.2)
            else self._joined(VECTOR, f"{word} {clause}(", arguments, ")")
        )
        if op in ("topk", "bottomk") and self._chance(0.5):
            # What is chosen among equals does not show in the number and the sum of what is chosen.
            return Piece(VECTOR, (self._pick(("count(", "max(", "min(")), chosen, ")"))
        return chosen

    def _grouping(self) -> str:
        labels = self.rng.sample(LABELS, self.rng.randint(0, 2)) + self._of_topic()
        if self.language.odd_forms and self._chance(0.05):
            labels.append(self._pick(("__name__", "le", '"utf 8"', "absent_label")))
        words = self._pick(("", "by", "by", "without"))
        return f"{self._spelled(words)} ({', '.join(labels)}) " if words else ""

    def _two_vectors(self, depth: int) -> Piece:
        op = self._pick(self.language.arithmetic if self._chance(0.6) else _COMPARISONS)
        word = f"{op} bool" if op in _COMPARISONS and self._chance(0.4) else op
        left, right, matching = self._partners(depth)
        return self._operation(VECTOR, left, f" {word} {matching}", right)

    def _operation(self, kind: str, left: Piece, between: str, right: Piece) -> Piece:
        # Without brackets the order in which operators bind decides what it means, or that it means nothing.
        if self.language.odd_forms and self._chance(0.35):
            return Piece(kind, (left, between, right))
        return Piece(kind, ("(", left, between, right, ")"))

    def _partners(self, depth: int) -> tuple[Piece, Piece, str]:
        if self.language.repeated and self._chance(0.4):
            return self._repeated()
        form = self.rng.random()
        if form < 0.35:
            # Both of one selector: every series has its partner.
            selector = self.selector()
            return self._around(selector, depth), self._around(selector, depth), ""
        if form < 0.65:
            labels = ", ".join(self.rng.sample(LABELS, self.rng.randint(1, 2)) + self._of_topic())
            one = Piece(
                VECTOR,
                (f"{self._pick(('sum', 'max', 'count'))} by ({labels}) (", self.vector(depth - 2), ")"),
            )
            if self._chance(0.4):
                other = Piece(
                    VECTOR,
                    (f"{self._pick(('sum', 'min', 'avg'))} by ({labels}) (", self.vector(depth - 2), ")"),
                )
                return one, other, self._pick(("", f"on ({labels}) "))
            include = self._pick(("", "", *(f"({label})" for label in LABELS if label not in labels)))
            many = self.vector(depth - 1)
            if self._chance(0.5):
                return many, one, f"on ({labels}) group_left {include} "
            return one, many, f"on ({labels}) group_right {include} "
        return self.vector(depth - 1), self.vector(depth - 1), self._matching()

    def _repeated(self) -> tuple[Piece, Piece, str]:
        """Partners of which one may have a key twice where the other is not, in either order."""
        sides = [
            Piece(VECTOR, (wrap + self.prefix + name + self._shift() + (")" if wrap else ""),))
            for name, wrap in zip(
                self.language.repeated, (self._pick(("", "abs(")), self._pick(("", "", "-("))), strict=True
            )
        ]
        topic = ", ".join(self.language.topic_labels)
        matching = self._pick(
            (f"on ({topic}) ", f"on ({topic}) ", "ignoring (instance) ", "ignoring (a, instance) ")
        )
        group = self._pick(("", "", "group_left ", "group_right "))
        if self._chance(0.4):
            sides.reverse()
        return sides[0], sides[1], matching + group

    def _around(self, selector: Piece, depth: int) -> Piece:
        for _ in range(self.rng.randint(0, max(depth - 1, 0))):
            name = self._pick(
                [n for n in ("abs", "ceil", "floor", "sgn", "timestamp") if n in self.language.functions]
            )
            selector = Piece(VECTOR, (f"{name}(", selector, ")"))
        return selector

    def _matching(self) -> str:
        on = self._on()
        if not on or self._chance(0.5):
            return on
        matched = on[on.index("(") + 1 : on.index(")")].split(", ")
        free = [label for label in LABELS if label not in matched]
        include = self.rng.sample(free, self.rng.randint(0, min(1, len(free))))
        return f"{on}{self._pick(('group_left', 'group_right'))} ({', '.join(include)}) "

    def _on(self) -> str:
        if self._chance(0.4):
            return ""
        labels = self.rng.sample(LABELS, self._pick((0, 1, 2, 3, 3, 3))) + self._of_topic()
        if self._chance(0.7):
            if self.language.odd_forms and self._chance(0.06):
                labels.append(self._pick(("__name__", "le", '"utf 8"', "absent_label", "a")))
            return f"{self._spelled('on')} ({', '.join(labels)}) "
        return f"ignoring ({', '.join(label for label in LABELS if label not in labels)}) "

    def _set_operation(self, depth: int) -> Piece:
        op = self._spelled(self._pick(_SET_OPERATORS))
        return Piece(
            VECTOR, ("(", self.vector(depth - 1), f" {op} {self._on()}", self.vector(depth - 1), ")")
        )

    def _with_scalar(self, depth: int) -> Piece:
        sides = [self.vector(depth - 1), self.scalar(depth - 1)]
        self.rng.shuffle(sides)
        op = self._pick((*self.language.arithmetic, *_COMPARISONS, *(f"{c} bool" for c in _COMPARISONS)))
        return self._operation(VECTOR, sides[0], f" {op} ", sides[1])

    def _signed(self, depth: int) -> Piece:
        return Piece(
            VECTOR, (self._pick(("-", "-", "+")) if self.language.odd_forms else "-", self.vector(depth - 1))
        )

    def _bracketed(self, depth: int) -> Piece:
        comment = " # a remark\n" if self.language.odd_forms and self._chance(0.2) else ""
        return Piece(VECTOR, ("(" + comment, self.vector(depth - 1), ")"))

    def _vector_of_scalar(self, depth: int) -> Piece:
        return Piece(VECTOR, ("vector(", self.scalar(depth - 1), ")"))

    # -- selectors and ranges ------------------------------------------------------------------

    def selector(self) -> Piece:
        """An instant selector with or without offset and ``@``."""
        return Piece(VECTOR, (self._plain_selector() + self._shift(),))

    def matrix(self, depth: int) -> Piece:
        """A range of samples, or of the steps of a subquery."""
        if depth > 0 and self.language.subqueries and self._chance(0.4):
            window, step = self._pick(("1m", "5m", "3m20s", "10m")), self._pick(_STEPS)
            return Piece(MATRIX, (self._subject(depth - 1), f"[{window}:{step}]{self._shift()}"))
        return Piece(MATRIX, (f"{self._plain_selector()}[{self._range()}]{self._shift()}",))

    def _subject(self, depth: int) -> Piece:
        inner = self.vector(depth)
        head, tail = inner.parts[0], inner.parts[-1]
        # A bracket or a call ends by itself; behind anything else the range would bind otherwise than meant.
        closed = isinstance(head, str) and head.endswith("(") and tail == ")"
        return inner if closed else Piece(VECTOR, ("(", inner, ")"))

    def _plain_selector(self) -> str:
        rng, matchers = self.rng, []
        if self._chance(0.2):
            matchers.append(f'a{self._pick(("=", "!="))}"{self._pick("12")}"')
        if self._chance(0.25):
            pattern = self._pick(("", "x", "x|y", ".*", ".+", "[xy]", "(?i:X)", "x?"))
            op = self._pick(("=~", "!~") if set(pattern) & set("|.*+[]()?") else ("=", "!=", "=~", "!~"))
            matchers.append(f'b{op}"{pattern}"')
        if self._chance(0.08):
            regex = self._pick(("ctr|gauge", ".*r", "reqs.*|other", "early|late"))
            return "{" + ",".join([f'__name__=~"{self.prefix}(?:{regex})"', *matchers]) + "}"
        name = self.prefix + rng.choice(self.language.metrics)
        if self.language.odd_forms and self._chance(0.03):
            return "{" + ", ".join([f'"{name}"', *matchers]) + "}"
        return name + ("{" + ",".join(matchers) + "}" if matchers else "")

    def _range(self) -> str:
        return self._pick(_RARE_RANGES if self.language.odd_forms and self._chance(0.03) else _RANGES)

    def _shift(self) -> str:
        if self._chance(0.75):
            return ""
        pinned = f" @ {self.language.base_ms / 1000 + self._pick((137.5, 0, 300, 700.123)):.3f}"
        at = self._pick((" @ start()", " @ end()", pinned, "", ""))
        offset = self._pick(_RARE_OFFSETS if self._chance(0.05) else (*_OFFSETS, ""))
        return at + offset if self._chance(0.5) else offset + at

    # -- functions that take words -----------------------------------------------------------------

    def _label_replace(self, name: str, depth: int) -> Piece:
        to = self._pick(("a", "b", "new", "instance", "__name__", "utf 8", *self.language.topic_labels))
        by = self._pick(("$1", "x", "", "${1}-$2", "$1x", "$$1", "pre_$0", "${first}"))
        source = self._pick(("a", "b", "instance", "__name__", "absent_label", *self.language.topic_labels))
        regex = self._pick(("(.*)", "(.)(.*)", "i(.)", "x|y", "(?P<first>.+)", "", ".+", "(.", "1"))
        words = "".join(f', "{word}"' for word in (to, by, source, regex))
        return Piece(VECTOR, (f"{name}(", self.vector(depth - 1), f"{words})"))

    def _label_join(self, name: str, depth: int) -> Piece:
        to = self._pick(("a", "new", "instance", "__name__"))
        sources = self.rng.sample(("a", "b", "instance", "__name__", "absent_label"), self.rng.randint(0, 3))
        words = "".join(f', "{word}"' for word in (to, self._pick(("-", "", ", ")), *sources))
        return Piece(VECTOR, (f"{name}(", self.vector(depth - 1), f"{words})"))

    def _sort_by_label(self, name: str, depth: int) -> Piece:
        words = "".join(
            f', "{word}"' for word in self.rng.sample(("a", "b", "instance"), self.rng.randint(1, 2))
        )
        return Piece(VECTOR, (f"{name}(", self.vector(depth - 1), f"{words})"))

    def _histogram(self, name: str, depth: int) -> Piece:
        buckets = self._buckets() if self._chance(0.85) else self.vector(depth - 1)
        q = self._mostly(("0.5", "0.9", "0", "1", "0.25"), lambda: self.scalar(depth - 2))
        scalars = (
            [q] if name == "histogram_quantile" else [self._mostly(("0", "0.1", "-Inf"), self._number), q]
        )
        return self._joined(VECTOR, f"{name}(", [*scalars, buckets], ")")

    def _buckets(self) -> Piece:
        selector = f"{self.prefix}lat_bucket"
        form = self.rng.randrange(4)
        if form == 0:
            return Piece(VECTOR, (selector + self._shift(),))
        rate = Piece(
            VECTOR, (f"{self._pick(('rate', 'increase'))}({selector}[{self._pick(_RANGES)}]{self._shift()})",)
        )
        if form == 1:
            return rate
        return Piece(
            VECTOR,
            (f"{self._pick(('sum', 'avg'))} by ({self._pick(('le', 'le, a', 'a, le, b'))}) (", rate, ")"),
        )

    def _smoothing(self, name: str, depth: int) -> Piece:
        factors = [self._mostly(("0.5", "0.1", "0.9"), lambda: self.scalar(depth - 2)) for _ in range(2)]
        return self._joined(VECTOR, f"{name}(", [self.matrix(depth - 1), *factors], ")")

    def _timestamp(self, name: str, depth: int) -> Piece:
        return Piece(
            VECTOR, (f"{name}(", self.selector() if self._chance(0.6) else self.vector(depth - 1), ")")
        )

    def _absent(self, name: str, depth: int) -> Piece:
        if self._chance(0.6):
            matchers = self.rng.sample(
                ('a="1"', 'b="x"', 'b=~"x.*"', 'instance="i9"', 'a="2"'), self.rng.randint(0, 3)
            )
            return Piece(
                VECTOR, (f"{name}({self.prefix}{self._pick(('nothing', 'gauge'))}{{{','.join(matchers)}}})",)
            )
        return Piece(VECTOR, (f"{name}(", self.vector(depth - 1), ")"))

    # -- scalars and strings ---------------------------------------------------------------------

    def scalar(self, depth: int) -> Piece:
        """A scalar."""
        if depth <= 0 or self._chance(0.55):
            return self._number() if self._chance(0.8) else Piece(SCALAR, (self._pick(("time()", "pi()")),))
        form = self.rng.random()
        if form < 0.4:
            return Piece(SCALAR, ("scalar(", self.vector(depth - 1), ")"))
        if form < 0.5:
            return Piece(SCALAR, ("-", self.scalar(depth - 1)))
        op = self._pick((*self.language.arithmetic, "> bool", "== bool", "!= bool", "<= bool"))
        return self._operation(SCALAR, self.scalar(depth - 1), f" {op} ", self.scalar(depth - 1))

    def string(self, depth: int) -> Piece:
        """A string literal in one of its three quotes."""
        return Piece(STRING, (self._pick(('"a"', "'a b'", "`\\d`", '"\\n\\u00e4"', '""')),))

    def _number(self) -> Piece:
        if self.language.odd_forms:
            return Piece(SCALAR, (self._pick(_NUMBERS),))
        return Piece(SCALAR, (self._pick(("0", "1", "-1", "2.5", "1e3", "0.1", "100", "Inf", "NaN", "5m")),))

    def _of_topic(self) -> list[str]:
        """All labels of a topic, some of them, or none."""
        labels = self.language.topic_labels
        if not labels or self._chance(0.3):
            return []
        return list(
            labels[:3] if self._chance(0.5) else self.rng.sample(labels, self.rng.randint(1, len(labels)))
        )

    # -- small things ------------------------------------------------------------------------------

    def _joined(self, kind: str, head: str, arguments: list[Piece], tail: str) -> Piece:
        parts: list[str | Piece] = [head]
        for index, argument in enumerate(arguments):
            parts += [", ", argument] if index else [argument]
        return Piece(kind, (*parts, tail))

    def _mostly(self, plain: tuple[str, ...], other: Callable[[], Piece]) -> Piece:
        return Piece(SCALAR, (self._pick(plain),)) if self._chance(0.75) else other()

    def _spelled(self, word: str) -> str:
        return word.upper() if self.language.odd_forms and self._chance(0.03) else word

    def _pick(self, among):
        return self.rng.choice(among)

    def _chance(self, share: float) -> bool:
        return self.rng.random() < share
