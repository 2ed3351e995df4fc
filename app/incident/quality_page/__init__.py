"""Findings of the quality gates as one self-contained page: no server, no network, no script."""
