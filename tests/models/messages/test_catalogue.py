"""The catalogue: every key has a sentence, every sentence has a key, and every placeholder is given."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from throttlescope.ingest.contracts.vocabulary import CAUSES as STORED
from throttlescope.models.diagnosis import causes, missing
from throttlescope.models.diagnosis.causes import CAUSES
from throttlescope.models.diagnosis.causes.cause import PARTS
from throttlescope.models.diagnosis.truth_table import TABLE
from throttlescope.models.messages.catalogue import LANGUAGES, Message, placeholders, render
from throttlescope.models.messages.en import SENTENCES as ALL

#: The sentences of the diagnosis; for the others see ``test_messages_in_source``.
SENTENCES = {key: text for key, text in ALL.items() if key.startswith(("cause.", "truth_table.", "missing."))}

#: Arguments of ``Cause.because`` that are no placeholders.
NOT_PLACEHOLDERS = {"grade", "limiter", "variant"}


def missing_given() -> dict[str, set[str]]:
    """Keys of missing evidence that the rules give, each with the names of its values; ``{...}`` in a key stands for its forms."""
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
    return of_missing | of_causes | reasons | {row.because.key for row in TABLE}


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


def test_sentences_and_keys_agree():
    assert set(SENTENCES) == keys_in_use()


def test_every_reason_is_given_by_a_rule():
    assert set(reasons_given()) == {key for key in keys_in_use() if ".because." in key}


def test_placeholders_are_given():
    given = reasons_given() | missing_given()
    for key in SENTENCES:
        assert set(placeholders(key)) == given.get(key, set()), key


def test_languages_have_the_same_keys_and_placeholders():
    for language, sentences in LANGUAGES.items():
        assert set(sentences) == set(ALL), language
        for key in sentences:
            assert placeholders(key, language) == placeholders(key), (language, key)


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
