"""What a lake in an object store costs. In: a shipped recording, a made fleet, a real S3 server on loopback. Out: requests and times.

``python -m benchmarks.object_store [--recording NAME] [--subscriptions N]``. Requests are counted by the server; times are of loopback,
where a request takes a millisecond or two: elsewhere count the requests.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb

from benchmarks.fleet.signals import Fleet
from tests.lab.object_store import ObjectStore, running_object_store

_HOURS = 6


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--recording", default="healthy-msg-50")
    options.add_argument("--subscriptions", type=int, default=2_000)
    asked = options.parse_args()
    with tempfile.TemporaryDirectory() as scratch, running_object_store(Path(scratch, "store")) as store:
        os.environ |= store.environment
        found = {"duckdb": duckdb_ways(store, Path(scratch), asked.subscriptions)}
        print(json.dumps(found["duckdb"], indent=1), file=sys.stderr, flush=True)
        found["lake"] = requests_of_the_lake(store)
        found["commands"] = requests_of_commands(store, asked.recording)
    print(json.dumps(found, indent=1))


def requests_of_commands(store: ObjectStore, recording: str) -> dict[str, dict[str, int]]:
    """Requests by operation of a first run, the same run again, and a look at the verdicts."""
    lake, found = store.lake("run"), {}
    for name, arguments in (
        ("first run", ("run", "--recording", recording)),
        ("the same again", ("run", "--recording", recording)),
        ("verdicts", ("verdicts",)),
    ):
        before, begun_s = store.requests(), time.monotonic()
        command = [sys.executable, "-m", "throttlescope.app.cli", *arguments, "--lake", lake]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        made = {kind: count - before.get(kind, 0) for kind, count in store.requests().items()}
        found[name] = {kind: count for kind, count in sorted(made.items()) if count}
        found[name]["seconds"] = round(time.monotonic() - begun_s)
    return found


def requests_of_the_lake(store: ObjectStore) -> dict[str, dict[str, int]]:
    """Requests by operation of what runs and readers do all the time."""
    from throttlescope.app.web.data.reader import LakeReader
    from throttlescope.ingest.lake import Lake, write_data_file

    fleet, lake, found = Fleet(10), Lake(store.lake("small")), {}

    def replaced(hour: int) -> None:
        version = lake.version("signals")
        old = lake.files("signals", version=version)
        new = write_data_file(lake.root, "signals", fleet.hour(hour))
        lake.commit("signals", [new], old, run_id="benchmark", read_version=version)

    for hour in range(13):
        replaced(hour)
    other, reader = Lake(lake.root), LakeReader(lake.root)
    for name, work in (
        ("a table kept open, nothing new", lambda: lake.version("signals")),
        ("a table opened first, 13 commits", lambda: other.version("signals")),
        ("one file replaced", lambda: replaced(13)),
        ("one file read", lambda: lake.read("signals", columns=["topic"])),
        ("web app: first snapshot", lambda: reader.read(lambda cursor, snapshot: None)),
        ("web app: a look, nothing new", lambda: reader.read(lambda cursor, snapshot: None)),
    ):
        before = store.requests()
        work()
        made = {kind: count - before.get(kind, 0) for kind, count in store.requests().items()}
        found[name] = {kind: count for kind, count in sorted(made.items()) if count}
    return found


def duckdb_ways(store: ObjectStore, scratch: Path, subscriptions: int) -> dict[str, dict[str, float | str]]:
    """One subscription's minutes, and a sum over all, by each way in which DuckDB can read objects."""
    from obstore.fsspec import FsspecStore

    from throttlescope.ingest.lake import Lake, write_data_file
    from throttlescope.ingest.lake.duck import from_files
    from throttlescope.ingest.lake.duck_files import store_files
    from throttlescope.ingest.lake.parquet import dataset

    fleet, local = Fleet(subscriptions), Lake(scratch / "fleet")
    made = [write_data_file(local.root, "signals", fleet.hour(hour)) for hour in range(_HOURS)]
    local.commit("signals", made, run_id="benchmark")
    remote = Lake(store.lake("fleet"))
    for file in local.files("signals"):
        remote.storage.write(f"signals/{file.relative_path}", Path(file.path).read_bytes())
    paths = [f"{remote.root}/signals/{file.relative_path}" for file in local.files("signals")]
    topic = local.read("signals", columns=["topic"]).column("topic")[0].as_py()

    class One:
        def __init__(self, path: str) -> None:
            self.path = path

    ways = {}
    for name in (
        "files on disk",
        "objects: pyarrow below fsspec",
        "objects: obstore below fsspec",
        "objects: pyarrow dataset",
    ):
        connection = duckdb.connect()
        if name == "files on disk":
            source = from_files(local.files("signals"))
        elif name.endswith("dataset"):
            connection.register("objects", dataset(paths))
            source = "objects"
        else:
            by_obstore = FsspecStore("s3", client_options={"allow_http": True})
            connection.register_filesystem(store_files() if "pyarrow" in name else by_obstore)
            source = from_files([One(path) for path in paths])
        ways[name] = {}
        for what, query in (
            ("one topic, all columns", f"SELECT * FROM {source} WHERE topic = '{topic}'"),  # noqa: S608
            ("one sum over all", f"SELECT sum(backlog_entries) FROM {source}"),  # noqa: S608
        ):
            before, times = sum(store.requests().values()), []
            try:
                for _ in range(3):
                    begun_s = time.perf_counter()
                    connection.execute(query).fetchall()
                    times.append(time.perf_counter() - begun_s)
            except duckdb.Error as error:
                ways[name][what] = f"fails: {error}"[:100]
                continue
            ways[name][what] = round(sorted(times)[1], 3)
            ways[name][f"{what}: requests"] = (sum(store.requests().values()) - before) // 3
        print(name, ways[name], file=sys.stderr, flush=True)
    return ways


if __name__ == "__main__":
    main()
