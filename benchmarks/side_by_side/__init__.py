"""What :mod:`benchmarks.promql` is made of: the data, the two stores that hold it, our side in a process, the comparison."""
