"""How the server watches itself. In: its requests, its log, its lake. Out: counts at ``/metrics``, and the truth at ``/-/ready``."""
