"""The file of people who may log in: one ``name:hash`` per line. In: a path. Out: names and hashes, checked.

Hashes are Werkzeug's scrypt with a salt each; passwords are never stored. The file is read
again when it changes, so that a removed person loses access at once.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from werkzeug.security import check_password_hash, generate_password_hash

from throttlescope.ingest.core.errors import InputError

_LONGEST_NAME, _SHORTEST_PASSWORD, _LONGEST_PASSWORD = 100, 8, 1000
_KINDS = ("scrypt:", "pbkdf2:")


class UsersFile:
    """People and the hashes of their passwords.

    Parameters
    ----------
    path : Path

    Raises
    ------
    InputError
        It cannot be read, other accounts may write it, or a line is not ``name:hash``.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._seen: tuple[int, int, int] | None = None
        self._hashes: dict[str, str] = {}
        # Rejecting an unknown name takes as long as rejecting a wrong password.
        self._no_user = generate_password_hash("no user has this password")
        self._read()

    def version(self) -> tuple[int, int, int]:
        """What changes when the file does."""
        try:
            found = os.stat(self.path)
        except OSError as error:
            raise _unreadable(self.path, error) from error
        return found.st_mtime_ns, found.st_size, found.st_ino

    def lets_in(self, name: str, password: str) -> bool:
        """Whether the file names this person with this password."""
        if self.version() != self._seen:
            self._read()
        right = check_password_hash(self._hashes.get(name, self._no_user), password[:_LONGEST_PASSWORD])
        return right and name in self._hashes

    def _read(self) -> None:
        version = self.version()
        self._hashes = read_users(self.path)
        self._seen = version


def read_users(path: Path) -> dict[str, str]:
    """Names and hashes of a file of users."""
    try:
        text = path.read_text(encoding="utf-8")
        mode = path.stat().st_mode
    except (OSError, UnicodeDecodeError) as error:
        raise _unreadable(path, error) from error
    if os.name == "posix" and mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise InputError(
            "Other accounts may write the file of users",
            got=f"{path} with mode {stat.S_IMODE(mode):o}",
            fix=f"chmod 600 {path}",
        )
    hashes: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        name, colon, kept = line.partition(":")
        if not colon or not name.strip() or not kept.startswith(_KINDS):
            # The line itself is not shown: it may contain a password.
            raise InputError(
                f"Line {number} of the file of users cannot be read",
                got=str(path),
                expected="name:hash",
                fix="write it with throttlescope users add",
            )
        if name in hashes:
            raise InputError(f"Line {number} of the file of users repeats a name", got=name)
        hashes[name] = kept
    if not hashes:
        raise InputError(
            "The file of users is empty", got=str(path), fix="throttlescope users add NAME --file FILE"
        )
    return hashes


def add_user(path: Path, name: str, password: str) -> bool:
    """Add a person, or change the password; True if the person is new."""
    if not name or ":" in name or name != name.strip() or len(name) > _LONGEST_NAME or not name.isprintable():
        raise InputError(
            "This name cannot be used to log in",
            got=name,
            expected=f"1 to {_LONGEST_NAME} characters without a colon and without spaces at its ends",
        )
    if not _SHORTEST_PASSWORD <= len(password) <= _LONGEST_PASSWORD:
        raise InputError(
            "The password cannot be used",
            got=f"{len(password)} characters",
            expected=f"{_SHORTEST_PASSWORD} to {_LONGEST_PASSWORD}",
        )
    hashes = read_users(path) if path.exists() and path.stat().st_size else {}
    is_new = name not in hashes
    _write(path, hashes | {name: generate_password_hash(password)})
    return is_new


def remove_user(path: Path, name: str) -> None:
    """Remove a person."""
    hashes = read_users(path)
    if name not in hashes:
        raise InputError("The file of users does not have this person", got=name)
    del hashes[name]
    _write(path, hashes)


def _write(path: Path, hashes: dict[str, str]) -> None:
    # Write a new file, then rename it: readers see the old file or the new one.
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with open(
            os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8"
        ) as file:
            file.writelines(f"{name}:{kept}\n" for name, kept in sorted(hashes.items()))
        os.replace(temporary, path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise InputError("The file of users cannot be written", got=f"{path}: {error.strerror}") from error


def _unreadable(path: Path, error: Exception) -> InputError:
    return InputError(
        "The file of users cannot be read",
        got=f"{path}: {getattr(error, 'strerror', None) or error}",
        fix="throttlescope users add NAME --file FILE",
    )
