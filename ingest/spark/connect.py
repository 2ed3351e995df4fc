"""A session behind a Spark Connect server. In: an ``sc://`` URL. Out: a session that is set up as every other one of ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from throttlescope.ingest.core.errors import SourceError
from throttlescope.ingest.core.extras import require_extra
from throttlescope.ingest.spark.master import SparkMaster, check_answers
from throttlescope.ingest.spark.settings import PACKAGE_PYTHON, UNPACKED

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def connect_session(place: SparkMaster, *, conf: Mapping[str, str], package: str | None) -> SparkSession:
    """Open a session, or return the one that is open.

    Parameters
    ----------
    package : str, optional
        Archive that is sent to the server for this session, where its executors do not have the package.

    Raises
    ------
    MissingExtraError
        The extra ``connect`` is not installed.
    SourceError
        Nothing answers there, or what answers is no Spark Connect server.
    """
    # Before the server is looked for: neither can be known from what Spark says.
    require_extra("connect", "grpc", "grpc_status", "zstandard", what="Spark Connect")
    from pyspark.sql import SparkSession

    check_answers(place)
    try:
        session = SparkSession.builder.remote(place.master).getOrCreate()
        # The server's own settings hold for everything else: its JVM is shared with others.
        settings = {"spark.sql.session.timeZone": "UTC"}
        if package is not None:
            settings["spark.sql.execution.pyspark.python"] = PACKAGE_PYTHON.removeprefix("./")
            session.addArtifacts(f"{package}#{UNPACKED}", archive=True)
        for name, value in (settings | dict(conf)).items():
            session.conf.set(name, value)
    except Exception as error:
        # grpc tells a failure in many lines, some of them with the URL's token.
        name = type(error).__name__
        raise SourceError(
            "Spark Connect did not open a session",
            got=f"{name} from {place.shown}",
            fix="see that the server is a Spark Connect server of the same release, and the server's log",
        ) from error
    return session
