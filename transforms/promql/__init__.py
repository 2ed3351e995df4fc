"""PromQL: text (:mod:`parse`), tree (:mod:`ast`), plan (:mod:`lower`, :mod:`plan`), rules, operators.

In: a PromQL text and a sample source. Out: step matrices equal to what Prometheus 3.5 answers.
"""
