"""An hour as it is lived (``python -m benchmarks.soak``): ``__main__`` runs it, ``runs`` are the runs beside, ``accounts`` counts its samples, ``table`` says what came of it."""
