"""Where the samples of a run come from: a Prometheus, recordings, or the lake itself."""
