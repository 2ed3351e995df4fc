"""Regular expressions as Prometheus 3 matches them: RE2, anchored at both ends, the dot matches a newline too.

In: the text of a pattern. Out: a compiled pattern whose :meth:`Pattern.matches` tests a whole value, and :meth:`Pattern.matches_each` many of them.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence

import re2

from throttlescope.ingest.core.errors import InputError

_GROUP_NAME = re.compile(r"[A-Za-z0-9_]+")
# Go's regexp refuses \C (one byte), the C++ library accepts it: an even run of backslashes is no escape.
_SINGLE_BYTE = re.compile(r"(?<!\\)(?:\\\\)*\\C")


class Pattern:
    """A compiled pattern. Compare and ship the text, not this object."""

    def __init__(self, text: str) -> None:
        options = re2.Options()
        options.dot_nl = True
        options.log_errors = False
        self.text = text
        self._compiled = re2.compile(text, options)

    @property
    def groups(self) -> tuple[str, ...]:
        """Names of its groups."""
        return tuple(self._compiled.groupindex)

    def matches(self, value: str) -> bool:
        """Whether the whole of ``value`` matches."""
        return self.match_of(value) is not None

    def matches_each(self, values: Sequence[str]) -> list[bool]:
        """:meth:`matches` of each value. Arrow's RE2 takes a hundredth of the time of a call for each."""
        import pyarrow as pa
        import pyarrow.compute as pc

        try:
            found = pc.match_substring_regex(pa.array(values, pa.string()), rf"\A(?s:{self.text})\z")
        except pa.ArrowInvalid:
            # Such as an open \Q, which takes the closing bracket for text.
            return [self.matches(value) for value in values]
        return found.to_pylist()

    def match_of(self, value: str):
        """The match of the whole of ``value``, with its groups; None where it does not match."""
        return self._compiled.fullmatch(value)


@functools.lru_cache(maxsize=1024)
def compile_pattern(text: str) -> Pattern:
    """Compile ``text``, once per process.

    Raises
    ------
    InputError
        Not a regular expression of RE2.
    """
    if _SINGLE_BYTE.search(text):
        raise InputError(
            "A regular expression cannot be read", got=repr(text), expected="RE2 syntax without \\C"
        )
    try:
        pattern = Pattern(text)
    except re2.error as error:
        reason = error.args[0] if error.args else "unknown fault"
        reason = reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
        raise InputError(
            "A regular expression cannot be read",
            got=f"{text!r} ({reason})",
            expected="RE2 syntax (no look-around, no back-references)",
        ) from None
    # Go allows no other names of groups, the C++ library does.
    if not all(_GROUP_NAME.fullmatch(name) for name in pattern.groups):
        raise InputError(
            "A regular expression cannot be read",
            got=repr(text),
            expected="names of groups of the letters A to Z, digits and _",
        )
    return pattern
