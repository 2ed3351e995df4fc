"""Upkeep of a lake. In: a lake. Out: its content and changes, fewer and larger files, checks, repairs, and deletion of what is no longer needed."""
