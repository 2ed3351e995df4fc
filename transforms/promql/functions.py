"""The functions of Prometheus 3.5: what each takes and gives, and whether it is carried.

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


@dataclass(frozen=True)
class Function:
    """One function.

    Attributes
    ----------
    takes : tuple of str
        Kinds of its arguments.
    optional : int
        How many of the last arguments may be left out.
    repeats : bool
        Whether the last argument may come any number of times.
    carried : bool
        Whether this evaluator carries it; others are refused by name before anything runs.
    keeps_name : bool
        Whether the result keeps the metric name.
    """

    name: str
    takes: tuple[str, ...]
    gives: str = VECTOR
    optional: int = 0
    repeats: bool = False
    carried: bool = False
    keeps_name: bool = False


def _register() -> dict[str, Function]:
    over_window = ("rate", "increase", "delta", "irate", "changes", "resets")
    over_time = ("avg", "min", "max", "sum", "count")
    carried = [
        *(Function(name, (MATRIX,)) for name in over_window),
        *(Function(f"{name}_over_time", (MATRIX,)) for name in over_time),
        Function("last_over_time", (MATRIX,), keeps_name=True),
        *(
            Function(name, (VECTOR,))
            for name in ("abs", "ceil", "floor", "sqrt", "sgn", "absent", "timestamp")
        ),
        Function("clamp", (VECTOR, SCALAR, SCALAR)),
        Function("clamp_min", (VECTOR, SCALAR)),
        Function("clamp_max", (VECTOR, SCALAR)),
        Function("time", (), SCALAR),
        Function("pi", (), SCALAR),
        Function("scalar", (VECTOR,), SCALAR),
        Function("vector", (SCALAR,)),
    ]
    angles = ("acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "deg", "rad", "sin", "sinh")
    angles += ("tan", "tanh", "exp", "ln", "log2", "log10")
    dates = ("day_of_month", "day_of_week", "day_of_year", "days_in_month", "hour", "minute", "month", "year")
    more_windows = ("absent", "present", "stddev", "stdvar", "mad", "ts_of_max", "ts_of_min", "ts_of_last")
    histograms = ("avg", "count", "stddev", "stdvar", "sum")
    others = [
        *(Function(name, (VECTOR,)) for name in angles),
        *(Function(name, (VECTOR,), optional=1) for name in dates),
        *(Function(f"{name}_over_time", (MATRIX,)) for name in more_windows),
        *(Function(f"histogram_{name}", (VECTOR,)) for name in histograms),
        *(Function(name, (MATRIX,)) for name in ("deriv", "idelta")),
        *(Function(name, (VECTOR,), keeps_name=True) for name in ("sort", "sort_desc")),
        Function("sort_by_label", (VECTOR, STRING), repeats=True, keeps_name=True),
        Function("sort_by_label_desc", (VECTOR, STRING), repeats=True, keeps_name=True),
        Function("round", (VECTOR, SCALAR), optional=1),
        Function("quantile_over_time", (SCALAR, MATRIX)),
        Function("predict_linear", (MATRIX, SCALAR)),
        Function("double_exponential_smoothing", (MATRIX, SCALAR, SCALAR)),
        Function("histogram_quantile", (SCALAR, VECTOR)),
        Function("histogram_fraction", (SCALAR, SCALAR, VECTOR)),
        Function("label_replace", (VECTOR, STRING, STRING, STRING, STRING), keeps_name=True),
        Function("label_join", (VECTOR, STRING, STRING, STRING), optional=1, repeats=True, keeps_name=True),
        Function("info", (VECTOR, VECTOR), optional=1, keeps_name=True),
    ]
    table = {}
    for function in carried:
        table[function.name] = Function(**{**vars(function), "carried": True})
    for function in others:
        table[function.name] = function
    return dict(sorted(table.items()))


FUNCTIONS: dict[str, Function] = _register()
