"""The same operations on Pulsar's classes, on the twin and on the kernel. In: rows of operations. Out: answers and states after each.

A row of states has two meters, messages and bytes, with five numbers each: the answer of a query (-1: no such meter; -2: no query), what
the meter holds (left or used), what is pending, the time of its last or next refill, and the rest of its last refill.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from numba import njit

from tests.judges.limiters.operations import CHARGE, FOLLOW, NEW, QUERY, SECOND_NS, UPDATE
from tests.lab.jvm import LOG_CONFIG
from tests.lab.parts import broker_jars, java_binary, javac_binary, parts_dir
from throttlescope.models.throttling.kernel.fields import ENGINE_A, ENGINE_C, NEVER, M
from throttlescope.models.throttling.kernel.meters import available, charge_meter, follow, renew
from throttlescope.models.throttling.limiters import PeriodBucket, WindowWithDebt
from throttlescope.models.throttling.twin.state import LimiterState
from throttlescope.models.throttling.world import Rates

#: Pulsar's class by the simulator's engine, as the driver names them.
DRIVER_NAMES = {"C": "bucket", "A": "classic", "publish": "publish"}
CLASSES = {"C": "DispatchRateLimiterAsyncTokenBucketImpl", "A": "DispatchRateLimiterClassicImpl"}
NO_ANSWER, NONE = -2, -1
_SOURCE = Path(__file__).with_name("LimiterDriver.java")
_COMPILE_S, _PLAY_S = 120, 600


def play_pulsar(version: str, engine: str, operations: np.ndarray) -> np.ndarray:
    """Play operations on the classes in the jars of a broker; times of states are nanoseconds."""
    jars = broker_jars(version)
    folder = _compiled_driver(version, f"{jars[0].parent}/*")
    command = [
        str(java_binary()), "-Xmx512m", "-XX:+UseSerialGC", f"-Dlog4j.configurationFile={LOG_CONFIG}",
        "-cp", f"{folder}:{jars[0].parent}/*", _SOURCE.stem, DRIVER_NAMES[engine],
    ]  # fmt: skip
    # Through files: neither side has to wait for the other, and what Java prints as an error stays apart.
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as answers:
        given.write(operations.astype(">i8").tobytes())
        given.seek(0)
        done = subprocess.run(
            command, stdin=given, stdout=answers, stderr=subprocess.PIPE, timeout=_PLAY_S, check=False
        )
        if done.returncode:
            raise RuntimeError(f"the limiters of Pulsar {version} failed:\n{done.stderr.decode()[-2000:]}")
        answers.seek(0)
        found = np.frombuffer(answers.read(), ">i8").astype(np.int64)
    return found.reshape(len(operations), 2, 5)


def _compiled_driver(version: str, class_path: str) -> Path:
    digest = hashlib.sha256(_SOURCE.read_bytes()).hexdigest()[:16]
    folder = parts_dir() / f"limiter-driver-{version}-{digest}"
    if not (folder / f"{_SOURCE.stem}.class").exists():
        # Classes of a process that ended half way are never used: the folder gets its name last.
        staging = folder.with_name(f"{folder.name}.{os.getpid()}.part")
        command = [str(javac_binary()), "-nowarn", "-cp", class_path, "-d", str(staging), str(_SOURCE)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=_COMPILE_S, check=False)
        if done.returncode:
            raise RuntimeError(f"{_SOURCE.name} does not compile:\n{done.stderr[-2000:]}")
        with contextlib.suppress(OSError):
            staging.rename(folder)
    return folder


def play_twin(engine: str, operations: np.ndarray, *, tick_ns: int = 1) -> np.ndarray:
    """Play operations on the simulator's readable form, whose clock counts ``tick_ns``."""
    states = np.full((len(operations), 2, 5), NONE, np.int64)
    limiter, averages = LimiterState(engine, Rates()), (0, 0)
    for index, (kind, at_ns, first, second, third, relative) in enumerate(operations.tolist()):
        now = at_ns // tick_ns
        answers = (NO_ANSWER, NO_ANSWER)
        if kind in (NEW, UPDATE):
            if kind == NEW:
                limiter = LimiterState(engine, Rates())
            rates = Rates(max(0, first), max(0, second), third * SECOND_NS // tick_ns, relative == 1)
            limiter.renew(rates, now, averages)
        elif kind == FOLLOW:
            averages = (first, second)
            limiter.follow(averages, now)
        meters = (limiter.msg, limiter.bytes)
        if kind == QUERY:
            answers = tuple(NONE if meter is None else meter.available(now) for meter in meters)
        elif kind == CHARGE:
            for meter, amount in zip(meters, (first, second), strict=True):
                if meter is not None and amount > 0:
                    meter.charge(amount, now)
        for column, meter in enumerate(meters):
            states[index, column, 0] = answers[column]
            if isinstance(meter, PeriodBucket):
                states[index, column, 1:] = meter.tokens, meter.pending, meter.anchor_us, meter.remainder_us
            elif isinstance(meter, WindowWithDebt):
                # The timer of a real limiter runs by itself, ours when something is asked.
                meter.available(now)
                due = NONE if meter.next_tick_us is None else meter.next_tick_us
                states[index, column, 1:] = meter.used, 0, due, 0
    return states


def play_kernel(engine: str, operations: np.ndarray, *, tick_ns: int = 1) -> np.ndarray:
    """Play operations on the simulator's compiled form, whose clock counts ``tick_ns``."""
    states = np.full((len(operations), 2, 5), NONE, np.int64)
    _play_kernel({"A": int(ENGINE_A), "C": int(ENGINE_C)}[engine], operations, tick_ns, states)
    return states


@njit
def _play_kernel(engine, operations, tick_ns, states):
    a, averages = np.zeros(2 * M.WIDTH, np.int64), np.zeros(2, np.int64)
    for index in range(len(operations)):
        kind = operations[index, 0]
        now = operations[index, 1] // tick_ns
        for column in range(2):
            meter = column * M.WIDTH
            value = operations[index, 2 + column]
            answer = NO_ANSWER
            if kind in (NEW, UPDATE):
                period = operations[index, 4] * SECOND_NS // tick_ns
                relative, average = operations[index, 5], averages[column]
                renew(a, meter, engine, max(0, value), relative, average, period, now, kind == NEW)
            elif kind == FOLLOW:
                averages[column] = value
                follow(a, meter, engine, value, now)
            elif kind == QUERY:
                answer = available(a, meter, engine, now) if a[meter + M.RATE] > 0 else NONE
            elif a[meter + M.RATE] > 0 and value > 0:
                charge_meter(a, meter, engine, value, now)
            states[index, column, 0] = answer
            if a[meter + M.RATE] > 0:
                if engine == ENGINE_A:
                    available(a, meter, engine, now)
                due = a[meter + M.ANCHOR_AT]
                states[index, column, 1] = a[meter + M.TOKENS]
                states[index, column, 2] = 0 if engine == ENGINE_A else a[meter + M.PENDING]
                states[index, column, 3] = NONE if engine == ENGINE_A and due == NEVER else due
                states[index, column, 4] = 0 if engine == ENGINE_A else a[meter + M.REST_US]
