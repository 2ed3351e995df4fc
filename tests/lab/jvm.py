"""JVMs of Pulsar's servers: in, a main class, its arguments and memory; out, the command line that starts it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.lab.parts import broker_jars, java_binary

LOG_CONFIG = Path(__file__).with_name("log4j2.xml")

_OPENS = [
    "java.base/java.io",
    "java.base/java.util.zip",
    "java.base/java.nio",
    "java.base/jdk.internal.misc",
    "java.base/jdk.internal.platform",
    "java.management/sun.management",
    "jdk.management/com.sun.management.internal",
]


def pulsar_command(
    main_class: str, arguments: Sequence[str], *, version: str, heap_mb: int, direct_mb: int
) -> list[str]:
    """Return the command that runs a main class from the jars of a broker.

    Parameters
    ----------
    main_class, arguments
        What to run.
    version
        Pulsar's version; its jars are fetched when they are not there.
    heap_mb, direct_mb
        Memory of the JVM.
    """
    jars, java = broker_jars(version), java_binary()
    return [
        str(java),
        f"-Xms{heap_mb}m",
        f"-Xmx{heap_mb}m",
        f"-XX:MaxDirectMemorySize={direct_mb}m",
        "-XX:+UseG1GC",
        *(f"--add-opens={package}=ALL-UNNAMED" for package in _OPENS),
        "-Dio.netty.tryReflectionSetAccessible=true",
        "-Dorg.apache.pulsar.shade.io.netty.tryReflectionSetAccessible=true",
        "-Djava.net.preferIPv4Stack=true",
        "-Dlog4j2.is.webapp=false",
        f"-Dlog4j.configurationFile={LOG_CONFIG}",
        "-cp",
        f"{jars[0].parent}/*",
        main_class,
        *arguments,
    ]
