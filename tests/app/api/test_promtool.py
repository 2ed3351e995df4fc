"""``promtool query`` against ``serve`` and against a real Prometheus: the same words on the terminal."""

from __future__ import annotations

import subprocess

import pytest

from tests.app.api.samples import END_MS, START_MS
from tests.lab.parts import promtool_binary

pytestmark = pytest.mark.prometheus

BACKLOG = "pulsar_subscription_back_log"
EVENTS = "pulsar_subscription_dispatch_throttled_msg_events"
SPAN = (f"--start={START_MS / 1000:.0f}", f"--end={END_MS / 1000:.0f}")
AT = f"--time={END_MS / 1000 - 300:.0f}"


def promtool(
    url: str, kind: str, *arguments: str, behind: tuple[str, ...] = ()
) -> tuple[int, list[str], str]:
    """Exit code, sorted lines of stdout (Prometheus' vectors have no order of their own) and stderr."""
    done = subprocess.run(
        [str(promtool_binary()), "query", kind, *arguments, url, *behind],
        capture_output=True,
        text=True,
        timeout=60,
    )
    return done.returncode, sorted(done.stdout.splitlines()), done.stderr


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("kind", "arguments", "behind"),
    [
        ("instant", (AT,), (BACKLOG,)),
        ("instant", (AT,), (f"rate({EVENTS}[5m])",)),
        ("instant", (AT,), (f"{BACKLOG}[1m]",)),
        ("instant", (AT,), ("odd_numbers offset 25m",)),
        ("instant", (AT,), ("1 / 3",)),
        ("instant", (AT, "--format=json"), (f"sort({BACKLOG} % 97)",)),
        ("range", SPAN, (f"sum by (subscription) ({EVENTS})",)),
        ("range", (*SPAN, "--step=90s"), (f"{BACKLOG} > 300",)),
        ("range", (*SPAN, "--step=15s", "--format=json"), ("interrupted",)),
        ("series", (*SPAN, f"--match={BACKLOG}", "--match=odd_numbers"), ()),
        ("series", (*SPAN, "--match=nothing"), ()),
        ("labels", SPAN, ("subscription",)),
        ("labels", (*SPAN, "--match=odd_numbers"), ("utf8.label",)),
        ("labels", SPAN, ("nothing",)),
    ],
)
def test_promtool_output_matches_prometheus(prometheus, served, kind, arguments, behind):
    ours, theirs = (promtool(url, kind, *arguments, behind=behind) for url in (served.url, prometheus.url))
    assert ours == theirs
    assert ours[0] == 0
    assert bool(ours[1]) == (not any("nothing" in word for word in (*arguments, *behind)))


@pytest.mark.parametrize(
    ("kind", "arguments", "behind", "words"),
    [
        ("instant", (), ("up{",), "bad_data: invalid parameter"),
        ("instant", (AT,), (f"up + on () {BACKLOG}",), "execution: "),
        (
            "range",
            (*SPAN, "--step=100ms"),
            ("up",),
            "exceeded maximum resolution of 11,000 points per timeseries",
        ),
        ("series", (*SPAN, "--match=up["), (), "parse error"),
        ("labels", (*SPAN, "--match={}"), ("job",), "must contain at least one non-empty matcher"),
    ],
)
def test_promtool_errors_match_prometheus(prometheus, served, kind, arguments, behind, words):
    ours, theirs = (promtool(url, kind, *arguments, behind=behind) for url in (served.url, prometheus.url))
    assert ours[:2] == theirs[:2]
    assert ours[0] == 1
    assert words in ours[2]
    assert words in theirs[2]


@pytest.mark.parametrize("state", ["healthy", "ready"])
def test_promtool_health_checks_pass(served, state):
    done = subprocess.run(
        [str(promtool_binary()), "check", state, f"--url={served.url}"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
