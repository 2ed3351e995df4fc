"""What tasks have to know of the object store. In: this process' environment and its Spark session. Out: tasks whose environment names the store as ours does.

They are sent with each Python task, as the tasks' code is: neither Spark's configuration, nor its pages, nor a command line holds them. A
Spark Connect server runs tasks with the environment that its own workers have.
"""

from __future__ import annotations

import os

from throttlescope.ingest.lake.object_store import TIMEOUT_VARIABLE

_NAMES = (
    "AWS_ENDPOINT_URL",
    "AWS_ENDPOINT_URL_S3",
    "AWS_REGION",
    "AWS_DEFAULT_REGION",
    "AWS_ALLOW_HTTP",
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    TIMEOUT_VARIABLE,
)


def share_with_tasks() -> None:
    """Let the tasks of this process' session reach the object store as this process does."""
    from pyspark import SparkContext

    context = SparkContext._active_spark_context
    if context is None:
        return
    for name in _NAMES:
        if name in os.environ:
            context.environment[name] = os.environ[name]
        else:
            context.environment.pop(name, None)
