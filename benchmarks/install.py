"""From nothing to verdicts: how long an installation of the wheel takes, and how much each package of it weighs.

In: the checkout, and the package registry. Out: JSON on standard output; with ``--write`` the tables of ``docs/guides/install.md``. Each run has a new
environment, cache folders of its own and the two commands of that page: one that installs the wheel, and ``throttlescope demo --no-serve``. *Cold*:
the installer's cache and ours are empty. *Warm*: both are those of the run before, the environment is new all the same. *Offline*: warm, and uv does not
ask the registry whether what it has is still right.

Targets: under 4 minutes cold, under 30 s warm.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from docs.generate.markdown import fill_marked, markdown_table
from tests.distribution import ROOT, built, copy_of_checkout

PAGE = ROOT / "docs" / "guides" / "install.md"
INSTALLERS = ("uv", "pip")
TARGETS_S = {"cold": 240, "warm": 30, "offline": 30}
#: Lines of the table of packages; the others are summed up.
_MOST_PACKAGES = 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=3, help="warm runs of each installer")
    parser.add_argument(
        "--cold-runs", type=int, default=1, help="cold runs of each installer; each fetches everything"
    )
    parser.add_argument(
        "--installers",
        nargs="*",
        choices=INSTALLERS,
        default=INSTALLERS,
        help="default: both; none: weigh only",
    )
    parser.add_argument("--write", action="store_true", help="write the tables of docs/guides/install.md")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="throttlescope-install-") as folder:
        found = measured(Path(folder), given.installers, given.cold_runs, given.runs)
    print(json.dumps(found, indent=1))
    if given.write:
        page = fill_marked(
            PAGE.read_text(),
            "weighed",
            {
                "extras": lambda: extras_table(found["packages"], found["extras"]),
                "packages": lambda: packages_table(found["packages"]),
            },
        )
        if found["times"]:
            timed = f"{times_table(found['times'])}\n{machine_line(found['machine'])}"
            page = fill_marked(page, "timed", {"installation": lambda: timed})
        PAGE.write_text(page)


def measured(folder: Path, installers: Sequence[str], cold_runs: int, warm_runs: int) -> dict:
    """Everything, in a folder that is removed afterwards."""
    machine = {
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "system": platform.system(),
        "architecture": platform.machine(),
        "load_1min": round(os.getloadavg()[0], 1),
    }
    wheel = built("wheel", copy_of_checkout(folder / "checkout"), folder / "dist")
    times = {}
    for installer in installers:
        caches = folder / f"caches-{installer}"
        runs = {"cold": cold_runs, "warm": warm_runs} | ({"offline": warm_runs} if installer == "uv" else {})
        times[installer] = {kind: [] for kind in runs}
        for kind in (kind for kind, number in runs.items() for _ in range(number)):
            if kind == "cold":
                shutil.rmtree(caches, ignore_errors=True)
            run = run_times(installer, [str(wheel)], caches, folder / "run", offline=kind == "offline")
            times[installer][kind].append(run)
            print(installer, kind, run, file=sys.stderr)
    packages = distributions(wheel)
    return {
        "machine": machine,
        "times": times,
        "packages": needed(packages),
        "extras": {
            name: total_bytes(needed(packages, name)) - total_bytes(needed(packages))
            for name in extra_names(packages)
        },
        "targets_s": TARGETS_S,
    }


def run_times(
    installer: str, wanted: Sequence[str], caches: Path, folder: Path, *, offline: bool
) -> dict[str, float]:
    """Seconds of both commands in a new environment, and of the demo once more."""
    shutil.rmtree(folder, ignore_errors=True)
    environment = environment_with(caches) | ({"UV_OFFLINE": "1"} if offline else {})
    began_s = time.monotonic()
    python = install(installer, wanted, folder / "environment", environment)
    installed_s = time.monotonic()
    demo = [python.with_name("throttlescope"), "demo", "--no-serve", "--quiet", "--lake"]
    subprocess.run(
        [*demo, "first"], cwd=folder, env=environment, stdout=subprocess.DEVNULL, timeout=1800, check=True
    )
    shown_s = time.monotonic()
    subprocess.run(
        [*demo, "second"], cwd=folder, env=environment, stdout=subprocess.DEVNULL, timeout=1800, check=True
    )
    ended_s = time.monotonic()
    return {
        "install_s": round(installed_s - began_s, 1),
        "demo_s": round(shown_s - installed_s, 1),
        "demo_again_s": round(ended_s - shown_s, 1),
    }


def environment_with(caches: Path) -> dict[str, str]:
    """This process's environment, with caches in a folder."""
    places = {"UV_CACHE_DIR": "uv", "PIP_CACHE_DIR": "pip", "THROTTLESCOPE_CACHE": "throttlescope"}
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in ("PYTHONDONTWRITEBYTECODE", "PYTHONPATH")
    }
    return kept | {variable: str(caches / name) for variable, name in places.items()}


def install(installer: str, wanted: Sequence[str], folder: Path, environment: Mapping[str, str]) -> Path:
    """Make an environment and install into it; its Python."""
    python = folder / "bin" / "python"
    uv = [sys.executable, "-m", "uv"]
    if installer == "uv":
        commands = [
            [*uv, "venv", "-q", "--python", sys.executable, folder],
            [*uv, "pip", "install", "-q", "--python", python, *wanted],
        ]
    else:
        commands = [[sys.executable, "-m", "venv", folder], [python, "-m", "pip", "install", "-q", *wanted]]
    folder.parent.mkdir(parents=True, exist_ok=True)
    for command in commands:
        subprocess.run(command, env=environment, timeout=1800, check=True)
    return python


def distributions(wheel: Path) -> list[dict]:
    """What is installed here: name, version, requirements, and bytes of the files without bytecode; throttlescope is that of the wheel."""
    found = [
        {
            "name": one.name,
            "version": one.version,
            "requires": one.requires or [],
            "bytes": sum(file.size or 0 for file in one.files or ()),
        }
        for one in metadata.distributions()
        if one.name != "throttlescope"
    ]
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        own = metadata.PathDistribution(zipfile.Path(archive, name.removesuffix("METADATA")))
        size_bytes = sum(file.file_size for file in archive.infolist())
        return [
            *found,
            {"name": own.name, "version": own.version, "requires": own.requires or [], "bytes": size_bytes},
        ]


def needed(packages: Sequence[Mapping], extra: str = "") -> list[Mapping]:
    """The packages that throttlescope needs, with one of its extras or without."""
    by_name = {canonicalize_name(one["name"]): one for one in packages}
    seen, todo = set(), [("throttlescope", extra), ("throttlescope", "")]
    while todo:
        one = todo.pop()
        if one not in seen and one[0] in by_name:
            seen.add(one)
            todo += requirements(by_name[one[0]], one[1])
    names = {name for name, _ in seen}
    return [one for name, one in by_name.items() if name in names]


def requirements(package: Mapping, extra: str = "") -> list[tuple[str, str]]:
    """What a package with an extra needs here: names, each once without and once with each of its extras."""
    return [
        (canonicalize_name(need.name), inner)
        for need in map(Requirement, package["requires"])
        if need.marker is None or need.marker.evaluate({"extra": extra})
        for inner in ("", *sorted(need.extras))
    ]


def total_bytes(packages: Sequence[Mapping]) -> int:
    return sum(one["bytes"] for one in packages)


def extra_names(packages: Sequence[Mapping]) -> list[str]:
    """Extras of throttlescope itself."""
    (own,) = (one for one in packages if one["name"] == "throttlescope")
    markers = [str(Requirement(text).marker or "") for text in own["requires"]]
    return sorted(
        {marker.partition('extra == "')[2].rstrip('"') for marker in markers if "extra ==" in marker}
    )


def brought_by(packages: Sequence[Mapping]) -> dict[str, list[str]]:
    """For each package the direct dependencies of throttlescope that need it, by canonical names."""
    requires = {canonicalize_name(one["name"]): [name for name, _ in requirements(one)] for one in packages}
    found: dict[str, list[str]] = {name: [] for name in requires}
    for direct in sorted(set(requires["throttlescope"])):
        seen, todo = set(), [direct]
        while todo:
            name = todo.pop()
            if name not in seen and name in requires:
                seen.add(name)
                todo += requires[name]
        for name in seen:
            found[name].append(direct)
    return found


def packages_table(packages: Sequence[Mapping]) -> str:
    """The heaviest packages, and because of which dependency each is there."""
    needed_by = brought_by(packages)
    heaviest = sorted(packages, key=lambda one: -one["bytes"])
    rows = []
    for one in heaviest[:_MOST_PACKAGES]:
        name = canonicalize_name(one["name"])
        because = [other for other in needed_by[name] if other != name]
        rows.append(
            (
                name,
                one["version"],
                _mb(one["bytes"]),
                "yes" if name in needed_by[name] else "",
                ", ".join(because),
            )
        )
    rest = heaviest[_MOST_PACKAGES:]
    rows.append((f"{len(rest)} others", "", _mb(total_bytes(rest)), "", ""))
    rows.append(("**all**", "", f"**{_mb(total_bytes(packages))}**", "", ""))
    return markdown_table(("package", "version", "MB", "our own dependency", "also needed by"), rows)


def extras_table(packages: Sequence[Mapping], extras: Mapping[str, int]) -> str:
    rows = [("none: the main job", _mb(total_bytes(packages)))]
    rows += [(f"`throttlescope[{name}]`", f"+{_mb(more)}") for name, more in extras.items()]
    return markdown_table(("installed", "MB"), rows)


def times_table(times: Mapping[str, Mapping[str, Sequence[Mapping[str, float]]]]) -> str:
    rows = []
    for installer, kinds in times.items():
        for kind, runs in kinds.items():
            together_s = statistics.median(one["install_s"] + one["demo_s"] for one in runs)
            install_s, demo_s, again_s = (
                f"{statistics.median(one[part] for one in runs):.0f} s"
                for part in ("install_s", "demo_s", "demo_again_s")
            )
            target_s = TARGETS_S[kind]
            met = "yes" if together_s < target_s else "**no**"
            rows.append(
                (
                    installer,
                    kind,
                    len(runs),
                    install_s,
                    demo_s,
                    f"{together_s:.0f} s",
                    f"{target_s} s",
                    met,
                    again_s,
                )
            )
    heads = ("installer", "caches", "runs", "install", "demo", "together", "target", "met", "demo once more")
    return markdown_table(heads, rows)


def machine_line(machine: Mapping) -> str:
    return (
        f"Measured on {machine['cores']} cores ({machine['system']}, {machine['architecture']}, Python {machine['python']}) "
        f"by `python -m benchmarks.install --write`; the load when it began was {machine['load_1min']}.\n"
    )


def _mb(size_bytes: int) -> str:
    return f"{size_bytes / 1e6:,.0f}" if size_bytes >= 1e7 else f"{size_bytes / 1e6:,.1f}"


if __name__ == "__main__":
    main()
