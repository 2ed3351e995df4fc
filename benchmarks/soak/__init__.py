"""An hour of normal operation (``python -m benchmarks.soak``): ``__main__`` runs it, ``runs`` starts the runs, ``accounts`` counts its samples, ``table`` shows the results."""
