"""Rules for a live Prometheus. In: options of an operator. Out: recording and alerting rules, and inhibition for Alertmanager."""
