"""The load of scalable topics: in, a plan; out, a Java process of the lab's own program, compiled once.

Clients for scalable topics are in Java alone; the Python client refuses their names.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.lab.jvm import LOG_CONFIG
from tests.lab.loadprocess import LoadProcess
from tests.lab.parts import java_binary, javac_binary, parts_dir, scalable_client_jars
from tests.lab.processes import running_process

SOURCE = Path(__file__).with_name("ScalableLoad.java")
_COMPILE_S = 120


def compiled_load() -> Path:
    """Return the folder of the compiled program; the cache has one for each state of its source."""
    digest = hashlib.sha256(SOURCE.read_bytes()).hexdigest()[:16]
    folder = parts_dir() / f"scalable-load-{digest}"
    if not (folder / "ScalableLoad.class").exists():
        # Classes of a process that ended half way are never used: the folder gets its name last.
        staging = folder.with_name(f"{folder.name}.{os.getpid()}.part")
        command = [str(javac_binary()), "-cp", _class_path(), "-d", str(staging), str(SOURCE)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=_COMPILE_S, check=False)
        if done.returncode:
            raise RuntimeError(f"{SOURCE.name} does not compile:\n{done.stderr[-2000:]}")
        with contextlib.suppress(OSError):
            staging.rename(folder)
    return folder


@contextlib.contextmanager
def running_scalable_load(
    topics: list[dict[str, Any]],
    service_url: str,
    scratch_dir: Path,
    *,
    max_lifetime_s: float,
    heap_mb: int = 256,
    priority: int = 0,
) -> Iterator[LoadProcess]:
    """Run the load of some topics for the length of the context.

    Parameters
    ----------
    topics
        One plan per topic, as the program wants it.
    """
    plan_file = scratch_dir / "load.json"
    plan_file.write_text(json.dumps({"service_url": service_url, "topics": topics}))
    log_file = scratch_dir / "load.log"
    command = [
        str(java_binary()),
        f"-Xms{heap_mb}m",
        f"-Xmx{heap_mb}m",
        "-XX:+UseSerialGC",
        "--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED",
        "-Dio.netty.tryReflectionSetAccessible=true",
        "-Djava.net.preferIPv4Stack=true",
        "-Dlab.log.target=SYSTEM_ERR",
        f"-Dlog4j.configurationFile={LOG_CONFIG}",
        "-cp",
        f"{compiled_load()}{os.pathsep}{_class_path()}",
        "ScalableLoad",
        str(plan_file),
    ]
    with running_process(
        command, log_file, max_lifetime_s=max_lifetime_s, priority=priority, pipes=True, stop_timeout_s=5
    ) as process:
        yield LoadProcess("load", process, log_file)


def _class_path() -> str:
    return f"{scalable_client_jars()[0].parent}/*"
