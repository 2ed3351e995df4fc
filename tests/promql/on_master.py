"""Queries of a lake on any Spark master, in a process of its own: in, a lake and a master's URL; out, JSON on standard output.

``python -m tests.promql.on_master LAKE MASTER START_MS END_MS STEP_MS QUERY...`` prints, per query, the SHA-256 of the answer,
its points and the seconds that it took. A process has one JVM, so a test that has a local session cannot do this itself.
"""

from __future__ import annotations

import hashlib
import json
import sys
import time

import numpy as np

from throttlescope.ingest.lake import Lake
from throttlescope.ingest.spark.session import spark_session
from throttlescope.transforms.promql.answer import data_json
from throttlescope.transforms.promql.engine import Engine
from throttlescope.transforms.promql.query import Options, QueryAnswer


def digest(answer: QueryAnswer) -> str:
    """SHA-256 of an answer's JSON."""
    return hashlib.sha256(data_json(answer)).hexdigest()


def main(lake: str, master: str, start_ms: int, end_ms: int, step_ms: int, *queries: str) -> None:
    conf = {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.executor.memory": "1g",
    }
    session = spark_session("throttlescope-promql", master=master, conf=conf)
    engine = Engine(Lake(lake), lambda: session)
    # Months have more steps, and more samples, than one HTTP request may ask for.
    options = Options(max_points=10**7, max_samples=10**11, timeout_s=3600)
    for query in queries:
        began_s = time.perf_counter()
        answer = engine.range(query, start_ms, end_ms, step_ms, options, place="spark")
        found = {
            "query": query,
            "sha256": digest(answer),
            "points": int(np.sum(answer.value.present)),
            "samples": answer.stats["samples"],
            "seconds": round(time.perf_counter() - began_s, 2),
            "master": session.sparkContext.master,
        }
        print(json.dumps(found), flush=True)
    session.stop()


if __name__ == "__main__":
    main(*sys.argv[1:3], *map(int, sys.argv[3:6]), *sys.argv[6:])
