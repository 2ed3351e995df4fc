"""Which hours have to be computed again. In: what goes into an hour, and what it was computed from. Out: the hours that differ."""
