"""Judges from outside: copies of their tests, data and programs are fetched into a cache, never kept here.

``python -m tests.judges`` runs them; the figures are in ``docs/accuracy/outside.md``.
"""
