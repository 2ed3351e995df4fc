"""The image built without an engine. In: a Containerfile and its context. Out: folders with the file systems of its stages, and ways to run in them.

What ``docker build`` does is done with Debian's own tools: `mmdebstrap` makes the base, and every instruction is carried out in a
copy of its stage's base, in mount and process namespaces of its own. Only what our Containerfile uses is known; anything else is an error.
Needs root, as ``chroot`` does.
"""

from __future__ import annotations

import fnmatch
import io
import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dockerfile_parse import DockerfileParser

#: Debian's release by the tag of its image. An image holds little more than this variant.
SUITES = {"docker.io/library/debian:13-slim": "trixie"}
#: Certificates of the machine, where its network needs more than Debian's: only for the time of the build.
_CERTIFICATES = "run/certificates-of-the-machine.crt"
_CERTIFICATE_VARIABLES = ("SSL_CERT_FILE", "PIP_CERT", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
_PROXY_VARIABLES = ("http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@dataclass
class Stage:
    """A file system, and what its instructions said about how to run it."""

    root: Path
    environment: dict[str, str] = field(default_factory=lambda: {"PATH": _PATH})
    arguments: dict[str, str] = field(default_factory=dict)
    user: str = "0:0"
    workdir: str = "/"
    labels: dict[str, str] = field(default_factory=dict)
    entrypoint: list[str] = field(default_factory=list)
    command: list[str] = field(default_factory=list)
    healthcheck: list[str] = field(default_factory=list)
    ports: list[str] = field(default_factory=list)

    def copied_to(self, root: Path) -> Stage:
        """A stage that begins with this one."""
        subprocess.run(["cp", "-a", "--reflink=auto", str(self.root), str(root)], check=True, timeout=600)
        return Stage(root, dict(self.environment), {}, self.user, self.workdir, dict(self.labels))


def instructions(containerfile: Path) -> list[tuple[str, str]]:
    """Instructions and their values, in order; comments are left out and continued lines joined."""
    parser = DockerfileParser(fileobj=io.BytesIO(containerfile.read_bytes()))
    return [
        (line["instruction"], line["value"]) for line in parser.structure if line["instruction"] != "COMMENT"
    ]


def context_files(root: Path, patterns: Sequence[str]) -> Iterator[Path]:
    """Files that belong to the context: those that ``.dockerignore`` does not leave out. The last pattern that matches decides."""
    for folder, folders, names in os.walk(root):
        relative = Path(folder).relative_to(root)
        # A folder that is left out may still hold something that is named, so only hidden ones are skipped as a whole.
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            path = relative / name
            if not _is_left_out(path, patterns):
                yield path


def _is_left_out(path: Path, patterns: Sequence[str]) -> bool:
    candidates = [str(path), *(str(parent) for parent in path.parents if str(parent) != ".")]
    left_out = False
    for pattern in patterns:
        wanted = pattern.removeprefix("!").removeprefix("**/")
        if any(
            fnmatch.fnmatchcase(Path(one).name if "**/" in pattern else one, wanted) for one in candidates
        ):
            left_out = not pattern.startswith("!")
    return left_out


def build(containerfile: Path, context: Path, folder: Path, log_file: Path) -> Stage:
    """Carry out a Containerfile and return its last stage.

    Parameters
    ----------
    containerfile, context
        As of ``docker build -f CONTAINERFILE CONTEXT``.
    folder
        Where the file systems are made, a gigabyte or two each.
    log_file
        What the instructions print.
    """
    patterns = [
        line
        for line in (context / ".dockerignore").read_text().splitlines()
        if line and not line.startswith("#")
    ]
    sources = folder / "context"
    for path in context_files(context, patterns):
        (sources / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(context / path, sources / path)
    stages: dict[str, Stage] = {}
    stage: Stage | None = None
    with log_file.open("w") as log:
        for number, (instruction, value) in enumerate(instructions(containerfile)):
            log.write(f"--- {instruction} {value}\n")
            log.flush()
            if instruction == "FROM":
                base, _, name = value.partition(" AS ")
                root = folder / f"stage-{number}"
                stage = stages[base].copied_to(root) if base in stages else _from_debian(base, root, log)
                stages[name or "final"] = stage
            else:
                _carry_out(stage, instruction, value, sources, stages, log)
    return stage


def _from_debian(tag: str, root: Path, log) -> Stage:
    mirror = next(
        line.split()[1]
        for line in Path("/etc/apt/sources.list.d/debian.sources").read_text().splitlines()
        if line.startswith("URIs:")
    )
    command = [
        "mmdebstrap", "--variant=minbase", "--mode=root", "--format=directory", "--skip=check/empty",
        SUITES[tag], str(root), mirror,
    ]  # fmt: skip
    subprocess.run(command, stdout=log, stderr=log, check=True, timeout=1200)
    return Stage(root)


def _carry_out(
    stage: Stage, instruction: str, value: str, sources: Path, stages: Mapping[str, Stage], log
) -> None:
    known = {**stage.arguments, **stage.environment}
    if instruction == "ARG":
        name, _, default = value.partition("=")
        stage.arguments[name] = default
    elif instruction in ("ENV", "LABEL"):
        pairs = dict(word.split("=", 1) for word in shlex.split(_filled(value, known)))
        (stage.environment if instruction == "ENV" else stage.labels).update(pairs)
    elif instruction == "WORKDIR":
        stage.workdir = value
        (stage.root / value.lstrip("/")).mkdir(parents=True, exist_ok=True)
    elif instruction == "USER":
        stage.user = value
    elif instruction == "EXPOSE":
        stage.ports.append(value)
    elif instruction == "COPY":
        _copy(stage, shlex.split(value), sources, stages)
    elif instruction == "RUN":
        run_in(stage, ["/bin/sh", "-c", value], log=log, building=True, timeout_s=1800)
    elif instruction == "HEALTHCHECK":
        stage.healthcheck = json.loads(value.partition("CMD")[2])
    elif instruction == "ENTRYPOINT":
        stage.entrypoint = json.loads(value)
    elif instruction == "CMD":
        stage.command = json.loads(value)
    else:
        raise ValueError(
            f"the Containerfile has an instruction that is not known here: {instruction} {value}"
        )


def _filled(text: str, values: Mapping[str, str]) -> str:
    return re.sub(r"\$(\w+)", lambda match: values[match[1]], text)


def _copy(stage: Stage, words: list[str], sources: Path, stages: Mapping[str, Stage]) -> None:
    options = dict(word.removeprefix("--").split("=", 1) for word in words if word.startswith("--"))
    *froms, to = [word for word in words if not word.startswith("--")]
    origin = stages[options.pop("from")].root if "from" in options else sources
    owner = options.pop("chown", "0:0")
    if options:
        raise ValueError(f"options of COPY that are not known here: {sorted(options)}")
    target = stage.root / os.path.normpath(f"{stage.workdir}/{to}").lstrip("/")
    if to.endswith("/"):
        target.mkdir(parents=True, exist_ok=True)
    for name in froms:
        source = origin / name.lstrip("/")
        made = target / source.name if to.endswith("/") else target
        made.parent.mkdir(parents=True, exist_ok=True)
        command = ["cp", "-a", "-T", "--reflink=auto", str(source), str(made)]
        subprocess.run(command, check=True, timeout=600)
        subprocess.run(["chown", "-R", "-h", owner, str(made)], check=True, timeout=600)


def command_in(
    stage: Stage,
    command: Sequence[str],
    *,
    building: bool = False,
    writable: Sequence[str] = (),
    own_network: bool = False,
) -> list[str]:
    """The command line that runs a command in a stage, as its user, in namespaces of its own that end with it.

    Parameters
    ----------
    building
        The root can be written and the machine's network and certificates are there. Otherwise the root is read-only, but for
        ``/tmp`` and the folders of ``writable``.
    own_network
        Nothing but a loopback interface.
    """
    root = shlex.quote(str(stage.root))
    steps = [
        "set -e",
        f"mount --bind {root} {root}",
        f"mount -t proc proc {root}/proc",
        f"mount --rbind /dev {root}/dev",
        f"mount -t tmpfs -o mode=1777 tmpfs {root}/tmp",  # noqa: S108
    ]
    home = "/root" if stage.user.startswith("0") else "/var/lib/throttlescope"
    environment = {**stage.environment, "HOME": home}
    if building:
        environment |= stage.arguments | {
            name: os.environ[name] for name in _PROXY_VARIABLES if name in os.environ
        }
        steps.append(f"cp -L /etc/resolv.conf {root}/etc/resolv.conf")
        certificates = os.environ.get("SSL_CERT_FILE")
        if certificates:
            steps.append(f"cp {shlex.quote(certificates)} {root}/{_CERTIFICATES}")
            environment |= dict.fromkeys(_CERTIFICATE_VARIABLES, f"/{_CERTIFICATES}")
    else:
        inner = [shlex.quote(f"{stage.root}{path}") for path in writable]
        steps += [f"mount --bind {path} {path}" for path in inner]
        steps += [f"mount -o remount,ro,bind {root}"]
    if own_network:
        steps.append("ip link set lo up")
    inside = f"cd {shlex.quote(stage.workdir)} && exec {shlex.join(command)}"
    words = [f"{name}={value}" for name, value in environment.items()]
    steps.append(
        f"exec chroot --userspec={stage.user} {root} /usr/bin/env -i {shlex.join(words)} /bin/sh -c {shlex.quote(inside)}"
    )
    namespaces = ["--mount", "--pid", "--fork", "--kill-child", *(["--net"] if own_network else [])]
    return ["unshare", *namespaces, "sh", "-c", "\n".join(steps)]


def run_in(stage: Stage, command: Sequence[str], *, log, timeout_s: float, **how) -> None:
    """Run a command in a stage; raise where it fails."""
    done = subprocess.run(
        command_in(stage, command, **how), stdout=log, stderr=log, stdin=subprocess.DEVNULL, timeout=timeout_s, check=False
    )  # fmt: skip
    (stage.root / _CERTIFICATES).unlink(missing_ok=True)
    if done.returncode:
        raise RuntimeError(f"exit code {done.returncode}: {shlex.join(command)[:500]}")
