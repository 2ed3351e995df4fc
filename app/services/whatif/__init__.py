"""What-if replays. In: a lake, a subscription and a change. Out: an answer, or the smallest change that is enough.

``replay`` reads the lake and replays one change; ``search`` tries the values of a lever (``scales``), in a process of its own
(``background``); ``what_if`` is one replay with progress. ``app/presentation/whatif.py`` has the text.
"""
