"""``throttlescope whatif``. In: a lake, a subscription and a change. Out: tables or JSON on stdout, and a plot.

``ask`` reads the lake and has it replayed -> ``words`` say what that means -> ``render`` as text, ``document`` as JSON, or
``figure``, which ``app/simulation/plot`` writes.
"""
