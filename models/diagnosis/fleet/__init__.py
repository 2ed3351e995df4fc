"""The rules over a fleet, on Spark or in this process. In: files of ``signals``. Out: files of ``verdicts``.

``hours`` shares the files out -> ``quiet`` screens each hour where it lies and writes what needs no thought -> ``full_rules``
brings the minutes of the few subscriptions together that have windows left, a day back, and judges those windows.
"""
