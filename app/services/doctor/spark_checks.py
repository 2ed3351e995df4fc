"""Whether runs start Spark, and the Java that it then needs. In: settings, the number of subscription partitions. Out: at most one check."""

from __future__ import annotations

from typing import TYPE_CHECKING

from throttlescope.app.pipeline.spark_session import IN_PROCESS_MINUTES, names_spark
from throttlescope.app.services.doctor.check import FAILED, OK, DoctorCheck, refused
from throttlescope.ingest.core.errors import InputError, SourceError
from throttlescope.ingest.core.times import BLOCK_MS, MINUTE_MS
from throttlescope.ingest.spark.java import find_java
from throttlescope.ingest.spark.master import MasterKind, place_of
from throttlescope.models.messages.catalogue import sentence

if TYPE_CHECKING:
    from throttlescope.app.config import Settings

AREA, _CHECK = "spark", "hourly run"
_MOST = IN_PROCESS_MINUTES // (BLOCK_MS // MINUTE_MS)


def examine_spark(settings: Settings, subscriptions: int) -> list[DoctorCheck]:
    """Say what a run of an hour does; nothing where no source gave its size and no master is configured.

    Parameters
    ----------
    subscriptions : int
        Subscription partitions of all clusters; 0 where none was found.
    """
    try:
        is_named, place = names_spark(settings), place_of(settings.spark.master)
    except InputError as error:
        return [refused("", AREA, _CHECK, error)]
    if not is_named:
        if not subscriptions:
            return []
        if subscriptions <= _MOST:
            found = sentence("doctor.spark.not_needed", subscriptions=subscriptions, most=_MOST)
            return [DoctorCheck("", AREA, _CHECK, OK, found)]
    elif place.kind not in (MasterKind.local, MasterKind.cluster):
        # Java is where the driver is: at the server, or where spark-submit has started it.
        return [
            DoctorCheck(
                "", AREA, _CHECK, OK, sentence("doctor.spark.named", master=place.shown or place.kind)
            )
        ]
    try:
        java = find_java()
    except SourceError as error:
        return [
            DoctorCheck(
                "", AREA, _CHECK, FAILED, sentence("doctor.spark.no_java", got=error.got), error.fix or ""
            )
        ]
    found = sentence("doctor.spark.started", version=java.version, found_in=java.found_in)
    return [DoctorCheck("", AREA, _CHECK, OK, found)]
