"""All studies, by the name that the command line takes."""

from tests.faults import clocks, commit_protocol, damage, pipeline, readers, sources, surroundings
from tests.faults.study import Study

STUDIES: dict[str, Study] = {
    "commits": commit_protocol.STUDY,
    "readers": readers.STUDY,
    "damage": damage.STUDY,
    "pipeline": pipeline.STUDY,
    "clocks": clocks.STUDY,
    "sources": sources.STUDY,
    "surroundings": surroundings.STUDY,
}
