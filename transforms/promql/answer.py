"""An answer as Prometheus' HTTP API gives it. In: an :class:`Answer`. Out: the JSON of ``data``."""

from __future__ import annotations

import math

import orjson

from throttlescope.transforms.promql.query import Answer
from throttlescope.transforms.promql.source import Series


def data_json(answer: Answer) -> bytes:
    """``{"resultType": ..., "result": ...}``."""
    return orjson.dumps({"resultType": answer.kind, "result": result_of(answer)})


def result_of(answer: Answer) -> list:
    """``result`` as Python objects."""
    steps_ms = answer.steps.times_ms.tolist()
    value = answer.value
    if answer.kind == "string":
        return [steps_ms[0] / 1000, value]
    if answer.kind == "scalar":
        return [steps_ms[0] / 1000, number(value[0])]
    if answer.kind == "vector":
        return [
            {"metric": dict(labels), "value": [steps_ms[0] / 1000, number(row[0])]}
            for labels, row in zip(value.labels, value.values, strict=True)
        ]
    if isinstance(value, list):
        return [_raw(series) for series in value]
    if not hasattr(value, "labels"):
        return [
            {"metric": {}, "values": [[t / 1000, number(v)] for t, v in zip(steps_ms, value, strict=True)]}
        ]
    return [
        {
            "metric": dict(labels),
            "values": [
                [t / 1000, number(v)] for t, v, here in zip(steps_ms, row, present, strict=True) if here
            ],
        }
        for labels, row, present in sorted(
            zip(value.labels, value.values, value.present, strict=True), key=lambda found: found[0]
        )
    ]


def number(value: float) -> str:
    """A float as Prometheus prints it: the shortest decimal that reads back, exponents below 1e-6 and from 1e21."""
    value = float(value)
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    if value != 0 and not 1e-6 <= abs(value) < 1e21:
        mantissa, exponent = f"{value!r}e0".split("e")[:2] if "e" in repr(value) else (repr(value), "0")
        return f"{mantissa.removesuffix('.0')}e{int(exponent):+03d}".replace("e+0", "e+").replace("e-0", "e-")
    text = format(value, "f") if False else repr(value)
    if "e" in text:
        from decimal import Decimal

        text = format(Decimal(text), "f")
    return text.removesuffix(".0")


def _raw(series: Series) -> dict:
    return {
        "metric": dict(sorted(series.labels.items())),
        "values": [
            [t / 1000, number(v)]
            for t, v in zip(series.timestamps_ms.tolist(), series.values.tolist(), strict=True)
        ],
    }
