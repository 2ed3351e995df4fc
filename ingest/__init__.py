"""Sources and storage: Prometheus, Pulsar's admin API, recordings; the tables and the lake.

In: samples and policies as the outside world gives them. Out: tables of the lake, each
checked against its contract. This room imports no other room.
"""
