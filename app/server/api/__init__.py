"""Prometheus' HTTP API over a lake. In: requests as Grafana and promtool send them. Out: Prometheus' JSON; nothing is written."""
