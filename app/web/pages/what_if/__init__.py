"""The What-if lab. In: an address with a subscription, a window and up to four runs. Out: curves, a table, a command.

``page`` has the frame and the callbacks. ``place`` is what a window has once: head and ``controls``. ``view`` replays the runs of an
address; ``range_line``, ``table``, ``command`` and ``sure`` show them in ``words``. ``find`` is the search box, ``search`` a search in
the background.
"""
