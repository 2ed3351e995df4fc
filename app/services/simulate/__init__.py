"""Simulation of a scenario file. In: a file and changes. Out: a summary of every state, and rows.

``scenario`` checks the file and runs it, ``summary`` describes every state of the timeline, ``outcome`` is both for a command.
"""
