"""The slow twin of ``ingest/quality/scrapes.py``: one block at a time, one scrape of its target at a time."""

from __future__ import annotations

#: A block may lack so many scrapes and be told of none.
FEW = 3


def naive_beside_up(blocks: list[dict], ups: list[list[dict]]) -> list[dict]:
    """What is said of each block of one series beside the ``up`` of its target.

    Parameters
    ----------
    blocks : list of dict
        Rows of ``samples`` of the series, oldest first.
    ups : list of lists of dict
        Rows of ``samples`` of each ``up`` of the target: one for every server that scrapes it.
    """
    told = []
    samples_before: list[int] = []
    markers_before: list[int] = []
    for block in blocks:
        times, markers = block["timestamps_ms"], block["stale_ms"]
        said = {"unread_scrapes": 0, "without_up": 0, "went_away": 0}
        ended = bool(samples_before and markers_before) and max(markers_before) > max(samples_before)
        if not ups:
            said["without_up"] = 1
        elif not times or ended or any(marker < max(times) for marker in markers):
            said["went_away"] = 1
        else:
            said["unread_scrapes"] = _lacking(times, max(samples_before, default=None), ups)
        told.append(said)
        samples_before += times
        markers_before += markers
    return told


def _lacking(times: list[int], after_ms: int | None, ups: list[list[dict]]) -> int:
    scrapes_of_a_server = []
    for up in ups:
        scrapes = 0
        for block in up:
            for time_ms, value in zip(block["timestamps_ms"], block["values"], strict=True):
                there_before = time_ms >= min(times) if after_ms is None else time_ms > after_ms
                if value == 1 and there_before and time_ms <= max(times):
                    scrapes += 1
        scrapes_of_a_server.append(scrapes)
    # The server that scraped least: the series may be its.
    lacking = min(scrapes_of_a_server) - len(times)
    return lacking if lacking > FEW else 0
