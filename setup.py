"""Finds the packages, and makes the source archive the same bytes each time. In: the folders of the rooms. Out: what setuptools needs to know.

The root of the repository is the package ``throttlescope``; everything else about the project is in ``pyproject.toml``.
"""

import gzip
import os
import tarfile
from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.sdist import sdist

ROOMS = ("ingest", "transforms", "models", "app")


class ReproducibleSdist(sdist):
    """With $SOURCE_DATE_EPOCH, an archive that depends on its files alone. setuptools does so for wheels, not for these."""

    def make_archive(self, base_name, format, root_dir=None, base_dir=None, owner=None, group=None):
        epoch_s = os.environ.get("SOURCE_DATE_EPOCH")
        if epoch_s is None or format != "gztar":
            return super().make_archive(base_name, format, root_dir, base_dir, owner, group)

        def plain(member):
            member.mtime, member.mode = (
                int(epoch_s),
                0o755 if member.isdir() or member.mode & 0o100 else 0o644,
            )
            member.uid = member.gid = 0
            member.uname = member.gname = ""
            return member

        folder = Path(root_dir or ".")
        name = f"{base_name}.tar.gz"
        with (
            open(name, "wb") as file,
            gzip.GzipFile("", "wb", fileobj=file, mtime=int(epoch_s)) as zipped,
            tarfile.open(fileobj=zipped, mode="w", format=tarfile.PAX_FORMAT) as archive,
        ):
            # Without the folders: theirs is the one order and time that is not of a file.
            for path in sorted(path for path in (folder / base_dir).rglob("*") if path.is_file()):
                archive.add(path, str(path.relative_to(folder)), filter=plain)
        return name


setup(
    packages=[
        f"throttlescope.{package}"
        for room in ROOMS
        for package in (room, *(f"{room}.{inner}" for inner in find_packages(room)))
    ],
    package_dir={f"throttlescope.{room}": room for room in ROOMS},
    cmdclass={"sdist": ReproducibleSdist},
)
