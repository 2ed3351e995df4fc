"""Jobs that another thread may cancel. In: a session and a tag. Out: this thread's jobs carry it, or those that do are cancelled.

A session's own tags (``addTag``) are a thread's on a driver of ours: another thread that interrupts one finds nothing, in silence. The
context's tags are not. Behind Spark Connect there is no context, and the session's tags are everybody's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def over_connect(session: SparkSession) -> bool:
    """Whether the driver's JVM is behind a Spark Connect server, so that there is no SparkContext here."""
    return type(session).__module__.startswith("pyspark.sql.connect")


def tag_jobs(session: SparkSession, tag: str) -> None:
    """Let the jobs that this thread starts from now on carry a tag."""
    if over_connect(session):
        session.addTag(tag)
    else:
        session.sparkContext.addJobTag(tag)


def untag_jobs(session: SparkSession, tag: str) -> None:
    """Let the jobs that this thread starts from now on not carry it."""
    if over_connect(session):
        session.removeTag(tag)
    else:
        session.sparkContext.removeJobTag(tag)


def cancel_jobs(session: SparkSession, tag: str) -> None:
    """Cancel all jobs that carry a tag, of any thread."""
    if over_connect(session):
        session.interruptTag(tag)
    else:
        session.sparkContext.cancelJobsWithTag(tag)
