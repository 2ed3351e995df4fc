"""Errors that a user meets: one line that says what, what was got, what was expected, and the fix.

In: the facts of a fault. Out: an exception whose text is the whole message and whose
``exit_code`` the command line returns.
"""

from __future__ import annotations

#: Characters of what was wrong, and of its fix.
_LONGEST = 4_000
EXIT_FAILED, EXIT_INPUT, EXIT_GATE, EXIT_UNREACHABLE = 1, 2, 3, 4


class ThrottlescopeError(Exception):
    """A fault that is explained to the user in one line.

    Parameters
    ----------
    what : str
        What was wrong, without a final full stop.
    got, expected, fix : str, optional
        What was found, what was expected, and the smallest fix.
    """

    exit_code = EXIT_FAILED
    #: Whether the same call may succeed when it is repeated.
    is_transient = False

    def __init__(
        self, what: str, *, got: object = None, expected: object = None, fix: str | None = None
    ) -> None:
        self.what, self.got, self.expected, self.fix = what, got, expected, fix
        # It may contain names that others chose: whatever they are, it stays one line of limited length.
        parts = [_one_line(what, _LONGEST)]
        if got is not None:
            parts.append(f"got {_one_line(got)}")
        if expected is not None:
            parts.append(f"expected {_one_line(expected)}")
        text = "; ".join(parts) + "."
        if fix:
            text += f" Fix: {_one_line(fix, _LONGEST)}"
        super().__init__(text)

    def _render_traceback_(self) -> list[str]:
        """What IPython shows in a notebook: the one line, without the frames that led here."""
        return [f"{type(self).__name__}: {self}"]

    def __reduce__(self):
        # Spark and process pools send errors as pickles; keyword arguments need the long way.
        return (_rebuild, (type(self), self.what, self.got, self.expected, self.fix))


class InputError(ThrottlescopeError):
    """Usage or input is wrong: a flag, a file, a configuration, a recording."""

    exit_code = EXIT_INPUT


class EmptyRangeError(InputError):
    """The source answered, and has nothing of the range: wrong input, or a time in which nothing was scraped."""


class ReadOnlyError(InputError):
    """A folder may not be written to: another try would not change that."""


class GateError(ThrottlescopeError):
    """A quality gate stopped the run before anything downstream was written."""

    exit_code = EXIT_GATE


class SourceError(ThrottlescopeError):
    """A source cannot be reached, refuses us, or sends what it should not."""

    exit_code = EXIT_UNREACHABLE


def _one_line(value: object, limit: int = 200) -> str:
    text = value if isinstance(value, str) else repr(value)
    text = " ".join(text.split())
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _rebuild(cls, what, got, expected, fix):
    return cls(what, got=got, expected=expected, fix=fix)
