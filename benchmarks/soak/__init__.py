"""An hour as it is lived (``python -m benchmarks.soak``): ``__main__`` runs it, ``accounts`` counts its samples, ``runs`` are the runs beside."""
