"""The documentation. In: pages in Markdown. Out: the same; :mod:`docs.generate` writes those that are made from code. Not installed."""
