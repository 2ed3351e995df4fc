"""What :mod:`benchmarks.diagnosis` judges: a made fleet."""
