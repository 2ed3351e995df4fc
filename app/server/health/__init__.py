"""Health of the server. In: its lake. Out: ``/-/healthy`` and ``/-/ready``."""
