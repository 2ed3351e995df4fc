"""What-if: Pulsar's throttling engine, simulated. In, scenarios; out, tables of what the broker would do."""
