"""The functions of Prometheus 3.5: what each takes and gives, and whether it is supported.

In: nothing. Out: ``FUNCTIONS``, the one list that parser, type check, plan and documentation read.
"""

from __future__ import annotations

from dataclasses import dataclass

SCALAR, VECTOR, MATRIX, STRING = "scalar", "vector", "matrix", "string"

#: The words that messages use for the four kinds of value.
KIND_WORDS = {
    SCALAR: "scalar",
    VECTOR: "instant vector",
    MATRIX: "range vector",
    STRING: "string",
}

#: What functions are about, in the order in which a page lists them.
FAMILIES = ("range", "number", "trigonometry", "date", "label", "order", "histogram", "presence", "scalar")


@dataclass(frozen=True)
class Function:
    """One function.

    Attributes
    ----------
    takes : tuple of str
        Kinds of its arguments.
    family : str
        One of ``FAMILIES``.
    gives : str
        Kind of its result.
    optional : int
        How many of the last arguments may be left out.
    repeats : bool
        Whether the last argument may come any number of times.
    keeps_name : bool
        Whether the result keeps the metric name.
    experimental : bool
        Whether Prometheus 3.5 wants ``--enable-feature=promql-experimental-functions`` for it.
    why_unsupported : str or None
        Why this engine does not support it. A query with such a function fails before anything is evaluated.
    remark : str or None
        What a reader of the documentation should know of the result.
    """

    name: str
    takes: tuple[str, ...]
    family: str
    gives: str = VECTOR
    optional: int = 0
    repeats: bool = False
    keeps_name: bool = False
    experimental: bool = False
    why_unsupported: str | None = None
    remark: str | None = None

    @property
    def supported(self) -> bool:
        """Whether this engine supports it."""
        return self.why_unsupported is None

    @property
    def signature(self) -> str:
        """The call as a page writes it: optional arguments in brackets, repeated ones with three dots."""
        words = [KIND_WORDS[kind] for kind in self.takes]
        for i in range(len(words) - self.optional, len(words)):
            words[i] = f"[{words[i]}]"
        return f"{self.name}({', '.join(words)}{'...' if self.repeats else ''})"


_NO_NATIVE = "for native histograms; samples that are numbers are ignored, so the result is empty"


def _register() -> dict[str, Function]:
    over_window = ("rate", "increase", "delta", "irate", "idelta", "changes", "resets", "deriv")
    over_time = ("avg", "min", "max", "sum", "count", "present", "stddev", "stdvar")
    experimental_over_time = ("mad", "ts_of_min", "ts_of_max", "ts_of_last")
    numbers = ("abs", "ceil", "floor", "sqrt", "sgn")
    logarithms = ("exp", "ln", "log2", "log10")
    angles = ("acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "sin", "sinh", "tan", "tanh")
    dates = ("day_of_month", "day_of_week", "day_of_year", "days_in_month", "hour", "minute", "month", "year")
    of_native = ("avg", "count", "stddev", "stdvar", "sum")
    functions = [
        *(Function(name, (MATRIX,), "range") for name in over_window),
        *(Function(f"{name}_over_time", (MATRIX,), "range") for name in over_time),
        *(
            Function(f"{name}_over_time", (MATRIX,), "range", experimental=True)
            for name in experimental_over_time
        ),
        Function("last_over_time", (MATRIX,), "range", keeps_name=True),
        Function("quantile_over_time", (SCALAR, MATRIX), "range"),
        Function("predict_linear", (MATRIX, SCALAR), "range"),
        Function("double_exponential_smoothing", (MATRIX, SCALAR, SCALAR), "range", experimental=True),
        *(Function(name, (VECTOR,), "number") for name in numbers),
        *(Function(name, (VECTOR,), "number") for name in logarithms),
        Function("round", (VECTOR, SCALAR), "number", optional=1),
        Function("clamp", (VECTOR, SCALAR, SCALAR), "number"),
        Function("clamp_min", (VECTOR, SCALAR), "number"),
        Function("clamp_max", (VECTOR, SCALAR), "number"),
        *(Function(name, (VECTOR,), "trigonometry") for name in angles),
        *(Function(name, (VECTOR,), "trigonometry") for name in ("deg", "rad")),
        *(Function(name, (VECTOR,), "date", optional=1) for name in dates),
        Function("label_replace", (VECTOR, STRING, STRING, STRING, STRING), "label", keeps_name=True),
        Function(
            "label_join",
            (VECTOR, STRING, STRING, STRING),
            "label",
            optional=1,
            repeats=True,
            keeps_name=True,
        ),
        Function(
            "info",
            (VECTOR, VECTOR),
            "label",
            optional=1,
            keeps_name=True,
            experimental=True,
            why_unsupported="it joins labels of target_info by rules that changed in almost every release since 3.0",
        ),
        *(
            Function(
                name,
                (VECTOR,),
                "order",
                keeps_name=True,
                remark="series of equal value stay in the order of their labels; a range query is sorted by labels",
            )
            for name in ("sort", "sort_desc")
        ),
        *(
            Function(
                name,
                (VECTOR, STRING),
                "order",
                optional=1,
                repeats=True,
                keeps_name=True,
                experimental=True,
                remark="a range query is sorted by labels",
            )
            for name in ("sort_by_label", "sort_by_label_desc")
        ),
        Function("histogram_quantile", (SCALAR, VECTOR), "histogram", remark="of classic buckets"),
        Function("histogram_fraction", (SCALAR, SCALAR, VECTOR), "histogram", remark="of classic buckets"),
        *(Function(f"histogram_{name}", (VECTOR,), "histogram", remark=_NO_NATIVE) for name in of_native),
        Function("absent", (VECTOR,), "presence"),
        Function("absent_over_time", (MATRIX,), "presence"),
        Function("scalar", (VECTOR,), "scalar", SCALAR),
        Function("vector", (SCALAR,), "scalar"),
        Function("time", (), "scalar", SCALAR),
        Function("timestamp", (VECTOR,), "scalar"),
        Function("pi", (), "scalar", SCALAR),
    ]
    return {function.name: function for function in sorted(functions, key=lambda one: one.name)}


FUNCTIONS: dict[str, Function] = _register()
