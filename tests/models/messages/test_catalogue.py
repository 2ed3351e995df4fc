"""The catalogue: every key has a sentence, every sentence has a key, and every placeholder is given."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from throttlescope.ingest.contracts.vocabulary import CAUSES as STORED
from throttlescope.models.diagnosis import causes, missing, symptoms
from throttlescope.models.diagnosis.causes import CAUSES
from throttlescope.models.diagnosis.causes.cause import PARTS
from throttlescope.models.diagnosis.symptoms import KINDS
from throttlescope.models.diagnosis.truth_table import TABLE
from throttlescope.models.messages.catalogue import Message, placeholders, render
from throttlescope.models.messages.en import SENTENCES as ALL

#: The sentences of the diagnosis; for the others see ``test_messages_in_source``.
SENTENCES = {
    key: text
    for key, text in ALL.items()
    if key.startswith(("cause.", "symptom.", "truth_table.", "missing."))
}

#: Arguments of ``Cause.because`` that are no placeholders.
NOT_PLACEHOLDERS = {"grade", "limiter", "variant"}
#: Values that sentences about one limit share, given as ``**_limit(...)``.
_LIMIT, _OF_LIMIT = "**", {"level", "kind", "limit"}
#: Symptoms that one function answers.
_QUEUES = ("consumer_queue_full", "consumer_queue_empty")
#: Situations of ``throttle_events`` with events, one for each thing that they can show.
EVENT_MEANINGS = (
    "sparse", "in_bursts", "every_period", "often_every_period", "as_if_exhausted", "every_read", "limit_old", "batch_not_read",
    "limit_not_read",
)  # fmt: skip


def missing_given() -> dict[str, set[str]]:
    """Keys of missing evidence that the rules give, each with the names of its values; ``{...}`` in a key means its forms."""
    found: dict[str, set[str]] = {}
    aliases = {"age_s": ("before", "after"), "off_s": ("ahead", "behind")}
    for node in ast.walk(ast.parse(Path(missing.__file__).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "_missing":
            given = {keyword.arg for keyword in node.keywords}
            key = node.args[0]
            if isinstance(key, ast.Constant):
                found[f"missing.{key.value}"] = given
                continue
            stem = key.values[0].value
            forms = next(aliases[name] for name in given if name in aliases)
            found |= {f"missing.{stem}{form}": given for form in forms}
    return found


def keys_in_use() -> set[str]:
    of_missing = set(missing_given())
    of_missing |= {f"{key.rpartition('.')[0]}.fix" for key in of_missing}
    of_causes = {f"cause.{cause.name}.{part}" for cause in CAUSES for part in PARTS}
    reasons = {f"cause.{cause.name}.because.{reason}" for cause in CAUSES for reason in cause.reasons}
    of_symptoms = {f"symptom.{kind.name}.{situation}" for kind in KINDS for situation in kind.situations}
    return of_missing | of_causes | reasons | of_symptoms | {row.because.key for row in TABLE}


def reasons_given() -> dict[str, set[str]]:
    """Keys of the reasons that the rules give, each with the names of its values, as the source has them."""
    found: dict[str, set[str]] = {}
    files = [*Path(causes.__file__).parent.glob("*.py"), Path(causes.__file__).parents[1] / "verdict.py"]
    for file in files:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(".because") and node.args:
                cause = ast.unparse(node.func).removesuffix(".because").lower()
                key = f"cause.{cause}.because.{ast.literal_eval(node.args[0])}"
                given = {keyword.arg for keyword in node.keywords} - NOT_PLACEHOLDERS
                assert found.setdefault(key, given) == given, f"{key} is given different values"
    return found


def symptom_calls() -> list[tuple[str, ast.expr, set[str]]]:
    """Which symptom, which situation and the names of the values, of each finding that the source makes.

    A finding of either queue symptom is made by the same function, whose argument ``kind`` is one of the two.
    """
    found = []
    files = [*Path(symptoms.__file__).parent.glob("*.py"), Path(symptoms.__file__).parents[1] / "evidence.py"]
    for file in files:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
                continue
            owner, method = ast.unparse(node.func.value), node.func.attr
            if method in ("says", "unknown") and owner != "self":
                found.append(
                    (owner, node.args[0], {_LIMIT if k.arg is None else k.arg for k in node.keywords})
                )
    return found


def situations_of(argument: ast.expr) -> set[str] | None:
    """The situations that an argument may be: a literal, or one of two. None: the source computes it."""
    if isinstance(argument, ast.Constant):
        return {argument.value}
    if isinstance(argument, ast.IfExp):
        return situations_of(argument.body) | situations_of(argument.orelse)
    return None


def symptoms_given() -> dict[str, set[str]]:
    """Keys of findings whose situation is written where they are made, each with the names of its values."""
    found: dict[str, set[str]] = {}
    for owner, argument, names in symptom_calls():
        for situation in situations_of(argument) or ():
            kinds = _QUEUES if owner == "kind" else (owner.rpartition(".")[2].lower(),)
            for name in kinds:
                key = f"symptom.{name}.{situation}"
                if owner == "kind" and key not in SENTENCES:
                    continue
                given = set(names) - {_LIMIT} | (_OF_LIMIT if _LIMIT in names else set())
                assert found.setdefault(key, given) == given, f"{key} is given different values"
    return found


def symptoms_computed() -> dict[str, set[str]]:
    """Keys of findings whose situation the source computes, each with the names of its values."""
    queues = {
        f"symptom.{name}.{yes}.{shown}{form}": {"share"} | ({"origin"} if form else set())
        for name in _QUEUES
        for yes in ("yes", "no")
        for shown in ("starved", "fill")
        for form in ("", "_in_stats")
    }
    others = {
        f"symptom.{name}.{yes}.{shown}": {shown}
        for name in _QUEUES
        for yes in ("yes", "no")
        for shown in ("idle", "unacked")
    }
    events = {
        f"symptom.throttle_events.{meaning}": {"level", "kind", "events", "rate"}
        for meaning in EVENT_MEANINGS
    }
    clocks = {f"symptom.flow_stopped.clock_{side}": {"off_s"} for side in ("ahead", "behind")}
    growth = {
        f"symptom.backlog_growing.{form}": {"growth", "length_s"} for form in ("little_growth", "not_growing")
    }
    return {
        key: names for key, names in (queues | others | events | clocks | growth).items() if key in SENTENCES
    }


def test_sentences_and_keys_agree():
    assert set(SENTENCES) == keys_in_use()


def test_every_reason_is_given_by_a_rule():
    assert set(reasons_given()) == {key for key in keys_in_use() if ".because." in key}


def test_every_situation_of_a_symptom_is_found_by_its_function():
    keys = {key for key in SENTENCES if key.startswith("symptom.")}
    assert symptoms_given().keys() | symptoms_computed().keys() == keys


def test_situations_are_computed_only_where_this_test_knows_them():
    computed = {
        ast.unparse(argument) for _, argument, _ in symptom_calls() if situations_of(argument) is None
    }
    assert computed == {
        "situation", "f'{situation}_in_stats'", "f'{yes}.idle'", "f'{yes}.unacked'", "clock", "_meaning(limiter)",
    }  # fmt: skip


def test_placeholders_are_given():
    given = reasons_given() | missing_given() | symptoms_given() | symptoms_computed()
    for key in SENTENCES:
        assert set(placeholders(key)) == given.get(key, set()), key


def test_causes_are_the_stored_words():
    assert sorted(cause.name for cause in CAUSES) == sorted(STORED)


def test_a_message_is_rendered_inside_another():
    inner = Message("cause.topic_moved.because.unloaded")
    whole = render(Message("cause.both.because.capacity_short", {"limit": inner}))
    assert whole == f"{render(inner)}; without it the consumers would not keep up either"


def test_a_missing_value_is_refused():
    with pytest.raises(KeyError, match="limit"):
        render(Message("cause.both.because.capacity_short"))


def test_an_unknown_key_is_refused():
    with pytest.raises(KeyError, match="no such key"):
        render(Message("no such key"))
