"""The What-if page. In: an address with a subscription, a window and up to four runs. Out: curves, a table, a command.

``page`` has the frame and the callbacks. ``window`` is what a window has once: head and ``controls``. ``runs`` replays the runs of an
address; ``range_line``, ``curves``, ``table``, ``command`` and ``certainty`` show them, with names and units of ``run_text``.
``subscription_search`` is the search box, ``search`` a search in the background.
"""
