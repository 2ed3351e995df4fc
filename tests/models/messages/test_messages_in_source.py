"""The catalogue against the source: keys without a sentence, sentences without a key, missing placeholders."""

from __future__ import annotations

import ast
import dataclasses
import json
from pathlib import Path

import pytest

from throttlescope.models.messages.catalogue import UNITS, Message, message, placeholders
from throttlescope.models.messages.en import SENTENCES as ALL
from throttlescope.models.messages.limiting import FORMATS, limiting_factor

#: Those that are used by calls of ``message`` and ``sentence``; the diagnosis makes its keys itself, see ``test_catalogue``.
SENTENCES = {
    key: text
    for key, text in ALL.items()
    if not key.startswith(("cause.", "symptom.", "truth_table.", "missing."))
}

ROOT = Path(__file__).parents[3]
#: Keys made of a prefix and a word of a closed list, with the values that they are given.
_BY_KIND = {
    "forecast.when.": {"length_s", "at", "interval"},
    "forecast.never.": set(),
    "forecast.unknown.": set(),
}


def calls() -> tuple[list[tuple[str, str, set[str]]], list[tuple[str, str, set[str]]]]:
    """Where, key and names of the values, of each call of ``message`` or ``sentence``: those with a literal key, and those whose key is a
    literal prefix and a word of a closed list, as in ``sentence(f"alerts.kind.{kind}")``.
    """
    found, prefixed = [], []
    for room in ("models", "app"):
        for path in sorted((ROOT / room).rglob("*.py")):
            source = path.read_text()
            if "messages.catalogue import" not in source:
                continue
            for node in ast.walk(ast.parse(source)):
                if not (
                    isinstance(node, ast.Call)
                    and isinstance(node.func, ast.Name)
                    and node.func.id in ("message", "sentence")
                ):
                    continue
                (key,) = node.args
                where = f"{path.relative_to(ROOT)}:{node.lineno}"
                values = {one.arg for one in node.keywords}
                if isinstance(key, ast.JoinedStr) and isinstance(key.values[0], ast.Constant):
                    prefixed.append((where, key.values[0].value, values))
                    continue
                assert isinstance(key, ast.Constant), f"{where}: the key has no literal prefix"
                found.append((where, key.value, values))
    return found, prefixed


CALLS, PREFIXED = calls()


def test_each_call_has_its_sentence_and_values():
    """The key is in the catalogue, and the values are exactly its placeholders."""
    assert len(CALLS) > 100
    wrong = [
        (where, key, sorted(names))
        for where, key, names in CALLS
        if key not in SENTENCES or set(placeholders(key)) != names
    ]
    assert wrong == []


def test_no_placeholder_is_called_key():
    """``sentence(key, **values)`` has an argument of that name, and fails only when it is called."""
    assert [key for key in ALL if "key" in placeholders(key)] == []


def test_each_prefix_has_sentences_with_its_values():
    for where, prefix, values in PREFIXED:
        assert prefix.count(".") > 1 or prefix.endswith("."), f"{where}: {prefix} would take in too much"
        found = [key for key in SENTENCES if key.startswith(prefix)]
        assert found, f"{where}: no key begins with {prefix}"
        lacking = [key for key in found if not set(placeholders(key)) <= values]
        assert lacking == [], where


def test_each_sentence_is_used():
    used = {key for _, key, _ in CALLS}
    # Names of limits are formats of placeholders: models/messages/limiting.py reads them itself.
    prefixes = (*_BY_KIND, *(prefix for _, prefix, _ in PREFIXED), "limiting.")
    unused = [key for key in SENTENCES if key not in used and not key.startswith(prefixes)]
    assert unused == []


def test_each_kind_of_forecast_has_its_sentences():
    kinds = ("drain", "ttl", "quota_size", "quota_age")
    for prefix, names in _BY_KIND.items():
        found = {key for key in SENTENCES if key.startswith(prefix)}
        assert found == {f"{prefix}{kind}" for kind in kinds}
        assert all(set(placeholders(key)) == names for key in found)


def test_formats_of_placeholders_are_known():
    import string

    specs = {
        spec
        for sentence in SENTENCES.values()
        for _, _, spec, _ in string.Formatter().parse(sentence)
        if spec
    }
    ours = {spec for spec in specs if spec.isidentifier() and spec not in ("g", "d")}
    assert ours <= set(UNITS)
    assert set(FORMATS) <= ours


def test_message_is_worded_after_json():
    """Values cross a process as JSON: lists in place of tuples say the same."""
    one = message("advice.limit.raise", limiter="topic.msg", now=(500, 1, "msg"), value=(8000, 10, "msg"))
    again = Message(**json.loads(json.dumps(dataclasses.asdict(one))))
    assert again.text == one.text == "Raise the topic message limit from 500 msg/s to 8,000 msg per 10 s."


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("consumers", "the consumers"),
        ("broker.bytes", "the broker byte limit"),
        ("reads", "the read speed of the broker"),
    ],
)
def test_limiting_factor(name, text):
    assert limiting_factor(name) == text


def test_missing_value_is_an_error():
    with pytest.raises(KeyError):
        _ = Message("advice.age").text
