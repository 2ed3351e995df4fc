"""The services of a compose file as processes of this machine. In: the file. Out: running services on loopback ports.

Commands, environment, mounted files and the order are the file's. Only what a container engine would do is done here: names of services
become loopback addresses, paths of volumes become folders, and the programs of the images are those of the lab.
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

import yaml

from tests.lab.broker import Broker, running_broker
from tests.lab.parts import admin_tool_jars, java_binary, perf_tool_jars, prometheus_binary
from tests.lab.processes import end_with_parent, free_port, log_tail, stop

#: What the image of Pulsar has in its own configuration and the lab's broker has not.
_STANDALONE = {"allowAutoTopicCreation": "true"}
_PREFIX = "PULSAR_PREFIX_"
_SHORT_OF_A_RESTART_S = 2.0


def read_compose(path: Path) -> dict[str, Any]:
    """The file with its anchors and merges resolved."""
    return yaml.safe_load(path.read_text(encoding="utf-8"))


@dataclass
class Services:
    """Services of a file that are running, or have ended."""

    file: Path
    document: Mapping[str, Any]
    folder: Path
    ports: Mapping[str, int]
    broker: Broker | None = None
    _stopping: threading.Event = field(default_factory=threading.Event)
    _threads: list[threading.Thread] = field(default_factory=list)

    def url(self, service: str) -> str:
        return f"http://127.0.0.1:{self.ports[service]}"

    def log_file(self, service: str) -> Path:
        return self.folder / f"{service}.log"

    def start(self, service: str) -> None:
        """Start a service; one that is to be restarted is, until the end."""
        declared = self.document["services"][service]
        command = self._command(service, declared)
        environment = {
            name: self._here(str(value), service) for name, value in declared.get("environment", {}).items()
        }
        again = declared.get("restart") == "unless-stopped"
        thread = threading.Thread(target=self._run, args=(service, command, environment, again))
        self._threads.append(thread)
        thread.start()

    def complete(self, service: str, timeout_s: float) -> None:
        """Run a service that ends, and fail where it fails."""
        command = self._command(service, self.document["services"][service])
        with self.log_file(service).open("ab") as log:
            done = subprocess.run(command, stdout=log, stderr=log, timeout=timeout_s, check=False)
        if done.returncode:
            raise RuntimeError(f"{service} ended with {done.returncode}:\n{log_tail(self.log_file(service))}")

    def close(self) -> None:
        self._stopping.set()
        for thread in self._threads:
            thread.join()

    def _run(self, service: str, command: list[str], environment: Mapping[str, str], again: bool) -> None:
        while not self._stopping.is_set():
            with self.log_file(service).open("ab") as log:
                process = subprocess.Popen(
                    command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=end_with_parent,
                    env={**os.environ, **environment}, cwd=self.folder,
                )  # fmt: skip
            while process.poll() is None and not self._stopping.is_set():
                time.sleep(0.1)
            stop(process, 30)
            if not again:
                return
            self._stopping.wait(_SHORT_OF_A_RESTART_S)

    def _command(self, service: str, declared: Mapping[str, Any]) -> list[str]:
        words = [self._here(word, service) for word in declared["command"]]
        if "pulsar" in declared["image"]:
            return [*self._tool(words[0]), *words[1:]]
        if "prometheus" in declared["image"]:
            return [str(prometheus_binary()), *words, f"--web.listen-address=127.0.0.1:{self.ports[service]}"]
        if service == "serve":
            words += ["--port", str(self.ports[service])]
            words[words.index("0.0.0.0")] = "127.0.0.1"  # noqa: S104
        return [sys.executable, "-m", "throttlescope.app.cli", *words]

    def _tool(self, name: str) -> list[str]:
        jars, main = {
            "bin/pulsar-admin": (admin_tool_jars, "org.apache.pulsar.admin.cli.PulsarAdminTool"),
            "bin/pulsar-perf": (perf_tool_jars, "org.apache.pulsar.testclient.PulsarPerfTestTool"),
        }[name]
        config = self.folder / "client.conf"
        config.write_text(
            f"webServiceUrl={self.broker.admin_url}\nbrokerServiceUrl={self.broker.service_url}\n"
        )
        class_path = ":".join(str(jar) for jar in jars())
        return [
            str(java_binary()),
            "-Xmx768m",
            "-XX:TieredStopAtLevel=1",
            "-cp",
            class_path,
            main,
            str(config),
        ]

    def _here(self, text: str, service: str) -> str:
        """A text of a service with the addresses and paths of this machine."""
        mounts = dict(self._mounts(service))
        if mounts:
            # In one pass: what was put in must not be replaced again.
            paths = "|".join(re.escape(path) for path in sorted(mounts, key=len, reverse=True))
            text = re.sub(rf"(?<![\w/])({paths})", lambda match: mounts[match[1]], text)
        for address, here in (
            ("http://pulsar:8080", self.broker.admin_url if self.broker else ""),
            ("pulsar://pulsar:6650", self.broker.service_url if self.broker else ""),
            ("pulsar:8080", self.broker.web_address if self.broker else ""),
            *(
                (f"{name}:{declared}", f"127.0.0.1:{self.ports[name]}")
                for name, declared in (("prometheus", 9090), ("serve", 8050))
            ),
        ):
            text = text.replace(address, here)
        return text

    def _mounts(self, service: str) -> Iterator[tuple[str, str]]:
        """Pairs of a path in the container and the one here."""
        for mount in self.document["services"][service].get("volumes", ()):
            source, target = mount.split(":")[:2]
            if source.startswith("."):
                yield target, str(self.folder / "files" / service / Path(target).name)
            else:
                yield target, str(self.folder / "volumes" / source)

    def prepare(self) -> None:
        """Make volumes, and copies of mounted files with the addresses of this machine."""
        for service, declared in self.document["services"].items():
            for mount in declared.get("volumes", ()):
                source, target = mount.split(":")[:2]
                if not source.startswith("."):
                    (self.folder / "volumes" / source).mkdir(parents=True, exist_ok=True)
                    continue
                copy = self.folder / "files" / service / Path(target).name
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_text(self._here((self.file.parent / source).read_text(), service))


def order(document: Mapping[str, Any]) -> list[str]:
    """The services, each after those that it depends on."""
    graph = {name: list(declared.get("depends_on", ())) for name, declared in document["services"].items()}
    return list(TopologicalSorter(graph).static_order())


@contextlib.contextmanager
def composed(file: Path, folder: Path, *, max_lifetime_s: float) -> Iterator[Services]:
    """Run all services of a compose file for the length of the context."""
    document = read_compose(file)
    settings = {
        name.removeprefix(_PREFIX): str(value)
        for name, value in document["services"]["pulsar"]["environment"].items()
        if name.startswith(_PREFIX)
    }
    services = Services(file, document, folder, {name: free_port() for name in ("prometheus", "serve")})
    with running_broker(
        "default", {**_STANDALONE, **settings}, scratch_dir=folder / "broker", cluster="standalone", max_lifetime_s=max_lifetime_s
    ) as broker:  # fmt: skip
        services.broker = broker
        services.prepare()
        try:
            conditions = {
                needed: condition["condition"]
                for declared in document["services"].values()
                for needed, condition in declared.get("depends_on", {}).items()
            }
            for name in order(document):
                if name == "pulsar":
                    continue
                if conditions.get(name) == "service_completed_successfully":
                    services.complete(name, 120)
                else:
                    services.start(name)
            yield services
        finally:
            services.close()
