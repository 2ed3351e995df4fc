"""Why a subscription has a backlog. In: signals. Out: verdicts; pure functions only, but for :mod:`apply`.

``window`` a subscription's minutes -> ``symptoms`` what is measured in them -> ``causes`` which of them apply, by the ``truth_table`` of
limiters and queues -> ``verdict`` one cause with its ``evidence``, weighed by ``bearing``. ``apply`` runs it on Spark.
"""
