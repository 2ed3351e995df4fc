"""What is stored of a message: no more than its sentence shows, and the sentence stays the same in every language."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from string import Formatter

import pytest

from throttlescope.models.messages.catalogue import UNITS, Message, message, placeholders, render
from throttlescope.models.messages.en import SENTENCES
from throttlescope.models.messages.language import LANGUAGES
from throttlescope.models.messages.rounding import rounding
from throttlescope.models.messages.stored import packed, unpacked

#: Units whose values are written in full, with some of them.
IN_FULL = {
    "": ["orders", 3, 2.0, [message("limiting.level.topic"), "b"], message("label.copy")],
    ",": [0, 7, 1_234_567],
    "exact_duration": [0.25, 90, 5400, 90.0, 1_209_600],
    "limiter": ["subscription.msg", "broker.bytes"],
    "factor": ["consumers", "topic.bytes"],
    "names": [["a", "b"], ["only"]],
}
#: Next to bounds of the units: digits, shares, minutes, hours, days, a year.
EDGES = [
    0.0, -0.0, -0.4, 0.5, 1.0, 1.0004, 1.5, 2.5, 0.00999, 0.01, 0.985, 0.99, 0.9951, 0.99999, 9.996, 59.5, 59.7, 99.96, 100.5, 119.4, 119.6,
    3569.0, 3570.0, 3599.6, 3600.0, 172_799.0, 172_800.0, 86_400.0 * 365 - 0.4, 86_400.0 * 365 + 1, 123_456.5, 2.0**53 + 2, 1e18,
]  # fmt: skip
UNITS_SHOWN = sorted({unit for key in SENTENCES for unit in placeholders(key).values()})


def values_of(unit: str, chosen: random.Random, count: int) -> list:
    if unit in IN_FULL:
        return [chosen.choice(IN_FULL[unit]) for _ in range(count)]
    if unit == "limit":
        return [
            (chosen.choice([50, 999.6, 10**7 * chosen.random()]), chosen.choice([1, 10, 60]), chosen.choice(["msg", "bytes"]))
            for _ in range(count)
        ]  # fmt: skip
    numbers = [
        chosen.choice((1, 1, -1)) * chosen.random() * 10 ** chosen.uniform(-6, 9) for _ in range(count)
    ]
    return [*EDGES, *(edge + chosen.uniform(-0.01, 0.01) for edge in EDGES), *range(200), *numbers]


@pytest.mark.long
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_sentence_survives_being_stored(language):
    seed = random.randrange(2**32)  # noqa: S311
    chosen = random.Random(seed)  # noqa: S311
    pools = {unit: values_of(unit, chosen, 50) for unit in UNITS_SHOWN}
    checked = 0
    for key in SENTENCES:
        units = placeholders(key, language)
        for _ in range(5 if units else 1):
            one = Message(key, {name: chosen.choice(pools[unit]) for name, unit in units.items()})
            stored = packed(one)
            assert render(unpacked(stored), language) == render(one, language), (seed, one)
            assert packed(unpacked(stored)) == stored, (seed, one)
            checked += bool(units)
    assert checked > 1000


@pytest.mark.parametrize("unit", [unit for unit in UNITS_SHOWN if unit not in IN_FULL])
def test_what_reads_the_same_is_equal(unit):
    """To the bytes, of whichever type the numbers were."""
    seed = random.randrange(2**32)  # noqa: S311
    write = UNITS.get(unit, lambda value: format(value, unit))
    chosen, rounded = random.Random(seed), rounding(unit)  # noqa: S311
    by_text = defaultdict(set)
    for value in values_of(unit, chosen, 1000):
        assert write(rounded(value)) == write(value), (seed, value)
        by_text[write(value)].add(json.dumps(rounded(value)))
    assert {text: found for text, found in by_text.items() if len(found) > 1} == {}, seed
    assert len(by_text) > 20


@pytest.mark.parametrize("unit", UNITS_SHOWN)
def test_each_unit_is_rounded_or_in_full(unit):
    assert (rounding(unit) is None) == (unit in IN_FULL)


def test_placeholder_has_one_unit():
    """Where a name is twice in a sentence, or in another language, what is rounded for one would be wrong for the other."""
    found = defaultdict(set)
    for sentences in LANGUAGES.values():
        for key, text in sentences.items():
            for _, name, unit, _ in Formatter().parse(text):
                if name is not None:
                    found[key, name].add(unit)
    assert len(found) > 1000
    assert [place for place, units in found.items() if len(units) > 1] == []


def test_stored_message_has_no_other_digits():
    limit = {"level": message("limiting.level.topic"), "kind": message("limiting.kind.msg")}
    one = message("symptom.limiter_at_limit.used", **limit, limit=(499.96, 1, "msg"), rho=0.98421, more=1)
    assert json.loads(packed(one))["values"]["rho"] == 0.98
    assert json.loads(packed(one))["values"]["limit"] == [500, 1, "msg"]
    assert "more" not in json.loads(packed(one))["values"]


@pytest.mark.parametrize("value", [None, float("inf"), "unknown"])
def test_what_is_no_number_is_kept(value):
    assert rounding("number")(value) == value
