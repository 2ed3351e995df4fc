"""Test files of other PromQL engines as judges. In: Go's module proxy. Out: a result for the page.

The files have the notation of Prometheus' own corpus, so the harness of that corpus plays them: on a Prometheus 3.5 and on ours, through
a lake. What that server does not answer as written is not counted.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

from tests.lab.parts import PartMissing, parts_dir
from tests.promql.conformance import corpus

MIMIR = "github.com/grafana/mimir"
#: The proxy has no release of it under its module path, only this revision.
MIMIR_VERSION = "v1.3.1-0.20260423142704-aced80d74930"
MIMIR_SUM = "h1:uegeb+I1faUHNHi8rBl+hJpdaYB2DGlZdZsu1gV7lk0="
_FOLDER = Path("pkg/streamingpromql/testdata/ours")
_FETCH_S = 1200


def run_mimir(files: int | None = None) -> dict:
    """Play Mimir's own test files through a lake, the first ``files`` of them or all."""
    folder = _module(MIMIR, MIMIR_VERSION, MIMIR_SUM) / _FOLDER
    result = corpus.run(folder, laws=False, through_lake=True, most=files)
    found = corpus.counts(result["evals"])
    return {
        "version": MIMIR_VERSION,
        "figure": f"{found['ours']:,} of {found['counted']:,} evals that Prometheus {result['server']} answers as written; "
        f"{found['refused']:,} refused, {result['files']} files",
        "details": list(corpus.report(result)),
    }


def _module(path: str, version: str, checksum: str) -> Path:
    """Fetch a Go module through Go's own client, which checks what it got; returns its folder."""
    go = shutil.which("go") or "/usr/local/go/bin/go"
    if not Path(go).exists():
        raise PartMissing("go not found in PATH: https://go.dev/dl")
    folder = parts_dir() / "go"
    folder.mkdir(exist_ok=True)
    done = subprocess.run(
        [go, "mod", "download", "-json", f"{path}@{version}"],
        cwd=folder,
        env={**os.environ, "GOMODCACHE": str(folder / "modules"), "GOFLAGS": "-mod=mod -modcacherw"},
        capture_output=True,
        text=True,
        timeout=_FETCH_S,
        check=False,
    )
    if done.returncode:
        raise PartMissing(f"{path}: {(done.stderr + done.stdout).strip()[-300:]}")
    answer = json.loads(done.stdout)
    if answer["Sum"] != checksum:
        raise PartMissing(f"{path}@{version} has the checksum {answer['Sum']}, expected {checksum}")
    return Path(answer["Dir"])
