"""Where Spark runs. In: a master's URL as a user writes it, the environment. Out: which of four kinds of place it is.

========= ============================================== ==========================================================
kind      named by                                       tasks run
========= ============================================== ==========================================================
local     nothing, or ``local[N]``                       in this machine's processes
cluster   ``spark://HOST:PORT``, ``yarn``, ``k8s://URL`` in executors, the driver is this process
submitted ``spark-submit --master ...``                  where spark-submit says, which has started the JVM already
connect   ``sc://HOST:PORT``                             behind a Spark Connect server, which has the driver's JVM
========= ============================================== ==========================================================
"""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from throttlescope.ingest.core.errors import InputError, SourceError

_LOCAL = re.compile(r"local(\[(\*|\d+)(,\s*\d+)?\])?$")
_CLUSTER = re.compile(r"(spark|k8s)://\S+$|yarn$")
_CONNECT = re.compile(r"sc://\S+$")
_STANDALONE_PORT, _CONNECT_PORT = 7077, 15002
_ANSWERS_WITHIN_S = 5.0


class MasterKind(StrEnum):
    local = "local"
    cluster = "cluster"
    submitted = "submitted"
    connect = "connect"


@dataclass(frozen=True)
class SparkMaster:
    """A checked place.

    Attributes
    ----------
    master : str
        Master's URL; of a submitted program the one that was named with it, or an empty text.
    """

    kind: MasterKind
    master: str

    @property
    def shown(self) -> str:
        """The URL without what may be secret: parameters of ``sc://`` hold tokens."""
        return self.master.split("/;", 1)[0].split("@")[-1]

    @property
    def on_loopback(self) -> bool:
        """Whether the driver needs to be reached from this machine only."""
        addresses = self.addresses()
        return self.kind is MasterKind.local or (
            bool(addresses)
            and all(host == "localhost" or host.startswith("127.") or host == "::1" for host, _ in addresses)
        )

    def addresses(self) -> list[tuple[str, int]]:
        """Hosts and ports of the URL; none where it names a service of another kind."""
        scheme, _, rest = self.master.partition("://")
        default = {"spark": _STANDALONE_PORT, "sc": _CONNECT_PORT}.get(scheme)
        if default is None:
            return []
        return [_host_and_port(one, default) for one in rest.split("/", 1)[0].split(",")]


def place_of(
    master: str | None, *, cores: int | None = None, environment: Mapping[str, str] = os.environ
) -> SparkMaster:
    """Tell what kind of place a master's URL names.

    Parameters
    ----------
    master : str, optional
        None means this machine, or what spark-submit says where it has started this program.
    cores : int, optional
        Cores of a local master; all of them by default.

    Raises
    ------
    InputError
        Not a URL that Spark knows.
    """
    if "PYSPARK_GATEWAY_PORT" in environment:
        return SparkMaster(MasterKind.submitted, master or "")
    if master is None:
        return SparkMaster(MasterKind.local, f"local[{cores or '*'}]")
    for kind, pattern in (
        (MasterKind.local, _LOCAL),
        (MasterKind.cluster, _CLUSTER),
        (MasterKind.connect, _CONNECT),
    ):
        if pattern.match(master):
            return SparkMaster(kind, master)
    raise InputError(
        "Spark has no such master",
        got=repr(master.split("/;", 1)[0]),
        expected="local[N], spark://HOST:PORT, yarn, k8s://https://HOST:PORT or sc://HOST:PORT",
        fix="correct --master, or master in [spark] of the configuration",
    )


def check_answers(place: SparkMaster, within_s: float = _ANSWERS_WITHIN_S) -> None:
    """See that something listens there: Spark itself tries for minutes before it says so.

    Raises
    ------
    SourceError
        No host of the URL takes a connection.
    """
    faults = []
    for host, port in place.addresses():
        try:
            socket.create_connection((host, port), timeout=within_s).close()
            return
        except OSError as error:
            faults.append(f"{host}:{port}: {error.strerror or error}")
    if faults:
        raise SourceError(
            "The Spark master cannot be reached" if place.kind is MasterKind.cluster else "Spark Connect cannot be reached",
            got="; ".join(faults),
            fix="see that it runs and that this machine may reach it, or leave out --master to run on this machine",
        )  # fmt: skip


def _host_and_port(text: str, default_port: int) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if not colon or port.endswith("]"):
        return text.strip("[]"), default_port
    if not port.isdigit() or not host:
        raise InputError("A master's URL is not right", got=repr(text), expected="HOST:PORT")
    return host.strip("[]"), int(port)
