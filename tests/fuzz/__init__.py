"""Fuzzing of every reader that sees outside bytes: ``python -m tests.fuzz``.

In: a target's name, a number of executions and a seed. Out: what became of each input, and every one that gave trouble.
"""
