"""The documentation as a site. In: the pages of the repository. Out: HTML with search, a version switch, and nothing from other hosts."""
