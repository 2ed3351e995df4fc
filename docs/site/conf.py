"""Sphinx's settings. In: a source folder made by :mod:`docs.site.pages`. Out: HTML that loads nothing from other hosts."""

from __future__ import annotations

import os
from importlib.metadata import version as installed_version

from docutils import nodes
from docutils.parsers.rst import Directive

from docs.site.diagrams import picture_of

project = author = "throttlescope"
version = release = os.environ.get("SITE_VERSION") or installed_version("throttlescope")
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
root_doc = "index"
exclude_patterns = ["files/**"]

# Headings have the anchors that they have in a repository; a link to one that is not there fails the build.
myst_heading_anchors = 6
myst_fence_as_directive = ["mermaid"]

napoleon_google_docstring = False
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_member_order = "bysource"

html_theme = "pydata_sphinx_theme"
html_title = "throttlescope"
html_show_sourcelink = html_copy_source = False
# Pages that are in no section have no section to navigate in.
html_sidebars = {page: [] for page in ("architecture", "contributing", "changelog")}
html_theme_options = {
    "navbar_end": ["version-switcher", "theme-switcher"],
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": [],
    "footer_end": [],
    "switcher": {"json_url": "../versions.json", "version_match": version},
    # It is written when the site is: after the build.
    "check_switcher": False,
    "show_version_warning_banner": True,
    "navigation_with_keys": False,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}


class Mermaid(Directive):
    """A diagram as the picture that was drawn of it: browsers would need a script of 3 MB to draw it again."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        picture = picture_of("\n".join(self.content) + "\n")
        if not picture.exists():
            return [
                self.state_machine.reporter.error(
                    f"No picture of this diagram: {picture.name}. Fix: python -m docs.site.diagrams",
                    line=self.lineno,
                )
            ]
        return [nodes.image(uri=f"/images/diagrams/{picture.name}", alt="Diagram")]


def setup(app) -> None:
    app.add_directive("mermaid", Mermaid)
