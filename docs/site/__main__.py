"""``python -m docs.site`` builds the site of this version next to those that are there. In: the pages. Out: ``.site/VERSION/``, ``.site/versions.json``, ``.site/index.html``."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

from packaging.version import InvalidVersion, Version

from docs.site.pages import ROOT, write_pages

_REDIRECT = """\
<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>throttlescope</title>
<meta http-equiv="refresh" content="0; url={newest}/index.html"></head>
<body><a href="{newest}/index.html">Documentation of {newest}</a></body></html>
"""


def build(out: Path, name: str, *, root: str = "/") -> Path:
    """Build one version into ``out/NAME`` and list all versions that are in ``out``.

    Parameters
    ----------
    name : str
        The version, such as ``0.2.0`` or ``dev``.
    root : str
        Address under which ``out`` is served: the version switch leads there.

    Raises
    ------
    SystemExit
        Sphinx had a warning: a broken link, a page without a place in the navigation. The site stays as it was.
    """
    from sphinx.cmd.build import build_main

    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".building-", dir=out) as folder:
        source, doctrees, html = (Path(folder) / part for part in ("source", "doctrees", "html"))
        write_pages(source)
        os.environ["SITE_VERSION"] = name
        arguments = [
            "-q",
            "-W",
            "--keep-going",
            "-b",
            "html",
            "-c",
            str(Path(__file__).parent),
            "-d",
            str(doctrees),
        ]
        if build_main([*arguments, str(source), str(html)]):
            sys.exit("The site was not built: see the warnings above.")
        shutil.rmtree(out / name, ignore_errors=True)
        html.rename(out / name)
    names = sorted((path.parent.name for path in out.glob("*/objects.inv")), key=_order, reverse=True)
    listed = [
        {"name": one, "version": one, "url": f"{root.rstrip('/')}/{one}/", "preferred": one == names[0]}
        for one in names
    ]
    (out / "versions.json").write_text(json.dumps(listed, indent=1) + "\n")
    (out / "index.html").write_text(_REDIRECT.format(newest=names[0]))
    return out / name


def _order(name: str) -> tuple[bool, Version, str]:
    """Releases by their version; what is none, such as ``dev``, comes after all of them."""
    try:
        return (True, Version(name), name)
    except InvalidVersion:
        return (False, Version("0"), name)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m docs.site", description="Build the documentation site.")
    parser.add_argument(
        "--out", type=Path, default=ROOT / ".site", help="folder of all versions; default: .site"
    )
    parser.add_argument(
        "--name", default=version("throttlescope"), help="name of this version; default: that of the package"
    )
    parser.add_argument(
        "--root", default="/", metavar="URL", help="address under which the folder is served; default: /"
    )
    given = parser.parse_args()
    print(
        f"Built {build(given.out, given.name, root=given.root)}. To read it: python -m http.server --directory {given.out}"
    )


if __name__ == "__main__":
    main()
