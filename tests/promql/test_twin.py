"""The evaluator against its slow twin, on random data and random expressions."""

from __future__ import annotations

import random

from hypothesis import given, note, settings
from hypothesis import strategies as st

from tests.naive import promql as naive
from tests.promql.compare import answer_of, difference, source_of, twin_answer_of
from tests.promql.generate import BASE_MS, random_scalar, random_series, random_vector
from throttlescope.transforms.promql.errors import QueryError
from throttlescope.transforms.promql.evaluate import evaluate, plan_query
from throttlescope.transforms.promql.matrix import Steps
from throttlescope.transforms.promql.parse import parse


def answers(text, series, steps):
    try:
        ours = answer_of(evaluate(plan_query(text), source_of(series), steps), steps)
    except QueryError:
        ours = QueryError
    try:
        twin = twin_answer_of(
            naive.evaluate_range(parse(text), series, steps.start_ms, steps.end_ms, steps.step_ms), steps
        )
    except naive.NaiveError:
        twin = QueryError
    return ours, twin


@settings(max_examples=150)
@given(
    st.integers(0, 2**32), st.integers(0, 2**32), st.sampled_from((60_000, 15_000, 47_000)), st.integers(0, 4)
)
def test_any_expression_is_what_its_parts_say(data_seed, text_seed, step_ms, depth):
    series = random_series(random.Random(data_seed))  # noqa: S311
    rng = random.Random(text_seed)  # noqa: S311
    text = random_scalar(rng, depth) if rng.random() < 0.1 else random_vector(rng, depth)
    note(text)
    ours, twin = answers(text, series, Steps(BASE_MS, BASE_MS + 6 * 60_000, step_ms))
    if QueryError in (ours, twin):
        assert ours is twin
    else:
        assert difference(ours, twin) is None


def test_the_generator_reaches_answers_and_errors():
    """A generator that gave empty answers only would prove nothing."""
    filled = errors = 0
    for seed in range(150):
        rng = random.Random(seed)  # noqa: S311
        series = random_series(rng)
        text = random_vector(rng, 3)
        ours, _ = answers(text, series, Steps(BASE_MS, BASE_MS + 300_000, 60_000))
        errors += ours is QueryError
        filled += ours is not QueryError and any(ours.values())
    assert filled > 60
    assert errors > 3
