"""The lab: a real Pulsar broker, a real Prometheus, and scenarios that turn into recordings."""
