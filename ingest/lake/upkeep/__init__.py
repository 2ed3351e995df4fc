"""Upkeep of a lake: what it holds, what changed, fewer and larger files, and what may go."""
