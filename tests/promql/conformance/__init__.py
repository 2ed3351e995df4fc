"""Our PromQL compared with a real Prometheus 3.5: upstream's corpus, the compliance list, random pairs and hostile texts.

``python -m tests.promql.conformance --help`` runs them. Checkouts of other projects are read where they lie; nothing of
them is kept here.
"""
