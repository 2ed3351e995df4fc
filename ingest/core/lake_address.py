"""The address of a lake. In: what a person wrote. Out: a folder or ``s3://bucket/prefix``, checked and without secrets."""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import urlsplit

from throttlescope.ingest.core.errors import InputError

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")
_BUCKET = re.compile(r"[a-z0-9][a-z0-9._-]{1,61}[a-z0-9]")
_EXPECTED = "a folder, or s3://bucket/prefix"


class LakeAddress(str):
    """A lake's folder or URI, as text. A URI has no slash at its end."""

    __slots__ = ()

    @classmethod
    def of(cls, given: str | Path) -> LakeAddress:
        """Check an address.

        Raises
        ------
        InputError
            It is a URI of an unknown kind, names no bucket, or carries a user, a query or a fragment.
        """
        text = str(given)
        if "\0" in text:
            raise InputError(
                "The lake's address has a character that no path has", got=repr(text), expected=_EXPECTED
            )
        scheme = _SCHEME.match(text)
        if not scheme:
            # A URI that went through a path has lost a slash.
            if text.startswith("s3:/"):
                raise InputError("The lake's address has one slash", got=text, expected=_EXPECTED)
            return cls(text)
        if scheme[1].lower() != "s3":
            raise InputError(
                "A lake cannot live there", got=f"{scheme[1]}://", expected=_EXPECTED,
                fix="other stores are reached through their S3 interface: set AWS_ENDPOINT_URL",
            )  # fmt: skip
        try:
            parts = urlsplit(text)
        except ValueError:
            # Not printed: it may hold a password.
            raise InputError("The lake's address cannot be read", expected="s3://bucket/prefix") from None
        if "@" in parts.netloc:
            # Never printed: it would be in logs and manifests.
            raise InputError(
                "The lake's address carries a user", got="s3://…@…", expected="s3://bucket/prefix",
                fix="give AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment",
            )  # fmt: skip
        if parts.query or parts.fragment:
            raise InputError(
                "The lake's address has a query or a fragment", got=f"s3://{parts.netloc}{parts.path}…",
                expected="s3://bucket/prefix", fix="settings of the store go into the environment: AWS_ENDPOINT_URL, AWS_REGION",
            )  # fmt: skip
        if not _BUCKET.fullmatch(parts.netloc):
            raise InputError("The lake's address names no bucket", got=text, expected="s3://bucket/prefix")
        names = [name for name in parts.path.split("/") if name]
        if {".", ".."} & set(names):
            raise InputError(
                "The lake's address has dots for a name", got=text, expected="s3://bucket/prefix"
            )
        return cls("/".join([f"s3://{parts.netloc}", *names]))

    @property
    def is_remote(self) -> bool:
        """Whether it is a URI."""
        return self.startswith("s3://")

    def absolute(self) -> LakeAddress:
        """The same from every working folder."""
        return self if self.is_remote else LakeAddress(os.path.abspath(self))
