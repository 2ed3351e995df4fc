"""Finds the packages. In: the folders of the rooms. Out: packages below ``throttlescope``, all of which are installed.

The root of the repository is the package ``throttlescope``; everything else about the project is in ``pyproject.toml``.
"""

from setuptools import find_packages, setup

ROOMS = ("ingest", "transforms", "models", "app")

setup(
    packages=[
        f"throttlescope.{package}"
        for room in ROOMS
        for package in (room, *(f"{room}.{inner}" for inner in find_packages(room)))
    ],
    package_dir={f"throttlescope.{room}": room for room in ROOMS},
)
