"""The catalogue against its slow twin: every series looked at by itself."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest

from tests.examples import seeds
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.errors import ThrottlescopeError
from throttlescope.ingest.core.selector import parse_selector
from throttlescope.transforms.promql.catalogue import Catalogue

SELECTORS = (
    "a_total",
    '{__name__=~"a.*"}',
    '{__name__!="b",n=~".+"}',
    '{n="1"}',
    'a_total{n!="1"}',
    'b{n=""}',
    '{__name__=~".+",n!~"[12]"}',
    '{"utf8.label"=~"u.*"}',
    "nothing",
    '{__name__="a_total",__name__=~"b"}',
    'b{nobody="",n=~"|2"}',
)


def random_series(rng: random.Random) -> list[dict]:
    found = []
    for name in ("a_total", "a_sum", "b"):
        for n in range(6):
            labels = {"cluster": rng.choice("xy"), "Upper": str(n)}
            if rng.random() < 0.6:
                labels["n"] = str(n % 3)
            if rng.random() < 0.3:
                labels["utf8.label"] = rng.choice(("u", "ü"))
            first_ms = rng.randrange(1000)
            found.append(
                {
                    "metric_name": name,
                    "labels": labels,
                    "first_ms": first_ms,
                    "last_ms": first_ms + rng.randrange(300),
                }
            )
    return found


def catalogue_of(series: list[dict]) -> Catalogue:
    schema = TABLES["series"].loose_schema
    rows = [{**one, "labels": list(one["labels"].items())} for one in series]
    return Catalogue(pa.Table.from_pylist(rows, schema=schema))


@pytest.mark.parametrize("seed", seeds(range(12)))
def test_what_matches(seed):
    rng = random.Random(seed)  # noqa: S311
    series = random_series(rng)
    catalogue = catalogue_of(series)
    answered = 0
    for _ in range(40):
        selectors = [parse_selector(text) for text in rng.sample(SELECTORS, rng.randrange(3))]
        start_ms, end_ms = (rng.choice((None, rng.randrange(1300))) for _ in range(2))
        chosen = [
            {"__name__": one["metric_name"], **one["labels"]}
            for one in series
            if (start_ms is None or one["last_ms"] >= start_ms)
            and (end_ms is None or one["first_ms"] <= end_ms)
        ]
        if selectors:
            chosen = [labels for labels in chosen if any(selector.matches(labels) for selector in selectors)]
        asked = (selectors, start_ms, end_ms)
        assert catalogue.label_names(*asked) == sorted({name for labels in chosen for name in labels})
        for name in ("__name__", "n", "utf8.label", "Upper", "nobody"):
            values = sorted({labels[name] for labels in chosen if name in labels})
            assert catalogue.label_values(name, *asked) == values
        found = catalogue.series(*asked)
        assert [list(labels.items()) for labels in found] == sorted(
            sorted(labels.items()) for labels in chosen
        )
        answered += bool(found)
    assert answered > 10
    assert catalogue.newest_ms == max(one["last_ms"] for one in series)
    assert catalogue.metric_names == ["a_sum", "a_total", "b"]


def test_a_lake_without_series():
    catalogue = catalogue_of([])
    assert catalogue.label_names() == catalogue.label_values("a") == catalogue.series() == []
    assert catalogue.label_names([parse_selector("a")], 0, 1) == []
    assert catalogue.newest_ms is None


@pytest.mark.parametrize("column", ["metric_name", "labels", "first_ms", "last_ms"])
def test_a_column_that_is_missing_is_said(column):
    table = pa.Table.from_pylist(
        [{"metric_name": "a", "labels": [], "first_ms": 0, "last_ms": 1} | {column: None}],
        schema=TABLES["series"].loose_schema,
    )
    with pytest.raises(ThrottlescopeError, match="damaged"):
        Catalogue(table)
