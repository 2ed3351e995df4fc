"""Parts of the forecasts' back-test: ``recordings`` as traces, first ``losses``, tables of a ``page``."""
