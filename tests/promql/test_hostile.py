"""No text may crash, hang or outrun a second, whatever it says; ``python -m tests.promql.conformance hostile`` runs 100,000."""

from __future__ import annotations

import os
import time

import pytest

from tests.promql.conformance import hostile
from tests.promql.conformance.hostile_texts import MEGABYTE

_TEXTS = int(os.environ.get("THROTTLESCOPE_HOSTILE_TEXTS", "3000"))


@pytest.mark.study
def test_hostile_texts_are_answered_within_a_second():
    result = hostile.run(_TEXTS, seed=0, workers=2, say=lambda _: None)
    assert result["trouble"] == []
    # A generator whose texts are all refused at the first character would prove nothing.
    assert result["classes"]["result"] > _TEXTS * 0.05
    assert result["classes"]["execution"] > 0
    assert result["longest"] >= MEGABYTE


@pytest.mark.study
def test_dead_or_silent_child_is_detected(monkeypatch):
    monkeypatch.setattr(hostile, "SILENCE_S", 10.0)
    monkeypatch.setattr(hostile, "_child", _bad_child)
    result = hostile.run(4, seed=0, workers=1, say=lambda _: None)
    assert [row["class"] for row in result["trouble"]] == ["died", "hang", "died"]


def _bad_child(pipe, seed, only, first, after):
    pipe.send("ready")
    for number in range(first, after):
        if number == 1:
            time.sleep(60)
        if number in (0, 3):
            os._exit(1)
        text, family = hostile.text_of(seed, number, only)
        pipe.send(hostile._named(number, text, family, "result", 0.0, ""))
