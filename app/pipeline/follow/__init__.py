"""A run that goes on. In: a source that was opened. Out: tables of the lake that are never more than two minutes behind it.

``recent`` the last hours of samples, in memory -> ``tail`` what is new at the source -> ``signals`` the hours that it touches ->
``verdicts`` the windows whose minutes changed -> ``follower`` one cycle of all that, and when samples go into the lake ->
``loop`` when cycles begin, what happens when a source is away, and how it ends. ``limits`` reads the admin API in the meantime.

No Spark: a cycle brings a minute of samples, and a Spark job takes longer to begin than that takes to judge.
"""
