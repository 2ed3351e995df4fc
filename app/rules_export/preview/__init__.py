"""Alerts on history. In: an alerting rule and a range. Out: how often it would have fired, and how many of these firings were real."""
