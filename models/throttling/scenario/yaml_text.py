"""YAML that people write. In: a text. Out: the values of its one document; a text that would grow or nest without end is refused.

PyYAML builds the value of an alias or a merge at every use: nine aliases of nine aliases, ten deep, never end.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
#: The most values that aliases of one file may expand to.
_MOST_ALIASED = 100_000
_DEEPEST = 50


def read_yaml(text: str) -> Any:
    """The values of a text.

    Raises
    ------
    yaml.YAMLError
        No YAML, nested too deeply, too many aliases.
    ValueError
        A date that is none, a number of thousands of digits.
    """
    _refuse_bombs(yaml.parse(text, Loader=_LOADER))
    return yaml.load(text, Loader=_LOADER)  # noqa: S506


def _refuse_bombs(events: Iterator[yaml.Event]) -> None:
    # Values in every anchored node, and in the nodes that are open.
    sizes: dict[str, int] = {}
    anchors: list[str | None] = []
    counts: list[int] = []
    aliased = 0
    for event in events:
        if isinstance(event, yaml.CollectionEndEvent):
            size, anchor = counts.pop(), anchors.pop()
        elif isinstance(event, yaml.CollectionStartEvent):
            counts.append(1)
            anchors.append(event.anchor)
            if len(counts) > _DEEPEST:
                raise yaml.YAMLError(f"nested deeper than {_DEEPEST} levels")
            continue
        elif isinstance(event, yaml.AliasEvent):
            size, anchor = sizes.get(event.anchor, 1), None
            aliased += size
            if aliased > _MOST_ALIASED:
                raise yaml.YAMLError("too many aliases")
        elif isinstance(event, yaml.ScalarEvent):
            size, anchor = 1, event.anchor
        else:
            continue
        if counts:
            counts[-1] += size
        if anchor:
            sizes[anchor] = size
