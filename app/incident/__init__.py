"""The incident bundle: one zip about one backlog, to be read at night or attached to a ticket, without this tool.

``choose`` says which partition, which moment and which range are meant; ``read`` fetches all of it from one snapshot of the
lake; ``working`` adds what is worked out (forecasts, counterfactuals and advice within a time, who is involved, the verdict
judged again). ``page`` tells it as blocks of plain words: ``first`` what matters at night, then ``timeline``, ``why``, ``who``
and ``remedies``. ``markdown`` and ``html`` write the same blocks, ``picture`` draws. ``files`` has what programs read, ``bundle``
packs: the same lake gives the same bytes.
"""
