"""Pulsar's limiters as a judge of the simulator's. In: versions, a seed, a number of operations. Out: the differences, and which are explained.

One difference is explained: before 4.2, Pulsar multiplies a waiting time by a rate in 64 bits, and what is larger wraps around. The simulator
computes what later versions compute.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tests.judges.limiters.operations import FOLLOW, NEW, PUBLISH, UPDATE, draw_operations, draw_publishing
from tests.judges.limiters.play import CLASSES, play_kernel, play_pulsar, play_twin
from tests.judges.limiters.publishing import born_ns, from_start, play_publishing

VERSIONS = ("4.0.7", "4.2.4", "5.0.0-M1")
#: Versions whose products wrap around.
WRAPPING = ("4.0.7",)
#: Operations that are played at once: what they leave takes about 100 bytes each, three times.
_BATCH = 100_000
#: What the simulator's clock counts.
TICK_NS = 1000


def run(
    versions: tuple[str, ...] = VERSIONS,
    *,
    operations: int = 1_000_000,
    seed: int = 1,
    relative: bool = False,
) -> Iterator[dict]:
    """Judge each class of dispatch limiters of each version, absolute or relative limits; yields one result for each."""
    for engine, name in CLASSES.items():
        counts = {version: {"operations": 0, "twin": 0, "kernel": 0, "explained": 0} for version in versions}
        for batch, start in enumerate(range(0, operations, _BATCH)):
            played = draw_operations(seed + batch, min(_BATCH, operations - start), relative=relative)
            forms = {"twin": play_twin(engine, played), "kernel": play_kernel(engine, played)}
            for version in versions:
                pulsar = play_pulsar(version, engine, played)
                wrapped = wrapped_meters(engine, version, played, forms["twin"])
                counts[version]["operations"] += len(played)
                counts[version]["explained"] += int((wrapped & (pulsar != forms["twin"]).any(axis=2)).sum())
                for form, states in forms.items():
                    counts[version][form] += len(differences(pulsar, states, wrapped))
        for version in versions:
            kind = {"limits": "relative"} if relative else {}
            yield {
                "class": name, "engine": engine, **kind, "version": version, "seed": seed, **counts[version],
            }  # fmt: skip


def run_publishing(
    versions: tuple[str, ...] = VERSIONS, *, operations: int = 1_000_000, seed: int = 1
) -> Iterator[dict]:
    """Judge the publish limiter of each version; yields one result for each.

    ``simulator`` counts operations after which a state differs, ``explained`` those of limiters whose product wraps around. The last two are of the
    simulator's own microseconds: entries that it accepts by more than one earlier or later, or alone, and the largest distance.
    """
    names = ("operations", "entries", "waited", "simulator", "explained", "rounded")
    counts = {version: dict.fromkeys(names, 0) for version in versions}
    farthest_ns = dict.fromkeys(versions, 0)
    for batch, start in enumerate(range(0, operations, _BATCH)):
        played = draw_publishing(seed + batch, min(_BATCH, operations - start))
        (ours, beyond), (rounded, _) = play_publishing(played), play_publishing(played, tick_ns=TICK_NS)
        due_ns = played[:, 1] - born_ns(played)
        for version in versions:
            pulsar = from_start(played, play_pulsar(version, "publish", played))
            wrapped = beyond if version in WRAPPING else np.zeros(len(played), bool)
            other = (pulsar != ours).any(axis=(1, 2))
            theirs, coarse = pulsar[:, 0, 0], rounded[:, 0, 0] * TICK_NS
            judged = (played[:, 0] == PUBLISH) & ~wrapped
            both = judged & (theirs >= 0) & (coarse >= 0)
            apart_ns = np.abs(coarse - theirs)[both]
            alone = judged & ((theirs >= 0) != (coarse >= 0))
            waits = judged & (theirs > due_ns)
            found = (
                len(played),
                judged.sum(),
                waits.sum(),
                (other & ~wrapped).sum(),
                (other & wrapped).sum(),
                (apart_ns > TICK_NS).sum() + alone.sum(),
            )
            for name, count in zip(names, found, strict=True):
                counts[version][name] += int(count)
            farthest_ns[version] = max(farthest_ns[version], int(apart_ns.max(initial=0)))
    for version in versions:
        rounded_ms = round(farthest_ns[version] / 1e6, 3)
        yield {
            "class": "PublishRateLimiterImpl",
            "version": version,
            "seed": seed,
            **counts[version],
            "rounded_ms": rounded_ms,
        }


def differences(pulsar: np.ndarray, ours: np.ndarray, explained: np.ndarray) -> np.ndarray:
    """Operations after which an answer or a state differs, except those of meters whose difference is explained."""
    return np.flatnonzero(((pulsar != ours).any(axis=2) & ~explained).any(axis=1))


def wrapped_meters(engine: str, version: str, operations: np.ndarray, twin: np.ndarray) -> np.ndarray:
    """Meters in which a product has left 64 bits since they were made, by operation."""
    wrapped = np.zeros((len(operations), 2), bool)
    if engine != "C" or version not in WRAPPING:
        return wrapped
    for meter in range(2):
        rate, configured, average, relative, beyond = 0, 0, 0, 0, False
        anchors, rests = twin[:, meter, 3].tolist(), twin[:, meter, 4].tolist()
        for index, operation in enumerate(operations.tolist()):
            if operation[0] in (NEW, UPDATE):
                configured, relative, beyond = operation[2 + meter], operation[5], False
                rate = configured + average * relative
            elif operation[0] == FOLLOW:
                rate, average = rate + (operation[2 + meter] - average) * relative, operation[2 + meter]
            elif configured > 0 and anchors[index] != anchors[index - 1]:
                elapsed_ns = operation[1] - anchors[index - 1] + rests[index - 1]
                beyond |= elapsed_ns * rate >= 1 << 63
            wrapped[index, meter] = beyond
    return wrapped
