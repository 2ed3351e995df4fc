"""The written cases of ``cases/``: what ours gives, and that a real Prometheus 3.5 gives what they say."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.promql.conformance.notation import Clear, Eval, read_file
from tests.promql.conformance.promqltest import OurEngine, ServerEngine, play
from tests.promql.conformance.through_lake import LakeEngine
from tests.promql.conformance.tricks import broken_law, variants
from tests.promql.conformance.verdict import wrong

FILES = sorted((Path(__file__).parent / "cases").glob("*.test"))


def name_of(path):
    return path.stem


@pytest.mark.sampled(3)
@pytest.mark.long
@pytest.mark.parametrize("engine", [OurEngine, LakeEngine])
@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_ours(path, engine):
    """In memory, and over the shards of a lake."""
    found, tried = [], 0
    for played in play(read_file(path.read_text()), [engine()]):
        assert not played.skipped
        tried += 1
        trouble = wrong(played.eval, played.outcomes[0], messages=False)
        if trouble:
            found.append(f"{path.name}:{played.eval.line}  {played.eval.text}\n    {trouble}")
    assert not found, "\n".join(found)
    assert tried >= 10


@pytest.mark.sampled(3)
@pytest.mark.long
@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_ours_asked_otherwise(path):
    """What is pinned does not move, and an instant query is the middle of a range query around it."""
    found, tried = [], 0
    ours = OurEngine()
    for played in play(read_file(path.read_text()), [ours]):
        for variant in variants(played.eval):
            tried += 1
            trouble = broken_law(played.eval, variant, ours)
            if trouble:
                found.append(f"{path.name}:{played.eval.line}  {variant}\n    {trouble}")
    assert not found, "\n".join(found)
    assert tried > 10


@pytest.mark.prometheus
@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_prometheus_gives_what_the_case_says(path):
    found = []
    with ServerEngine() as server:
        for played in play(read_file(path.read_text()), [server, OurEngine()]):
            theirs, ours = played.outcomes
            trouble = wrong(played.eval, theirs, messages=True)
            if trouble is None and theirs.error != ours.error:
                trouble = (
                    f"ours fails as {ours.error or 'nothing'}, Prometheus as {theirs.error or 'nothing'}"
                )
            if trouble:
                found.append(f"{path.name}:{played.eval.line}  {played.eval.text}\n    {trouble}")
    assert not found, "\n".join(found)


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_a_case_says_why(path):
    """Each group of evals stands under a comment, each file under a line that says what it is about."""
    lines = path.read_text().split("\n")
    assert lines[0].startswith("# ")
    evals = [command for command in read_file(path.read_text()) if not isinstance(command, Clear)]
    comments = sum(line.startswith("#") for line in lines)
    assert comments > sum(isinstance(one, Eval) for one in evals) / 4
