"""``/metrics``: what Prometheus scrapes from ``serve``. In: a lake. Out: limits and newest verdicts in Prometheus' text format.

A source (:mod:`limits`, :mod:`verdicts`) turns tables into families; :mod:`exposition` puts them together, and no source can
fail the others.
"""
