"""The rules over a fleet, on Spark. In: files of ``signals``. Out: files of ``verdicts``.

``hours`` shares the files out -> ``quiet`` screens each hour where it lies and writes what needs no thought -> ``thoughtful``
brings the minutes of the few subscriptions together that have windows left, a day back, and judges those windows.
"""
