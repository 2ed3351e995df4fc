"""Pulsar's performance scenarios as a judge of the diagnosis. In: scenario files of a checkout. Out: a result for the page."""
