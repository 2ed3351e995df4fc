"""The incident bundle: one zip about one backlog, to be read at night or attached to a ticket, without this tool.

``selection`` chooses one partition, moment and range; ``load`` reads all of it from one snapshot of the lake; ``computed`` adds
forecasts, counterfactuals and recommendations within a time limit, involved clients, and the verdict recomputed with the rules of
this version. ``page`` puts the page together from blocks of ``summary``, ``timeline``, ``evidence``, ``involved`` and ``remedies``;
``markdown`` and ``html`` write the blocks, ``plots`` draws. ``files`` writes what programs read, ``bundle`` packs: the same lake
gives the same bytes.
"""
