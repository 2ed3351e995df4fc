"""Extras: packages that only some installations have. In: an extra's name. Out: nothing, or an error that says how to install it."""

from __future__ import annotations

from importlib.util import find_spec

from throttlescope.ingest.core.errors import InputError


class MissingExtraError(InputError):
    """What was requested needs an extra that is not installed."""


def require_extra(extra: str, *modules: str, what: str) -> None:
    """Raise if modules of an extra cannot be imported.

    Parameters
    ----------
    extra : str
        A name of ``[project.optional-dependencies]``.
    modules : str
        Top-level modules that it brings.
    what : str
        What needs it, as the subject of a sentence.

    Raises
    ------
    MissingExtraError
        One of the modules is not installed.
    """
    if missing := [name for name in modules if find_spec(name) is None]:
        raise MissingExtraError(
            f"{what} needs packages that are not installed",
            got=f"no {', '.join(missing)}",
            fix=f"pip install 'throttlescope[{extra}]'",
        )
